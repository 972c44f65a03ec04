"""Sign-ins on their way: the ticket behind a connect button, and the state of one round trip.

Both are random texts of which only a hash is stored, together with who asked. Whoever else follows
the link signs in as somebody else and is refused (handlers/oauth.py).
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, cast

from agent.domain import Identity, Question
from agent.durable import keys
from agent.durable.records import (
    check_format,
    new_item,
    question_from_json,
    question_to_json,
    text_of,
    time_of,
)
from agent.errors import ConditionFailed, Misconfigured
from agent.jsontext import packed, unpacked
from agent.ports import Cipher, Clock, Exists, Ids, Item, Key, Table
from connectors.credentials import Issuer
from connectors.holdings import Grant

TICKET_LIFE: Final = 3_600.0
"""Seconds in which a connect button works."""
STATE_LIFE: Final = 600.0
"""Seconds from the platform's page to the way back."""

Kind = Literal["ticket", "state", "device"]


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose token it is, as the platform says. `tenants`: the workspace and what stands above."""

    user: str
    tenants: frozenset[str]
    app: str = ""

    def is_person(self, asker: Identity) -> bool:
        """Whether the holder is the person who asked; nothing less than all parts will do."""
        own_app = not self.app or self.app == asker.app
        return (
            bool(self.user) and self.user == asker.user and asker.tenant in self.tenants and own_app
        )


class Authority(Issuer, Protocol):
    """A platform's sign-in."""

    def page(self, state: str, challenge: str, redirect: str, scopes: frozenset[str]) -> str:
        """The address where the person agrees; `challenge` is PKCE's S256."""
        ...

    async def exchange(self, code: str, verifier: str, redirect: str) -> tuple[Grant, Holder]:
        """The tokens for a code, and whose they are.

        Raises:
            SignInNeeded: the code does not count any more.
            Misconfigured: our own id, secret or address is refused.
            Retryable: no answer, or a passing fault.
        """
        ...


@dataclass(frozen=True, slots=True)
class Device:
    """A device sign-in: where the person goes, and how often (s) to ask until when (epoch)."""

    url: str
    user_code: str
    secret: str = field(repr=False)
    interval: float
    ends: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """A device sign-in that was begun, with the scopes that were asked for."""

    secret: str = field(repr=False)
    url: str = field(repr=False)
    asked: frozenset[str]


class Devices(Protocol):
    """A sign-in that needs no way back to us: the person agrees anywhere, and we ask."""

    async def start_device(self, scopes: frozenset[str]) -> Device:
        """Begin one."""
        ...

    async def ask_device(self, secret: str) -> tuple[Grant, Holder] | None:
        """The tokens once the person has agreed; None as long as nothing was decided.

        Raises:
            SignInNeeded: the person declined, or the time is over.
        """
        ...


@dataclass(frozen=True, slots=True)
class SignIn:
    """A round trip: who asked where and about which turn, the scopes, PKCE's secret."""

    question: Question
    asked: frozenset[str]
    verifier: str = field(repr=False)

    @property
    def challenge(self) -> str:
        """What the platform gets of the secret (RFC 7636, S256)."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class SignIns:
    """The sign-ins that are under way."""

    table: Table
    cipher: Cipher
    clock: Clock
    ids: Ids

    async def ticket(self, question: Question, about: str) -> str:
        """A ticket for the asker; `about` is the turn that wanted the connection ("" for none)."""
        ticket = self._random()
        now = self.clock.now()
        item = self._item("ticket", ticket, question.asker, now + TICKET_LIFE)
        bare = Question(question.asker, question.chat, "", question.language, now, about=about)
        item["question"] = packed(question_to_json(bare))
        await self.table.put(item)
        return ticket

    async def of_ticket(self, ticket: str) -> Question | None:
        """Who asked for the ticket, and where; None when it is unknown or too old."""
        item = await self._live("ticket", ticket)
        return None if item is None else question_from_json(unpacked(item["question"]))

    async def begin(self, question: Question, asked: frozenset[str]) -> tuple[str, SignIn]:
        """A fresh state and what stands behind it."""
        state = self._random()
        sign_in = SignIn(question, asked, self._random())
        item = self._item("state", state, question.asker, self.clock.now() + STATE_LIFE)
        item["question"] = packed(question_to_json(question))
        item["asked"] = " ".join(sorted(asked))
        item["box"] = await self.cipher.seal(sign_in.verifier.encode(), _context(question.asker))
        await self.table.put(item)
        return state, sign_in

    async def finish(self, state: str) -> SignIn | None:
        """Take the state, once and for all; None when it is unknown, used or too old."""
        item = await self._live("state", state)
        if item is None:
            return None
        try:
            await self.table.delete_if(_key("state", state), (Exists(),))
        except ConditionFailed:
            return None
        question = question_from_json(unpacked(item["question"]))
        try:
            verifier = await self.cipher.open(cast(bytes, item["box"]), _context(question.asker))
        except Misconfigured:
            return None
        asked = frozenset(text_of(item, "asked").split())
        return SignIn(question, asked, verifier.decode())

    async def wait_for(self, owner: Identity, device: Device, asked: frozenset[str]) -> None:
        """Remember a device sign-in, in place of an earlier one of this person."""
        item = self._item("device", owner.principal, owner, device.ends)
        plain = packed([device.secret, device.url])
        item["box"] = await self.cipher.seal(plain.encode(), _context(owner))
        item["asked"] = " ".join(sorted(asked))
        await self.table.put(item)

    async def waiting(self, owner: Identity) -> Waiting | None:
        """The device sign-in of a person, if one waits."""
        item = await self._live("device", owner.principal)
        if item is None:
            return None
        plain = await self.cipher.open(cast(bytes, item["box"]), _context(owner))
        secret, url = cast("tuple[str, str]", unpacked(plain.decode()))
        return Waiting(secret, url, frozenset(text_of(item, "asked").split()))

    async def stop_waiting(self, owner: Identity) -> None:
        """Forget the device sign-in of a person."""
        await self.table.delete_if(_key("device", owner.principal))

    def _random(self) -> str:
        return self.ids.new() + self.ids.new()

    def _item(self, kind: Kind, secret: str, owner: Identity, ends: float) -> Item:
        now = self.clock.now()
        item = new_item(_key(kind, secret), "sign_in", owner.org, now, owner.principal)
        item["ends"], item["exp"] = ends, int(ends)
        return item

    async def _live(self, kind: Kind, secret: str) -> Item | None:
        item = await self.table.get(_key(kind, secret)) if secret else None
        if item is None or time_of(item, "ends") <= self.clock.now():
            return None
        return check_format(item, "sign_in")


def _key(kind: Kind, secret: str) -> Key:
    return keys.sign_in(keys.short(f"{kind} {secret}"))


def _context(owner: Identity) -> dict[str, str]:
    return {"principal": owner.principal, "purpose": "sign-in"}

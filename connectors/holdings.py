"""How a person's connection is stored: token, consent, and the workspace's list of holders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from agent.domain import Identity
from agent.durable import keys
from agent.durable.records import check_format, new_item, text_of, time_of
from agent.errors import ConditionFailed
from agent.jsontext import packed, unpacked
from agent.ports import Cipher, Compare, Delete, Item, Key, Put, Table, Write
from agent.values import value

PURPOSE = "search"
"""What the tokens of people are for; part of the key and of the encryption context."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a platform gave a person for us.

    `ends` and `refresh_ends` are seconds since the epoch, 0 for a token that does not end by
    itself; `refresh` is "" where tokens are not renewed.
    """

    access: str = field(repr=False)
    scopes: frozenset[str]
    ends: float = 0.0
    refresh: str = field(default="", repr=False)
    refresh_ends: float = 0.0

    def holds_at(self, moment: float) -> bool:
        """Whether the access token should hold at the moment."""
        return not self.ends or moment < self.ends

    def renewable_at(self, moment: float) -> bool:
        """Whether a refresh makes sense at the moment."""
        return bool(self.refresh) and (not self.refresh_ends or moment < self.refresh_ends)


@dataclass(frozen=True, slots=True)
class Held:
    """A stored grant. `version` is random and new with each write; `renew_at` a moment."""

    owner: Identity
    version: str
    grant: Grant
    renew_at: float = float("inf")


@value
class Consent:
    """What a person agreed to: scopes asked and granted, and when (seconds since the epoch)."""

    asked: frozenset[str]
    granted: frozenset[str]
    at: float


RenewAt = Callable[[str, Grant, float], float]


def key_of(owner: Identity) -> Key:
    """Where a person's token stands."""
    return keys.user_token(owner.principal, PURPOSE)


def context_of(owner: Identity) -> dict[str, str]:
    """What a token's box is bound to."""
    return {
        "org": owner.org,
        "platform": owner.platform,
        "app": owner.app,
        "tenant": owner.tenant,
        "user": owner.user,
        "purpose": PURPOSE,
    }


async def token_item(cipher: Cipher, held: Held, now: float, renew_at: RenewAt) -> Item:
    """The token as an item; it expires with its refresh token."""
    owner, grant = held.owner, held.grant
    item = new_item(key_of(owner), "user_token", owner.org, now, owner.principal)
    if last := grant.refresh_ends or (0.0 if grant.refresh else grant.ends):
        item["exp"] = int(last)
    plain = packed([grant.access, grant.refresh])
    item["box"] = await cipher.seal(plain.encode(), context_of(owner))
    item["ver"] = held.version
    item["ends"], item["refresh_ends"] = grant.ends, grant.refresh_ends
    item["scopes"] = " ".join(sorted(grant.scopes))
    if grant.ends:
        item["renew_at"] = renew_at(held.version, grant, now)
    return item


async def opened(cipher: Cipher, owner: Identity, item: Item) -> Held:
    """The token in an item.

    Raises:
        Misconfigured: it was sealed for somebody else, or with another key.
    """
    check_format(item, "user_token")
    plain = await cipher.open(cast(bytes, item["box"]), context_of(owner))
    access, refresh = cast("tuple[str, str]", unpacked(plain.decode()))
    grant = Grant(
        access, scopes_of(item), time_of(item, "ends"), refresh, time_of(item, "refresh_ends")
    )
    return Held(owner, text_of(item, "ver"), grant, time_of(item, "renew_at") or float("inf"))


def scopes_of(item: Item) -> frozenset[str]:
    """The granted scopes in a token's item."""
    return frozenset(text_of(item, "scopes").split())


def connection(
    token: Item, owner: Identity, grant: Grant, asked: frozenset[str], now: float
) -> tuple[Write, ...]:
    """The writes of a sign-in: the token, the consent, and who has a token in this workspace."""
    consent = new_item(_consent_key(owner), "consent", owner.org, now, owner.principal)
    consent["asked"], consent["granted"] = _words(asked), _words(grant.scopes)
    consent["at"] = now
    holder = new_item(_holder_key(owner), "token_holder", owner.org, now, owner.principal)
    holder["user"] = owner.user
    return Put(token), Put(consent), Put(holder)


async def consent(table: Table, owner: Identity) -> Consent | None:
    """What a person agreed to last; None after a sign-out or without any sign-in."""
    item = await table.get(_consent_key(owner))
    if item is None:
        return None
    check_format(item, "consent")
    asked, granted = (frozenset(text_of(item, name).split()) for name in ("asked", "granted"))
    return Consent(asked, granted, time_of(item, "at"))


async def drop(table: Table, held: Held) -> None:
    """Delete a token that the platform has ended, unless another one stands there by now.

    The consent stays: the person is told that the connection ended, not that there was none.
    """
    try:
        await table.delete_if(key_of(held.owner), (Compare("ver", "=", held.version),))
    except ConditionFailed:
        return


async def forget(table: Table, owner: Identity) -> None:
    """Delete everything about a person's connection."""
    await table.transact(
        (Delete(key_of(owner)), Delete(_consent_key(owner)), Delete(_holder_key(owner)))
    )


async def forget_workspace(table: Table, org: str, platform: str, app: str, tenant: str) -> int:
    """Delete the connections of all people of a workspace; how many there were."""
    gone = 0
    while True:
        page = await table.query(keys.workspace_holders(platform, app, tenant), keys.HOLDERS)
        for item in page.items:
            user = text_of(item, "user")
            owner = Identity(org, "feishu" if platform == "feishu" else "slack", app, tenant, user)
            await forget(table, owner)
            gone += 1
        if page.after is None:
            return gone


def _consent_key(owner: Identity) -> Key:
    return keys.consent(owner.principal, owner.platform)


def _holder_key(owner: Identity) -> Key:
    return keys.token_holder(owner.platform, owner.app, owner.tenant, owner.user)


def _words(scopes: frozenset[str]) -> str:
    return " ".join(sorted(scopes))

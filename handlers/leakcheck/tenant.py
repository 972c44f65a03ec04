"""An invented organisation: people, documents and messages that each carry a canary word."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from agent.domain import EVERYONE, ChatRef, Identity, Language, Platform, Question
from agent.values import value

ORG: Final = "leakcheck"
TENANTS: Final[Mapping[Platform, str]] = {"feishu": "tenant_leakcheck", "slack": "T0LEAKCHK1"}
APPS: Final[Mapping[Platform, str]] = {"feishu": "cli_leakcheck00001", "slack": "A0LEAKCHK1"}
GROUPS: Final = ("hr", "finance", "engineering", "sales", "legal", "leadership")
CANARY: Final = re.compile(r"cnry[a-z0-9]{10}")
STARTED: Final = 1_790_000_000.0
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"
_FILLING: Final = (
    *("leave", "travel", "budget", "robot", "policy", "contract", "launch", "invoice"),
    *("年假", "差旅", "报销", "合同", "预算", "上线", "考勤", "采购"),
)


@value
class Size:
    """How much is made up. `documents` counts those of the knowledge base."""

    users: int = 10
    documents: int = 200
    queries: int = 100


FULL: Final = Size(50, 2_000, 500)
"""The size of figure S2."""


@value
class Person:
    """Somebody who asks. `labels` is the truth about what they may read.

    `told` are the platform's own groups that the directory hears of, `token` is "" for somebody
    who has not connected their own sources.
    """

    identity: Identity
    labels: frozenset[str]
    told: frozenset[str] = frozenset()
    token: str = ""


@value
class Secret:
    """A thing with the labels of those who may read it.

    `canary` are words that nobody says who did not read it; `key` is what it is asked for by.
    """

    canary: str
    source: str
    text: str
    readers: frozenset[str]
    key: str = ""

    def is_for(self, person: Person) -> bool:
        """Whether the person may read it."""
        return bool(self.readers & person.labels)


@value
class Own(Secret):
    """A message or document of people's own sources, in a chat of theirs or by itself ("")."""

    chat: str = ""


@value
class Asked:
    """A question, and the canaries or sources that it has to find; a broad one none."""

    question: Question
    expected: frozenset[str]


@value
class Tenant:
    """All of it.

    `rooms` are the people of each group chat by principal, `sessions` the questions of each thread
    in order. `groups` is the table of plumbline.toml.
    """

    people: Mapping[str, Person]
    documents: tuple[Secret, ...]
    own: tuple[Own, ...]
    rooms: Mapping[str, tuple[str, ...]]
    sessions: tuple[tuple[Asked, ...], ...]
    groups: Mapping[str, tuple[str, ...]]

    @property
    def secrets(self) -> Mapping[str, Secret]:
        """Every secret by its canary."""
        return {s.canary: s for s in (*self.documents, *self.own)}


def generate(size: Size, seed: int) -> Tenant:
    """An organisation; the same seed makes the same one."""
    rng = random.Random(seed)  # noqa: S311  invented data, the same again by its seed
    people = {p.identity.principal: p for p in _people(rng, size.users)}
    rooms = _rooms(rng, people)
    documents = tuple(_document(rng, n, [*people.values()]) for n in range(size.documents))
    own = tuple(_own(rng, people, rooms))
    sessions = _Questions(rng, people, documents, own).sessions(rooms, size.queries)
    members = {g: tuple(_member(p) for p in people.values() if f"group:{g}" in p.labels)
               for g in GROUPS}  # fmt: skip
    return Tenant(people, documents, own, rooms, sessions, members)


def _member(person: Person) -> str:
    return f"{person.identity.platform}:{person.identity.user}"


def _people(rng: random.Random, count: int) -> Iterable[Person]:
    """People of both platforms in some groups each; every fifth one has connected nothing."""
    for n in range(count):
        platform: Platform = "slack" if n % 2 else "feishu"
        user = f"U0LEAK{n:04}" if platform == "slack" else f"ou_leak_{n:04}"
        name = f"Person {n}"
        identity = Identity(ORG, platform, APPS[platform], TENANTS[platform], user, name)
        groups = frozenset(g for g in GROUPS if rng.random() < 0.3)
        kind = "xoxp" if platform == "slack" else "u"
        yield Person(
            identity, identity.labels(groups), token="" if n % 5 == 4 else f"{kind}-{user}"
        )


def _rooms(rng: random.Random, people: Mapping[str, Person]) -> dict[str, tuple[str, ...]]:
    """Group chats of 2 to 5 people of one platform; the first of each platform is for all."""
    rooms: dict[str, tuple[str, ...]] = {}
    for platform in ("feishu", "slack"):
        there = [k for k, p in people.items() if p.identity.platform == platform]
        for n in range(max(len(there), 2)):
            some = rng.sample(there, min(len(there), rng.randint(2, 5)))
            chat = f"C0ROOM{n:04}" if platform == "slack" else f"oc_room_{n:04}"
            rooms[chat] = tuple(there if n == 0 else some)
    return rooms


def _marked(rng: random.Random) -> tuple[str, str, str]:
    """A canary, a key (a code, as people ask for) and a text that holds both."""
    canary = "cnry" + "".join(rng.choices(_LETTERS, k=10))
    key = f"item{rng.randrange(10**9):09}"
    words = [*rng.choices(_FILLING, k=12), canary, key]
    rng.shuffle(words)
    return canary, key, " ".join(words)


def _document(rng: random.Random, number: int, people: list[Person]) -> Secret:
    """A document for everyone, for some groups, for some people, or for groups and people."""
    kind = rng.random()
    readers = {f"group:{g}" for g in rng.sample(GROUPS, rng.randint(1, 3))}
    some = {f"person:{_member(p)}" for p in rng.sample(people, min(2, len(people)))}
    if kind < 0.2:
        readers = {EVERYONE}
    elif kind < 0.4:
        readers = some
    elif kind < 0.5:
        readers |= some
    canary, key, text = _marked(rng)
    return Secret(canary, f"kb-doc{number:04}", text, frozenset(readers), key)


def _own(
    rng: random.Random, people: Mapping[str, Person], rooms: Mapping[str, tuple[str, ...]]
) -> Iterable[Own]:
    """What people have for themselves, and what was said in each group chat."""
    for person in people.values():
        for n in range(3):
            canary, key, text = _marked(rng)
            alone = frozenset((f"person:{_member(person)}",))
            yield Own(canary, f"own-{person.identity.user}-{n}", text, alone, key)
    for chat, members in rooms.items():
        canary, key, text = _marked(rng)
        readers = frozenset(f"person:{_member(people[k])}" for k in members)
        yield Own(canary, f"said-{chat}", text, readers, key, chat)


class _Questions:
    """Questions in direct chats and group threads, for readable and for hidden things alike."""

    def __init__(
        self,
        rng: random.Random,
        people: Mapping[str, Person],
        documents: tuple[Secret, ...],
        own: tuple[Own, ...],
    ) -> None:
        self._rng, self._people = rng, people
        self._documents, self._own = documents, own
        self._count = 0

    def sessions(
        self, rooms: Mapping[str, tuple[str, ...]], most: int
    ) -> tuple[tuple[Asked, ...], ...]:
        direct: dict[str, list[Asked]] = {}
        threads: list[tuple[Asked, ...]] = []
        while self._count < most:
            if self._rng.random() < 0.4:
                key = self._rng.choice([*self._people])
                chat = ChatRef(f"direct-{self._people[key].identity.user}", "direct", "")
                direct.setdefault(key, []).append(self._asked(key, chat))
                continue
            room = self._rng.choice([*rooms])
            root = f"root-{self._count}"
            some = self._rng.sample(rooms[room], min(len(rooms[room]), self._rng.randint(2, 5)))
            threads.append(
                tuple(
                    self._asked(key, ChatRef(room, "group", "", thread=root))
                    for key in some[: most - self._count]
                )
            )
        return (*map(tuple, direct.values()), *threads)

    def _asked(self, key: str, chat: ChatRef) -> Asked:
        person = self._people[key]
        self._count += 1
        stock = self._documents if self._rng.random() < 0.7 else self._own
        wanted = self._rng.choice(stock)
        if self._rng.random() < 0.5:
            mine = [s for s in stock if s.is_for(person)]
            wanted = self._rng.choice(mine) if mine else wanted
        broad = self._rng.random() < 0.4
        some = self._rng.choices(_FILLING, k=self._rng.randint(1, 4)) if broad else ()
        words = " ".join([*some, wanted.key])
        at = STARTED + self._count
        language: Language = "zh" if self._count % 2 else "en"
        placed = replace(chat, message=f"m{self._count}")
        question = Question(person.identity, placed, words, language, at)
        if broad:  # it finds the best of very many
            return Asked(question, frozenset())
        own = self._own if person.token else ()
        found = (s for s in (*self._documents, *own) if wanted.key in s.text and s.is_for(person))
        return Asked(question, frozenset(s.canary for s in found))

"""Rooms and a directory that say what a test put into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.domain import ChatRef, Identity
from agent.errors import PlumblineError


@dataclass(slots=True)
class FixedRooms:
    """The same people in every chat; `asked` are the questions it was asked, in order."""

    people: tuple[Identity, ...] | None = None
    outside: bool = False
    fault: PlumblineError | None = None
    asked: list[str] = field(default_factory=list[str])

    async def members(self, chat: ChatRef, asker: Identity) -> tuple[Identity, ...] | None:
        self.asked.append("members")
        if self.fault is not None:
            raise self.fault
        return self.people

    async def outsiders(self, chat: ChatRef, asker: Identity) -> bool:
        self.asked.append("outsiders")
        if self.fault is not None:
            raise self.fault
        return self.outside


@dataclass(slots=True)
class FixedDirectory:
    """Groups by user id; `asked` are the users it was asked about, in order."""

    groups: Mapping[str, set[str]] = field(default_factory=dict[str, set[str]])
    asked: list[str] = field(default_factory=list[str])

    async def labels(self, person: Identity) -> frozenset[str]:
        self.asked.append(person.user)
        return person.labels(frozenset(self.groups.get(person.user, ())))

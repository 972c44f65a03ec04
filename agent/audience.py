"""Who may read what: labels that only narrow, and whether a chat stays within them.

A label is a set of reader labels; it covers whoever carries one of them. What a model step writes
may be read by those who may read all that its request holds (ADR 0019).
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.domain import EVERYONE, Question
from agent.ports import Directory, Rooms

ORGANISATION = frozenset((EVERYONE,))
"""The label of what everybody in the organisation may read; none is wider."""


def narrowed(label: frozenset[str], evidence: Iterable[frozenset[str]]) -> frozenset[str]:
    """The label of what rests on further evidence, given the readers of each piece.

    Evidence for everyone narrows nothing. An empty label means that no single reader label covers
    all pieces; only the asker is known to.
    """
    for readers in evidence:
        if EVERYONE not in readers:
            label = readers if EVERYONE in label else label & readers
    return label


def covers(label: frozenset[str], room: str, members: Iterable[frozenset[str]] | None) -> bool:
    """Whether all who read in a room may read what carries the label.

    Args:
        label: The label of the words.
        room: The room's own reader label.
        members: The labels that each member carries; None or nobody when they are not known.
    """
    if room in label:
        return True
    known = tuple(members or ())
    return bool(known) and all(label & carried for carried in known)


class Audience:
    """Those who read along in the chat of a question.

    A direct chat is the asker's own. Where guests or people of another company read along, nothing
    is posted at all. What is for the whole organisation may be read in each of its other chats, so
    members are asked for only when the label is narrower.
    """

    __slots__ = ("_directory", "_question", "_rooms", "room")

    def __init__(self, rooms: Rooms, directory: Directory, question: Question) -> None:
        self._rooms = rooms
        self._directory = directory
        self._question = question
        self.room = f"chat:{question.asker.platform}:{question.chat.chat}"

    async def may_read(self, label: frozenset[str]) -> bool:
        """Whether everybody in the chat may read what carries the label."""
        chat, asker = self._question.chat, self._question.asker
        if chat.kind == "direct":
            return True
        if await self.has_outsiders():
            return False
        if EVERYONE in label or self.room in label:
            return True
        carried: list[frozenset[str]] = []
        for person in await self._rooms.members(chat, asker) or ():
            own = person.labels() if person.external else await self._directory.labels(person)
            if not own & label:
                return False
            carried.append(own)
        return covers(label, self.room, carried)

    async def has_outsiders(self) -> bool:
        """Whether guests or people of another company read along, as far as is known."""
        if self._question.platform_hints.get("outsiders"):
            return True
        return await self._rooms.outsiders(self._question.chat, self._question.asker)

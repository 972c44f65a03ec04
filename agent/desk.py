"""What a turn and the acts around it work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from agent.domain import EVERYONE, Answer, ChatRef, Identity, Language, Question
from agent.durable.preferences import Preferences
from agent.durable.records import TurnRecord
from agent.loop import Limits
from agent.ports import Chat, Cipher, Clock, Control, Directory, Model, Queue, Rooms, Table, Tool
from agent.values import value


async def _no_documents() -> int:
    """The size of a knowledge base that is not there."""
    return 0


async def _opens(name: str) -> bool:
    """A model without further conditions."""
    del name
    return True


@value
class Welcome:
    """What an operator says to a new person in one language: sources, retention, questions."""

    reads: str
    kept: str
    examples: tuple[str, ...]


@value
class House:
    """What the operator offers and decided for everybody.

    `models` are the names that a person may choose from, the first is the default; `opens` says
    whether one can be used now. `admin` marks an asker who may pause the bot. `kinds` are the
    kinds of sources that can be switched off. `documents` counts the ones that the asker may read.
    `escalation` says to which chat a question goes that is passed on to colleagues; `welcome` are
    texts in place of our own, by language and name. `own` are the asker's own sources, into which
    the edge alone looks (connectors/tools.py).
    """

    models: tuple[str, ...] = ()
    opens: Callable[[str], Awaitable[bool]] = _opens
    version: str = ""
    admin: bool = False
    kinds: tuple[str, ...] = ("kb",)
    documents: Callable[[], Awaitable[int]] = _no_documents
    escalation: Callable[[Sequence[str]], Awaitable[str]] | None = None
    welcome: Mapping[Language, Welcome] = field(default_factory=dict[Language, Welcome])
    own: object = None


@value
class Reply:
    """What a command tells the person; `clear` says that the thread is to be forgotten."""

    text: str
    clear: bool = False


class Manners(Protocol):
    """What the bot does beside answering; the edge brings it along (handlers/surface/)."""

    def question(self, question: Question) -> Question:
        """The question inside a command that asks one; any other as it is."""
        ...

    async def obey(self, desk: Desk, record: TurnRecord) -> Reply | None:
        """Do what a message commands; None when it is no command."""
        ...

    def buttons(
        self, turn: str, language: Language, answer: Answer, *, private: bool = False
    ) -> tuple[Control, ...]:
        """The buttons under a finished answer; a private one stands before the asker alone."""
        ...

    def unsearched(self, desk: Desk, question: Question, *, refused: bool) -> str:
        """What an answer (or a refusal) says of sources that stayed shut; "" for none."""
        ...


class Plain:
    """A bot that only answers."""

    def question(self, question: Question) -> Question:
        """The question as it is."""
        return question

    async def obey(self, desk: Desk, record: TurnRecord) -> Reply | None:
        """There are no commands."""
        del desk, record

    def buttons(
        self, turn: str, language: Language, answer: Answer, *, private: bool = False
    ) -> tuple[Control, ...]:
        """There are no buttons."""
        del turn, language, answer, private
        return ()

    def unsearched(self, desk: Desk, question: Question, *, refused: bool) -> str:
        """Nothing is ever shut."""
        del desk, question, refused
        return ""


class OwnLabels:
    """A directory without groups."""

    async def labels(self, person: Identity) -> frozenset[str]:
        """The person's own, and everyone unless they are external."""
        return person.labels()


class UnknownRooms:
    """Chats of which nothing is known but what their events said."""

    async def members(self, chat: ChatRef, asker: Identity) -> tuple[Identity, ...] | None:
        """Not known."""
        del chat, asker

    async def outsiders(self, chat: ChatRef, asker: Identity) -> bool:
        """Nobody said so."""
        del chat, asker
        return False


@value
class Desk:
    """What a turn works with. The asker is already bound into the tools.

    `labels` are the reader labels of the asker, `preferences` what this person chose. `queue` is
    where further turns are rung for. `directory` and `rooms` say who may read what is posted.
    """

    table: Table
    cipher: Cipher
    clock: Clock
    chat: Chat
    model: Model
    tools: Sequence[Tool]
    policy: str
    time_zone: str
    limits: Limits = field(default_factory=Limits)
    labels: frozenset[str] = frozenset((EVERYONE,))
    preferences: Preferences = Preferences()
    house: House = House()
    manners: Manners = field(default_factory=Plain)
    queue: Queue | None = None
    directory: Directory = field(default_factory=OwnLabels)
    rooms: Rooms = field(default_factory=UnknownRooms)

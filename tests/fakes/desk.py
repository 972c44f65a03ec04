"""A workplace in memory: chat, table and clock in plain sight, a model that plays a part."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.desk import Desk, OwnLabels, UnknownRooms
from agent.domain import ChatRef, Identity, Platform, Question
from agent.durable import inbox
from agent.durable.keeper import LeaseKeeper
from agent.durable.records import TurnRecord, Versions
from agent.errors import PlumblineError
from agent.loop import Limits
from agent.ports import Chat, Control, Directory, Frame, Model, Rooms, Sign, Tool, Write
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.memory import MemoryQueue
from agent.stores.memory_table import MemoryTable
from handlers.settings import Settings
from handlers.surface.manners import ChatManners
from handlers.wiring import Workplace
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.loop import Library
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.turns import question

Hook = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class PlainChat:
    """A chat that keeps what it was told. `faults` are raised by `finish`, one each time.

    `alone` are the frames that only the asker saw, the last one done.
    """

    seen: list[str] = field(default_factory=list[str])
    begun: list[str] = field(default_factory=list[str])
    shown: list[Frame] = field(default_factory=list[Frame])
    done: list[Frame] = field(default_factory=list[Frame])
    said: list[str] = field(default_factory=list[str])
    faults: list[Exception] = field(default_factory=list[Exception])
    alone: list[Frame] = field(default_factory=list[Frame])
    whispered: list[tuple[str, tuple[Control, ...]]] = field(default_factory=list[Any])
    deaf: PlumblineError | None = None

    async def react(self, chat: ChatRef, sign: Sign) -> None:
        if self.deaf:
            raise self.deaf
        self.seen.append(f"{sign} {chat.message}")

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> PlainMessage:
        self.begun.append(turn)
        return PlainMessage(self)

    def begin_privately(
        self, chat: ChatRef, asker: Identity, turn: str, about: str
    ) -> PrivateMessage:
        return PrivateMessage(self)

    async def say(self, chat: ChatRef, text: str, key: str) -> None:
        self.said.append(text)

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None:
        self.said.append(text)
        self.whispered.append((text, tuple(controls)))

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        self.said.append(text)
        return f"announced {chat}"


@dataclass(slots=True)
class PlainMessage:
    """One message of a PlainChat."""

    chat: PlainChat
    pace: float = 1.0
    handle: str = "h1"

    async def show(self, frame: Frame) -> None:
        self.chat.shown.append(frame)

    async def finish(self, frame: Frame) -> None:
        if self.chat.faults:
            raise self.chat.faults.pop(0)
        self.chat.done.append(frame)


@dataclass(slots=True)
class PrivateMessage:
    """What a PlainChat shows to the asker alone."""

    chat: PlainChat
    pace: float = 1.0
    handle: str = "p1"

    async def show(self, frame: Frame) -> None:
        self.chat.alone.append(frame)

    async def finish(self, frame: Frame) -> None:
        if self.chat.faults:
            raise self.chat.faults.pop(0)
        self.chat.alone.append(frame)


class HookedTable(MemoryTable):
    """A table that calls `after` once, when the next transaction is through."""

    def __init__(self) -> None:
        super().__init__()
        self.after: Hook | None = None

    async def transact(self, writes: Sequence[Write]) -> None:
        await super().transact(writes)
        hook, self.after = self.after, None
        if hook is not None:
            await hook()


class PlainPlace(Workplace):
    """A workplace whose desks are made of fakes; `fault` is raised in place of a desk."""

    def __init__(self, folder: Path, model: Model | None = None, *, auto: bool = True) -> None:
        super().__init__(Settings(home=str(folder), org="hengxing"))
        self.hooked = HookedTable()
        self.hands = FakeClock(auto=auto)
        self.talk = PlainChat()
        self.library = Library()
        self.model: Model = model or ScriptedModel(lambda _: "Words.")
        self.fault: Exception | None = None
        self.limits = Limits()
        self.directory: Directory = OwnLabels()
        self.known_rooms: Rooms = UnknownRooms()
        self.table = self.hooked
        self.clock = self.hands
        self.ids = CountingIds()
        self.keeper = LeaseKeeper(self.table, self.clock, self.ids)
        self.queue = MemoryQueue(self.clock, self.ids)
        self.cipher = LocalKeyCipher(folder / "key")

    def chat(self, platform: Platform) -> Chat:
        return self.talk

    def tools(self) -> tuple[Tool, ...]:
        return (self.library.tool(),)

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        if self.fault is not None:
            raise self.fault
        desk = Desk(
            self.table,
            self.cipher,
            self.clock,
            self.talk,
            self.model,
            self.tools(),
            "policy",
            "Asia/Shanghai",
            self.limits,
            manners=ChatManners(),
            directory=self.directory,
            rooms=self.known_rooms,
        )
        return desk, Versions(prompt="p1")

    async def accept(self, asked: Question) -> inbox.Accepted:
        """Take a question in."""
        return await inbox.accept(self.table, self.clock, asked, f"ev_{asked.chat.message}")

    async def begun(self, asked: Question | None = None) -> TurnRecord:
        """A question, taken in and begun under fence 1."""
        accepted = await self.accept(asked or question())
        record = await inbox.oldest_pending(self.table, accepted.session)
        assert record is not None
        return await inbox.start(self.table, self.clock, record, 1)


def asked(text: str, n: int = 1, **more: object) -> Question:
    """Question number n of Alice's direct chat, in English."""
    made = question(f"om_{n}", 1_764_547_200.0 + n, text)
    return replace(made, language="en", **more)  # pyright: ignore[reportArgumentType]  test shorthand

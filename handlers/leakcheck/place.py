"""The real worker's workplace with a model that repeats what it sees and a chat that is watched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent.dialogue import (
    Capability,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolReply,
    ToolSpec,
)
from agent.domain import ChatRef, Identity, Json, Platform, Question
from agent.markers import cited
from agent.ports import AnswerMessage, Chat, Control, Frame, Rooms, Sign, Tool
from connectors.rooms import PlatformRooms
from handlers.leakcheck.platforms import NoAuthority, OwnConnector, ToldPeople, World, roster_of
from handlers.leakcheck.tenant import Tenant
from handlers.leakcheck.witness import Witness
from handlers.settings import Settings
from handlers.wiring import TurnKit, Workplace

if TYPE_CHECKING:
    from agent.desk import Desk
    from agent.durable.records import TurnRecord, Versions
    from agent.ports import Gatherer
    from connectors.directory import People
    from connectors.signin import Authority
    from connectors.tools import Connector

Retool = Callable[[Identity, Sequence[Tool]], Sequence[Tool]]
"""What becomes of an asker's tools: for tests that plant a fault."""

_PIECE = 400


@dataclass(frozen=True, slots=True)
class EchoModel:
    """Searches with every tool there is, then says again all that it was shown, each line once."""

    witness: Witness
    asker: Identity
    turn: str = ""

    def capability(self) -> Capability:
        """A model with a large window."""
        return Capability("echo")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The reply; the prompt is noted first."""
        prompt = _words(request)
        found = self.witness.saw("prompt", prompt, (self.asker.principal,))
        heard = self.witness.shown.setdefault(self.turn, set())
        if not isinstance(request.messages[-1].blocks[0], ToolReply):
            calls = _calls(request.tools, request.messages[-1].text.rsplit("\n\n", 1)[-1])
            yield ModelReply(Message("assistant", calls), "tools", model="echo")
            return
        heard |= {secret.canary for secret in found} | {*_sources(prompt)}
        lines = dict.fromkeys(line for line in prompt.splitlines() if line.strip())
        sources = dict.fromkeys(_sources(prompt))
        answer = "\n".join([*lines, *(f"[src:{source}]" for source in sources)])
        for start in range(0, len(answer), _PIECE):
            yield TextDelta(answer[start : start + _PIECE])
        yield ModelReply(Message("assistant", (Text(answer),)), "end", model="echo")


def _words(request: ModelRequest) -> str:
    blocks = (b for m in request.messages for b in m.blocks)
    return "\n".join(b.text for b in blocks if isinstance(b, Text | ToolReply))


def _sources(prompt: str) -> Sequence[str]:
    return [part.partition('"')[0] for part in prompt.split('<passage src="')[1:]]


def _calls(tools: Sequence[ToolSpec], query: str) -> tuple[ToolCall, ...]:
    """One call of every tool that searches."""
    made: list[ToolCall] = []
    for n, spec in enumerate(tools):
        fields = spec.schema.get("properties")
        if "search" not in spec.name or not isinstance(fields, dict):
            continue
        asked: dict[str, Json] = {"queries": [query]} if "queries" in fields else {"query": query}
        made.append(ToolCall(f"c{n}", spec.name, asked))
    return tuple(made)


@dataclass(frozen=True, slots=True)
class WatchedChat:
    """A chat whose every frame is shown to the witness with those who read it."""

    witness: Witness
    tenant: Tenant

    async def react(self, chat: ChatRef, sign: Sign) -> None:
        """A sign has no words."""
        del chat, sign

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> AnswerMessage:
        """A message in the chat."""
        del turn, handle, attempt
        return _Watched(self.witness, "frame", readers_of(self.tenant, chat, asker))

    def begin_privately(
        self, chat: ChatRef, asker: Identity, turn: str, about: str
    ) -> AnswerMessage:
        """A message to the asker alone."""
        del chat, turn
        self.witness.saw("private frame", about, (asker.principal,))
        return _Watched(self.witness, "private frame", (asker.principal,))

    async def say(self, chat: ChatRef, text: str, key: str) -> None:
        """A notice in the chat; whoever is in it reads it."""
        del key
        self.witness.saw("notice", text, self.tenant.rooms.get(chat.chat, ()))

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None:
        """A word to the asker alone."""
        del chat, key
        self.witness.saw("whisper", f"{text} {_labels(controls)}", (asker.principal,))

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        """A post at a chat's top level."""
        del key, person
        self.witness.saw("announcement", text, self.tenant.rooms.get(chat, ()))
        return "announced"


@dataclass(slots=True)
class _Watched:
    """One message; what is cited is part of it as the platforms show it."""

    witness: Witness
    where: str
    readers: Sequence[str]
    pace: float = 0.01
    handle: str = "watched"

    async def show(self, frame: Frame) -> None:
        """A frame on the way."""
        known = frame.sources or {}
        text, order = cited(frame.text, known)
        sources = [f"{known[s].title} {known[s].url}" for s in order]
        parts = (text, frame.progress, frame.notice, *sources, _labels(frame.controls))
        self.witness.saw(self.where, "\n".join(parts), self.readers)

    async def finish(self, frame: Frame) -> None:
        """The last frame."""
        await self.show(frame)


def _labels(controls: Sequence[Control]) -> str:
    return " ".join(c.label for c in controls)


def readers_of(tenant: Tenant, chat: ChatRef, asker: Identity) -> tuple[str, ...]:
    """Who reads a chat: the people in a group, the asker in a direct chat."""
    return tenant.rooms[chat.chat] if chat.kind == "group" else (asker.principal,)


class CheckedPlace(Workplace):
    """The workplace of the real worker under settings of its own, on an invented platform."""

    def __init__(
        self, settings: Settings, kit: TurnKit, tenant: Tenant, witness: Witness, retool: Retool
    ) -> None:
        super().__init__(settings)
        self._checked, self._tenant, self._witness = kit, tenant, witness
        self._world = World(tenant)
        self._retool = retool

    def chat(self, platform: Platform) -> Chat:
        """The watched chat."""
        del platform
        return WatchedChat(self._witness, self._tenant)

    def gatherer(self, platform: Platform) -> Gatherer:
        """Questions have nothing to be fetched."""
        del platform
        return _AsItIs()

    def people(self, platform: Platform, wanted: frozenset[str]) -> People:
        """The platform's directory."""
        del platform, wanted
        return ToldPeople(self._tenant.people)

    def rooms(self, platform: Platform) -> Rooms:
        """Who is in the chats, kept as for any platform."""
        del platform
        return PlatformRooms(self.table, self.clock, roster_of(self._tenant))

    def authority(self, platform: Platform) -> Authority:
        """Nobody signs in during the check."""
        del platform
        return NoAuthority()

    def connector(self, platform: Platform) -> Connector:
        """The product's connectors to people's own sources."""
        return OwnConnector(platform, self._world, self.clock)

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        """A turn's desk as every turn has it, with the echoing model."""
        desk, versions = await self._checked.desk(self, record.question)
        asker = record.question.asker
        tools = tuple(self._retool(asker, desk.tools))
        return replace(
            desk, model=EchoModel(self._witness, asker, record.turn), tools=tools
        ), versions


class _AsItIs:
    """Reads nothing more."""

    async def gather(self, question: Question, *, again: bool) -> Question | None:
        """The question as it came."""
        del again
        return question


def as_they_are(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
    """The tools as every asker has them."""
    del asker
    return tools

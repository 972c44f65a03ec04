"""Plumbline's own turn in the contract of the harness bench (`build(scenario)`).

Everything that a turn has is on (FEATURES): the product's own worker, turn and loop run on the
adapters in memory; only the model is scripted and the chat message goes nowhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, cast

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
)
from agent.domain import ChatRef, Identity, Language, Passage, Question
from agent.durable import inbox
from agent.durable.keeper import LeaseKeeper
from agent.durable.records import TurnRecord, Versions
from agent.loop import Limits
from agent.ports import Control, Frame, Sign, ToolResult
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.memory_table import MemoryTable
from agent.stores.system_clock import RandomIds, SystemClock
from agent.tool import FunctionTool, tool
from agent.turn import Desk
from handlers.loop import prepare
from handlers.wiring import Workplace
from handlers.worker import drain

IMPORT = "from handlers.worker import drain; from agent.turn import run_turn; import agent.tool"
DISTS: list[str] = []
SHARED_AGENT = False
"""As in the product, tools are bound anew for each turn."""
FEATURES = (
    "identity, inbox with de-duplication, lock with renewal, journal, parallel toolbox with "
    "time-outs, argument checks and loop guard, source collector with checked citations, paced "
    "stream with life signs, outbox, sealed answer, snapshot"
)
STEPS = 64
"""Scenario B has more steps than the product's own limit."""

Plan = Callable[[int], tuple[Sequence[tuple[str, str, dict[str, str]]], str | None]]
"""Replies so far to the next calls (id, tool, arguments), or none and the final words."""
Function = Callable[[str], Awaitable[str]]


def build(scenario: str) -> Callable[[], Awaitable[str]]:
    """One turn of the scenario, from the accepted question to the saved answer."""
    shared = import_module("scenarios")  # stands in the folder of the shared harness
    prepare(asyncio.get_running_loop())  # as handlers/loop.py does for the product's own loop
    model = Scripted(partial(shared.plan, scenario))
    once = turns(model, shared.TOOLS[scenario], shared.SYSTEM, shared.PROMPT)

    async def run() -> str:
        text = await once()
        if model.failed:
            raise RuntimeError(f"{model.failed} tool calls failed")
        return text

    return run


def turns(
    model: Scripted,
    functions: Sequence[Function],
    system: str,
    prompt: str,
    *,
    timeout: float = 5.0,
) -> Callable[[], Awaitable[str]]:
    """A function that does one turn in a session of its own and gives the answer's text."""
    place = Place(model, functions, system, timeout)
    numbers = count()

    async def run() -> str:
        n = next(numbers)
        asker = Identity("org", "slack", "A1", "T1", "U1")
        chat = ChatRef(f"D{n}", "direct", f"{n}.0")
        question = Question(asker, chat, prompt, "en", place.clock.now())
        accepted = await inbox.accept(place.table, place.clock, question, f"Ev{n}")
        await drain(cast(Workplace, place), accepted.session)
        return place.silent.said.pop(accepted.turn)

    return run


class Scripted:
    """A plan as a Model without latency; an answer comes as one piece.

    `failed` counts the calls that came back as errors.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.failed = 0

    def capability(self) -> Capability:
        return Capability("scripted")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        calls, text = self._plan(sum(m.role == "assistant" for m in request.messages))
        if text is None:
            blocks = tuple(ToolCall(id_, name, arguments) for id_, name, arguments in calls)
            yield ModelReply(Message("assistant", blocks), "tools")
        else:
            replies = (b for m in request.messages for b in m.blocks if isinstance(b, ToolReply))
            self.failed += sum(reply.error for reply in replies)
            yield TextDelta(text)
            yield ModelReply(Message("assistant", (Text(text),)), "end")


class Silent:
    """A chat whose messages go nowhere; `said` keeps the last frame's text by turn."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    async def react(self, chat: ChatRef, sign: Sign) -> None: ...

    async def say(self, chat: ChatRef, text: str, key: str) -> None: ...

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None: ...

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        return key

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> Silent:
        return self

    def begin_privately(self, chat: ChatRef, asker: Identity, turn: str, about: str) -> Silent:
        return self

    @property
    def pace(self) -> float:
        return 0.0

    @property
    def handle(self) -> str:
        return "{}"

    async def show(self, frame: Frame) -> None: ...

    async def finish(self, frame: Frame) -> None:
        self.said[frame.turn] = frame.text


class Place:
    """What handlers/wiring.py builds for the worker, with the memory adapters."""

    name = "bench"
    org = "org"

    def __init__(
        self, model: Scripted, functions: Sequence[Function], system: str, timeout: float
    ) -> None:
        self.table = MemoryTable()
        self.clock = SystemClock()
        self.ids = RandomIds()
        self.keeper = LeaseKeeper(self.table, self.clock, self.ids)
        self.silent = Silent()
        self._cipher = LocalKeyCipher(Path(mkdtemp(prefix="plumbline-bench-")) / "key")
        self._model = model
        self._functions = functions
        self._system = system
        self._timeout = timeout

    async def of(self, asker: Identity) -> Place:
        return self

    def chat(self, platform: str) -> Silent:
        return self.silent

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        desk = Desk(
            table=self.table,
            cipher=self._cipher,
            clock=self.clock,
            chat=self.silent,
            model=self._model,
            tools=[_bound(f, self._timeout) for f in self._functions],
            policy=self._system,
            time_zone="UTC",
            limits=Limits(steps=STEPS),
        )
        return desk, Versions()


def _bound(function: Function, timeout: float) -> FunctionTool:
    """The bench's function as a tool of ours that returns a passage to cite."""

    async def run(query: Annotated[str, "a full natural-language sentence"]) -> ToolResult:
        return ToolResult(passages=(Passage("1", "Document", await function(query)),))

    run.__name__ = function.__name__
    run.__doc__ = function.__doc__
    named = tool(topic=TOPIC, permission="kb.read", timeout=timeout)
    return named(run)


TOPIC: dict[Language, str] = {"zh": "资料", "en": "documents"}

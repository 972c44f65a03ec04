"""Plumbline's own turn in the contract of the harness bench (`build(scenario)`).

Everything that a turn has is on: identity, inbox with de-duplication, lock and its renewal,
journal, parallel toolbox with time-outs and loop guard, source collector with checked citations,
the paced stream in front of a message that does nothing, outbox, sealed answer, snapshot.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

from agent.dialogue import (
    Capability,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
)
from agent.domain import ChatRef, Identity, Passage, Question
from agent.durable import inbox
from agent.durable.records import TurnRecord, Versions
from agent.loop import Limits
from agent.ports import Frame, ToolResult
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.memory import MemoryQueue
from agent.stores.memory_table import MemoryTable
from agent.stores.system_clock import RandomIds, SystemClock
from agent.tool import FunctionTool, tool
from agent.turn import Desk
from handlers.worker import drain


IMPORT = "from handlers.worker import drain; from agent.turn import run_turn; import agent.tool"
DISTS: list[str] = []
SHARED_AGENT = False
"""As in the product, tools are bound anew for each turn."""

FEATURES = (
    "identity, inbox, lock with renewal, journal, parallel toolbox, loop guard, source collector, "
    "checked citations, paced stream, outbox, sealed answer, snapshot"
)


def build(scenario: str) -> Callable[[], Awaitable[str]]:
    """One turn of the scenario, from the accepted question to the saved answer."""
    from scenarios import DOC, FINAL, PROMPT, SYSTEM, TOOLS, plan

    class Scripted:
        """The bench's plan as a Model; the answer comes as one piece."""

        def capability(self) -> Capability:
            return Capability("scripted")

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            calls, text = plan(scenario, sum(m.role == "assistant" for m in request.messages))
            if calls:
                blocks = tuple(ToolCall(i, n, a) for i, n, a in calls)
                yield ModelReply(Message("assistant", blocks), "tools")
                return
            yield TextDelta(text)
            yield ModelReply(Message("assistant", (Text(text),)), "end")

    class Silent:
        """A chat whose messages go nowhere; `last` is what the last one said."""

        pace = 0.0
        handle = "{}"
        last = ""

        async def react(self, chat, sign) -> None: ...

        def begin(self, chat, asker, turn) -> Silent:
            return self

        async def show(self, frame: Frame) -> None: ...

        async def finish(self, frame: Frame) -> None:
            self.last = frame.text

    def bound(function) -> FunctionTool:
        """The bench's function as a tool of ours that returns a passage to cite."""

        async def run(query: Annotated[str, "a full natural-language sentence"]) -> ToolResult:
            text = await function(query)
            return ToolResult(passages=(Passage("1", "Document", text or DOC),))

        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        return tool(topic={"zh": "资料", "en": "documents"}, permission="kb.read")(run)

    class Place:
        """What handlers/wiring.py builds, with the memory adapters."""

        def __init__(self) -> None:
            self.table = MemoryTable()
            self.clock = SystemClock()
            self.ids = RandomIds()
            self.queue = MemoryQueue(self.clock, self.ids)
            self.cipher = LocalKeyCipher(Path(mkdtemp(prefix="plumbline-bench-")) / "key")
            self.name = "bench"

        def chat(self, platform: str) -> Silent:
            return silent

        async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
            tools = tuple(bound(f) for f in TOOLS[scenario])
            limits = Limits(steps=64)
            desk = Desk(
                self.table,
                self.cipher,
                self.clock,
                silent,
                Scripted(),
                tools,
                SYSTEM,
                "UTC",
                limits,
            )
            return desk, Versions()

    place, silent, numbers = Place(), Silent(), count()

    async def run() -> str:
        n = next(numbers)
        asker = Identity("org", "slack", "A1", "T1", "U1")
        chat = ChatRef(f"D{n}", "direct", f"{n}.0")
        question = Question(asker, chat, PROMPT, "en", place.clock.now())
        accepted = await inbox.accept(place.table, place.clock, question, f"Ev{n}")
        answered = await drain(place, accepted.session)
        assert answered == 1
        return FINAL if silent.last == FINAL else silent.last

    return run

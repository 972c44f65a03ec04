"""What a loop needs around it: a tool that remembers, a recorder, a voice in plain sight."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from agent.dialogue import ModelReply, ToolCall, ToolReply
from agent.domain import Passage, Source
from agent.ports import ToolResult
from agent.tool import FunctionTool, tool


@dataclass(slots=True)
class Recorded:
    """A journal that keeps the order of what it was told."""

    events: list[str] = field(default_factory=list[str])
    private: list[str] = field(default_factory=list[str])

    async def model_step(self, step: int, reply: ModelReply) -> None:
        self.events.append(f"model {step} {reply.stop}")

    async def tool_step(
        self, step: int, call: ToolCall, reply: ToolReply, *, private: bool
    ) -> None:
        self.events.append(f"tool {step} {call.id} {'error' if reply.error else 'ok'}")
        self.private += [call.id] if private else []


@dataclass(slots=True)
class Shown:
    """A voice that keeps the text, the progress lines and the newest source table."""

    text: str = ""
    lines: list[str] = field(default_factory=list[str])
    table: Mapping[str, Source] = field(default_factory=dict[str, Source])

    def progress(self, line: str) -> None:
        self.lines.append(line)

    def delta(self, text: str) -> None:
        self.text += text

    def replace(self, text: str) -> None:
        self.text = text

    def sources(self, table: Mapping[str, Source]) -> None:
        self.table = table


@dataclass(slots=True)
class Library:
    """A search tool over a dict from query to passages; `ran` holds what was executed, in order.

    A query that is missing raises the error in `faults`, or finds nothing. `delays` are seconds.
    """

    found: Mapping[str, tuple[Passage, ...]] = field(default_factory=dict[str, tuple[Passage, ...]])
    faults: Mapping[str, Exception] = field(default_factory=dict[str, Exception])
    delays: Mapping[str, float] = field(default_factory=dict[str, float])
    ran: list[str] = field(default_factory=list[str])

    def tool(self, timeout: float = 5.0) -> FunctionTool:
        """The tool `search` over this library."""

        @tool(topic={"zh": "资料", "en": "the library"}, permission="kb.read", timeout=timeout)
        async def search(query: Annotated[str, "one full sentence of text"]) -> ToolResult:
            """Search the library."""
            self.ran.append(query)
            await asyncio.sleep(self.delays.get(query, 0))
            if query in self.faults:
                raise self.faults[query]
            return ToolResult(passages=self.found.get(query, ()))

        return search


def passage(source: str, text: str = "words", **more: str) -> Passage:
    """A passage everybody may read."""
    return Passage(source, more.get("title", f"Title of {source}"), text, more.get("url", ""))

"""Runs the calls of one step at once; results come in call order and none loses another."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from agent.citations import SourceCollector, present
from agent.dialogue import ToolCall, ToolReply, ToolSpec
from agent.domain import Json
from agent.errors import ForModel, Retryable, ToolTimedOut
from agent.ports import Tool, ToolResult

log = logging.getLogger(__name__)
_canonical = json.JSONEncoder(sort_keys=True).encode

SAME_CALL_LIMIT = 3
"""How often a turn may ask for the very same call before it has to answer (case C-AG-03)."""


class CallRecorder(Protocol):
    """Keeps the result of a finished call (the journal)."""

    async def tool_step(self, step: int, call: ToolCall, reply: ToolReply) -> None:
        """Store the result of `call` in step `step`."""
        ...


class Toolbox:
    """The tools of one turn, with the asker already bound in.

    `run` never raises for a failing call: each call gets exactly one reply, in call order. The
    very same call is answered from memory the second time and refused after SAME_CALL_LIMIT;
    `looping` then says that the turn should come to its answer. `searched` says whether any call
    succeeded, `passages` how many passages were shown.
    """

    __slots__ = (
        "_asked",
        "_known",
        "_recorder",
        "_tools",
        "looping",
        "passages",
        "searched",
        "sources",
        "specs",
    )

    def __init__(
        self, tools: Sequence[Tool], sources: SourceCollector, recorder: CallRecorder
    ) -> None:
        self._tools = {t.spec.name: t for t in tools}
        self._recorder = recorder
        self._asked: dict[str, int] = {}
        self._known: dict[str, str] = {}
        self.specs: tuple[ToolSpec, ...] = tuple(t.spec for t in tools)
        self.sources = sources
        self.searched = False
        self.looping = False
        self.passages = 0

    def topics(self, calls: Sequence[ToolCall]) -> tuple[Tool, ...]:
        """The known tools behind these calls, each once, for the progress line."""
        return tuple({c.name: self._tools[c.name] for c in calls if c.name in self._tools}.values())

    async def run(self, calls: Sequence[ToolCall], step: int) -> tuple[ToolReply, ...]:
        """Run all calls at once and give their replies in call order."""
        if len(calls) == 1:
            return (await self._one(calls[0], step),)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(call, step)) for call in calls[1:]]
            first = await self._one(calls[0], step)
        return (first, *(task.result() for task in tasks))

    async def _one(self, call: ToolCall, step: int) -> ToolReply:
        reply = await self._reply(call)
        await self._recorder.tool_step(step, call, reply)
        return reply

    async def _reply(self, call: ToolCall) -> ToolReply:
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return ToolReply(
                call.id, f"There is no tool {call.name!r}. Tools: {known}.", error=True
            )
        if call.arguments is None:
            return ToolReply(call.id, "The arguments were not readable JSON.", error=True)
        fingerprint = f"{call.name} {_canonical(call.arguments)}"
        times = self._asked[fingerprint] = self._asked.get(fingerprint, 0) + 1
        if times > SAME_CALL_LIMIT:
            self.looping = True
            return ToolReply(call.id, "This very call was made before; answer now.", error=True)
        known_text = self._known.get(fingerprint)
        if known_text is not None:
            self.looping = times >= SAME_CALL_LIMIT
            return ToolReply(call.id, known_text)
        try:
            result = await _within_limit(tool, call.arguments)
        except (ForModel, Retryable) as error:
            return ToolReply(call.id, str(error) or error.code, error=True)
        except Exception as error:  # a foreign fault must not lose the sibling calls
            log.exception("tool %s failed", call.name)
            return ToolReply(call.id, f"The tool failed ({type(error).__name__}).", error=True)
        self.searched = True
        self.sources.add(result.passages)
        self.passages += len(result.passages)
        text = self._known[fingerprint] = present(result)
        return ToolReply(call.id, text)


async def _within_limit(tool: Tool, arguments: Mapping[str, Json]) -> ToolResult:
    try:
        async with asyncio.timeout(tool.timeout):
            return await tool.call(arguments)
    except TimeoutError as error:
        raise ToolTimedOut(f"No answer within {tool.timeout:g} s; go on without it.") from error

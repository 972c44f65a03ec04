"""Runs the calls of one step at once; results come in call order and none loses another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from agent.citations import SourceCollector, present
from agent.dialogue import ToolCall, ToolReply, ToolSpec
from agent.errors import ForModel, Retryable, ToolTimedOut
from agent.jsontext import canonical
from agent.ports import Tool

log = logging.getLogger(__name__)

SAME_CALL_LIMIT = 3
"""How often a turn may ask for the very same call before it has to answer (case C-AG-03)."""


class CallRecorder(Protocol):
    """Keeps the result of a finished call (the journal)."""

    async def tool_step(
        self, step: int, call: ToolCall, reply: ToolReply, *, private: bool
    ) -> None:
        """Store the result of `call` in step `step`; a private one without its words."""
        ...


class Toolbox:
    """The tools of one turn, with the asker already bound in.

    `run` never raises for a failing call: each call gets exactly one reply, in call order. The
    very same call is answered from memory the second time and refused after SAME_CALL_LIMIT;
    `looping` then says that the turn should come to its answer. `searched` says whether any call
    succeeded, `passages` how many passages were shown. `unsearched` are the tools by name that gave
    no answer to any call since: what the answer could not draw on.
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
        "unsearched",
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
        self.unsearched: dict[str, Tool] = {}

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
        fingerprint = f"{call.name} {canonical(call.arguments)}"
        reply = self._at_once(call, fingerprint)
        if reply is None:
            reply = await self._ran(call, fingerprint)
        tool = self._tools.get(call.name)
        private = tool is not None and tool.effect == "private-read"
        await self._recorder.tool_step(step, call, reply, private=private)
        return reply

    def _at_once(self, call: ToolCall, fingerprint: str) -> ToolReply | None:
        """The reply to a call that is not run: it can not be, or was made before."""
        if call.name not in self._tools:
            known = ", ".join(self._tools) or "none"
            return _failed(call, f"There is no tool {call.name!r}. Tools: {known}.")
        if call.arguments is None:
            return _failed(call, "The arguments were not readable JSON.")
        times = self._asked[fingerprint] = self._asked.get(fingerprint, 0) + 1
        if times > SAME_CALL_LIMIT:
            self.looping = True
            return _failed(call, "This very call was made before; answer now.")
        known_text = self._known.get(fingerprint)
        if known_text is None:
            return None
        self.looping = times >= SAME_CALL_LIMIT
        return ToolReply(call.id, known_text)

    async def _ran(self, call: ToolCall, fingerprint: str) -> ToolReply:
        tool = self._tools[call.name]
        try:
            # All that a tool tries again for one call shares this limit.
            async with asyncio.timeout(tool.timeout):
                result = await tool.call(call.arguments or {})
        except TimeoutError:
            self.unsearched[call.name] = tool
            return _failed(call, f"No answer within {tool.timeout:g} s; go on without it.")
        except (ForModel, Retryable) as error:
            # A wrong call has no cause beside itself; a source that is down has one.
            if isinstance(error, Retryable | ToolTimedOut) or error.__cause__ is not None:
                self.unsearched[call.name] = tool
            return _failed(call, str(error) or error.code)
        except Exception as error:  # a foreign fault must not lose the sibling calls
            log.exception("tool %s failed", call.name)
            self.unsearched[call.name] = tool
            return _failed(call, f"The tool failed ({type(error).__name__}).")
        self.unsearched.pop(call.name, None)
        self.searched = True
        self.sources.add(result.passages)
        self.passages += len(result.passages)
        text = self._known[fingerprint] = present(result)
        return ToolReply(call.id, text)


def _failed(call: ToolCall, why: str) -> ToolReply:
    return ToolReply(call.id, why, error=True)

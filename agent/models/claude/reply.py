"""The stream of a Claude reply, read event by event into our blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from agent.dialogue import (
    Block,
    Message,
    ModelReply,
    StopReason,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    Usage,
)
from agent.domain import Json
from agent.models.tool_names import ToolNames
from agent.models.wire import mend_text, parse_arguments

if TYPE_CHECKING:
    from anthropic.types import (
        MessageDeltaUsage,
        RawContentBlockDelta,
        RawMessageStreamEvent,
    )
    from anthropic.types import Usage as StartUsage

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


@dataclass(slots=True)
class _Open:
    """A block as far as it came. `start` is the vendor's own JSON of it."""

    start: dict[str, Json]
    text: str = ""
    held: str = ""
    closed: bool = False

    @property
    def kind(self) -> Json:
        return self.start.get("type")


@dataclass(slots=True)
class Reading:
    """Collects a reply. `feed` gives the words of an event, `reply` the whole at the end."""

    model: str
    names: ToolNames = field(default_factory=ToolNames)
    _blocks: dict[int, _Open] = field(default_factory=dict[int, _Open])
    _stop: StopReason | None = None
    _input: int = 0
    _cached: int = 0
    _output: int = 0

    def feed(self, event: RawMessageStreamEvent) -> Iterator[TextDelta]:
        """Take one event; the words that it adds to the reply's text."""
        match event.type:
            case "message_start":
                self.model = event.message.model
                self._count(event.message.usage)
            case "content_block_start":
                block = _Open(cast("dict[str, Json]", event.content_block.to_dict(mode="json")))
                self._blocks[event.index] = block
                if block.kind == "text":
                    yield from _words(block, str(block.start.get("text") or ""))
            case "content_block_delta" if event.index in self._blocks:
                yield from _grow(self._blocks[event.index], event.delta)
            case "content_block_stop" if event.index in self._blocks:
                self._blocks[event.index].closed = True
            case "message_delta":
                reason = event.delta.stop_reason
                self._stop = _STOPS.get(reason, "end") if reason else self._stop
                self._count(event.usage)
            case _:
                return

    def reply(self) -> ModelReply:
        """The reply so far; without a stop reason it was cut."""
        stop = self._stop or "cut"
        blocks = [
            b for _, o in sorted(self._blocks.items()) if (b := _block(o, self.names)) is not None
        ]
        if stop in ("length", "cut") and blocks and isinstance(blocks[-1], ToolCall):
            blocks[-1] = ToolCall(blocks[-1].id, blocks[-1].name, None)
        usage = Usage(self._input + self._cached, self._output, self._cached)
        return ModelReply(Message("assistant", tuple(blocks)), stop, usage, self.model)

    def _count(self, usage: StartUsage | MessageDeltaUsage) -> None:
        """Totals: a later event overwrites, what it leaves out stays."""
        if usage.input_tokens is not None:
            self._input = usage.input_tokens + (usage.cache_creation_input_tokens or 0)
        if usage.cache_read_input_tokens is not None:
            self._cached = usage.cache_read_input_tokens
        self._output = usage.output_tokens


def _grow(block: _Open, delta: RawContentBlockDelta) -> Iterator[TextDelta]:
    match delta.type:
        case "text_delta":
            yield from _words(block, delta.text)
        case "input_json_delta":
            block.text += delta.partial_json
        case "thinking_delta":
            block.start["thinking"] = str(block.start.get("thinking") or "") + delta.thinking
        case "signature_delta":
            block.start["signature"] = delta.signature
        case _:
            return


def _words(block: _Open, text: str) -> Iterator[TextDelta]:
    """Blank beginnings wait for a word: a block that stays blank is neither shown nor kept."""
    block.held += mend_text(text)
    if block.text or block.held.strip():
        block.text += block.held
        words, block.held = block.held, ""
        if words:
            yield TextDelta(words)


def _block(block: _Open, names: ToolNames) -> Block | None:
    """Our block; None for blank text, unfinished thinking and kinds that we never ask for."""
    match block.kind:
        case "text":
            return Text(block.text) if block.text else None
        case "thinking" | "redacted_thinking":
            raw = json.dumps(block.start, ensure_ascii=False, separators=(",", ":"))
            return Thinking(raw) if block.closed else None
        case "tool_use":
            arguments = _arguments(block) if block.closed else None
            name = names.original(str(block.start["name"]))
            return ToolCall(str(block.start["id"]), name, arguments)
        case _:
            return None


def _arguments(block: _Open) -> dict[str, Json] | None:
    given = block.start.get("input")
    if not block.text and isinstance(given, dict):
        return given
    return parse_arguments(block.text)

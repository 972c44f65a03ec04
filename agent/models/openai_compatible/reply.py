"""The pieces of a chat completion, read one by one into our blocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from agent.dialogue import (
    Block,
    Message,
    ModelReply,
    ModelRequest,
    StopReason,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    Usage,
)
from agent.domain import Json
from agent.models.openai_compatible.request import THINKING_FIELDS
from agent.models.openai_compatible.thoughts import Thoughts
from agent.models.tool_names import ToolNames
from agent.models.wire import mend, mend_text, parse_arguments

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "tool_calls": "tools",
    "function_call": "tools",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
    "sensitive": "refusal",
    "insufficient_system_resource": "cut",
    "network_error": "cut",
    "abort": "cut",
    "error": "cut",
}
"""The servers' reasons; `sensitive` and `network_error` are GLM's, `abort` is vLLM's and the
`insufficient_…` one DeepSeek's. Any other reason is an end."""

_ID_LENGTH = 9
"""Made ids are nine letters or digits: the narrowest rule of all servers, Mistral's."""


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    text: str = ""
    given: Mapping[str, Json] | None = None


@dataclass(slots=True)
class Reading:
    """Collects a reply to `request`. `feed` gives the words of a piece, `reply` the whole.

    `unread` then holds the arguments of finished calls that are no JSON, by the call's id.
    """

    request: ModelRequest
    model: str
    names: ToolNames
    unread: dict[str, str] = field(default_factory=dict[str, str])
    _calls: list[_Call] = field(default_factory=list[_Call])
    _at: dict[int, _Call] = field(default_factory=dict[int, _Call])
    _text: str = ""
    _held: str = ""
    _inline: Thoughts = field(default_factory=Thoughts)
    _thought: dict[str, str] = field(default_factory=dict[str, str])
    _stop: StopReason | None = None
    _refused: bool = False
    _usage: Usage = field(default_factory=Usage)

    def feed(self, piece: Mapping[str, Json]) -> Iterator[TextDelta]:
        """Take one piece; the words that it adds to the reply's text."""
        self.model = _text(piece.get("model")) or self.model
        usage = piece.get("usage")
        if isinstance(usage, dict):
            self._usage = _counted(usage)
        choices = piece.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._grow(delta)
        reason = _text(choice.get("finish_reason"))
        if reason:
            self._stop = _STOPS.get(reason, "end")
            yield from self._words(self._inline.rest())

    def reply(self) -> ModelReply:
        """The reply so far; without a reason to stop it was cut."""
        stop: StopReason = "refusal" if self._refused else self._stop or "cut"
        calls = self._tool_calls(cut=stop in ("length", "cut"))
        if stop in ("end", "tools"):
            stop = "tools" if calls else "end"
        blocks: list[Block] = []
        if self._thought:
            blocks.append(Thinking(json.dumps(self._thought, ensure_ascii=False)))
        if self._text:
            blocks.append(Text(self._text))
        message = Message("assistant", (*blocks, *calls))
        return ModelReply(message, stop, self._usage, self.model)

    def _grow(self, delta: Mapping[str, Json]) -> Iterator[TextDelta]:
        for name in THINKING_FIELDS:
            thought = _text(delta.get(name))
            if thought:
                self._thought[name] = self._thought.get(name, "") + thought
                break
        if _text(delta.get("refusal")):
            self._refused = True
        yield from self._words(self._inline.spoken(_spoken(delta.get("content"))))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._take(call)

    def _words(self, text: str) -> Iterator[TextDelta]:
        """Blank beginnings wait for a word: a text that stays blank is neither shown nor kept."""
        self._held += mend_text(text)
        if self._text or self._held.strip():
            words, self._held = self._held, ""
            self._text += words
            if words:
                yield TextDelta(words)

    def _take(self, piece: Mapping[str, Json]) -> None:
        """A piece of a call, or a whole one."""
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name, id_ = _text(function.get("name")), _text(piece.get("id"))
        call = self._place(piece.get("index"), id_, name)
        call.id = call.id or id_
        if name != call.name and not call.text:
            call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            call.given = arguments
        else:
            call.text += _text(arguments)

    def _place(self, index: Json, id_: str, name: str) -> _Call:
        """The call that a piece belongs to.

        The index says so, unless it is missing or the same for all: then another id together with
        a name begins another call.
        """
        known = self._at.get(index) if isinstance(index, int) else None
        if known is None and not isinstance(index, int) and self._calls and not name:
            known = next((c for c in self._calls if id_ and c.id == id_), self._calls[-1])
        if known is None or (id_ and name and id_ != known.id):
            known = _Call()
            self._calls.append(known)
            if isinstance(index, int):
                self._at[index] = known
        return known

    def _tool_calls(self, *, cut: bool) -> tuple[ToolCall, ...]:
        """The calls with ids that no other call of the conversation has."""
        taken = {c.id for m in self.request.messages for c in m.calls}
        made: list[ToolCall] = []
        for place, call in enumerate(self._calls):
            id_ = call.id
            if not id_ or id_ in taken:
                id_ = _made_id(len(self.request.messages), place, taken)
            taken.add(id_)
            unfinished = cut and place == len(self._calls) - 1
            arguments = None if unfinished else _arguments(call)
            if arguments is None and not cut:
                self.unread[mend_text(id_)] = call.text
            made.append(ToolCall(mend_text(id_), self.names.original(call.name), arguments))
        return tuple(made)


def _made_id(messages: int, place: int, taken: set[str]) -> str:
    """An id that is the same each time this conversation gets a call in this place."""
    for salt in range(len(taken) + 1):
        seed = f"{messages}.{place}.{salt}".encode()
        made = hashlib.sha256(seed).hexdigest()[:_ID_LENGTH]
        if made not in taken:
            return made
    raise AssertionError("unreachable: one more id than are taken was tried")


def _arguments(call: _Call) -> dict[str, Json] | None:
    if call.given is not None and not call.text:
        return cast("dict[str, Json]", mend(dict(call.given)))
    if call.text.strip() == "null":
        return {}
    parsed = parse_arguments(call.text)
    if parsed is None and call.text.lstrip().startswith('"'):  # JSON text of JSON text
        try:
            parsed = parse_arguments(_text(cast("Json", json.loads(call.text))))
        except ValueError:
            return None
    return parsed


def _spoken(content: Json) -> str:
    """The words of a content: a text, or parts of which those of type text are words."""
    if isinstance(content, list):
        parts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"]
        return "".join(_text(p.get("text")) for p in parts)
    return _text(content)


def _counted(usage: Mapping[str, Json]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = cached or usage.get("prompt_cache_hit_tokens")
    return Usage(
        _number(usage.get("prompt_tokens")),
        _number(usage.get("completion_tokens")),
        _number(cached),
    )


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""

"""A model that plays a written part and remembers what it was asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.dialogue import (
    Block,
    Capability,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    StopReason,
    Text,
    TextDelta,
    ToolCall,
    Usage,
)
from agent.domain import Json
from agent.errors import PlumblineError

Played = str | ModelReply | PlumblineError | Sequence[ModelEvent | PlumblineError]
"""One reply: words (a finished answer), a reply (its words become deltas), an error to raise at
once, or the exact events in order, of which an error is raised where it stands."""


def call(name: str, arguments: Mapping[str, Json] | None = None, *, id: str = "call_1") -> ToolCall:  # noqa: A002 -- the field's own name
    """A tool call; no arguments means an empty object."""
    return ToolCall(id, name, {} if arguments is None else arguments)


def reply(*blocks: Block | str, stop: StopReason | None = None) -> ModelReply:
    """A reply of these blocks (text for words). It stops for tools when it holds a call."""
    made = tuple(Text(b) if isinstance(b, str) else b for b in blocks)
    message = Message("assistant", made)
    return ModelReply(message, stop or ("tools" if message.calls else "end"), Usage(), "scripted")


def prompt_bytes(request: ModelRequest) -> bytes:
    """The request as one text in prompt order, for comparing prefixes from step to step (P11)."""
    tools = [[t.name, t.description, t.schema] for t in request.tools]
    parts = [request.system, json.dumps(tools, ensure_ascii=False)]
    parts += [repr(m) for m in request.messages]
    return "\n".join(parts).encode()


@dataclass(slots=True)
class ScriptedModel:
    """Plays `script`: a list of replies in order (asking for more fails), or a function of the
    request. `piece` is the length of a delta in characters. `requests` holds what was asked,
    `open` how many streams have begun and not ended.
    """

    script: Iterable[Played] | Callable[[ModelRequest], Played]
    piece: int = 8
    about: Capability = field(default_factory=lambda: Capability("scripted"))
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])
    open: int = 0
    _left: list[Played] = field(init=False, default_factory=list[Played])

    def __post_init__(self) -> None:
        if not callable(self.script):
            self._left = list(self.script)

    def capability(self) -> Capability:
        return self.about

    @property
    def digests(self) -> tuple[str, ...]:
        """One hash for each prompt that came in."""
        return tuple(hashlib.sha256(prompt_bytes(r)).hexdigest() for r in self.requests)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        self.open += 1
        try:
            for event in self._events(self._next(request)):
                if isinstance(event, PlumblineError):
                    raise event
                yield event
        finally:
            self.open -= 1

    def _next(self, request: ModelRequest) -> Played:
        if callable(self.script):
            return self.script(request)
        assert self._left, f"the script is over and the model was asked again: {request.messages}"
        return self._left.pop(0)

    def _events(self, played: Played) -> Sequence[ModelEvent | PlumblineError]:
        if isinstance(played, PlumblineError):
            return [played]
        if isinstance(played, str):
            played = reply(played)
        if not isinstance(played, ModelReply):
            return played
        text = played.message.text
        pieces = [text[i : i + self.piece] for i in range(0, len(text), self.piece)]
        return [*(TextDelta(p) for p in pieces), played]

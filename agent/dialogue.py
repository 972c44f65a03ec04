"""What goes to a model and what comes back, in no vendor's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from agent.domain import Json
from agent.values import value

StopReason = Literal["end", "tools", "length", "refusal", "cut"]
"""Why a reply ended. `length`: the output limit. `cut`: the stream broke off without saying why."""


@value
class Text:
    """Plain words."""

    text: str


@value
class Picture:
    """A picture that a person sent. Histories keep `blob`, its key in the blob store.

    `data` is resolved by whoever builds a request; None sends a placeholder in its place.
    `media_type` is what the sender said; what is sent is what the bytes are.
    """

    blob: str
    media_type: str = ""
    data: bytes | None = field(default=None, repr=False)


@value
class Thinking:
    """A vendor's reasoning block as raw JSON text: sent back byte for byte, never shown."""

    raw: str


@value
class ToolCall:
    """A call the model asks for. `arguments` is parsed JSON; None when it could not be parsed."""

    id: str
    name: str
    arguments: Mapping[str, Json] | None


@value
class ToolReply:
    """The result of one call; every call gets exactly one."""

    call: str
    text: str
    error: bool = False


Block = Text | Picture | Thinking | ToolCall | ToolReply


@value
class Message:
    """One message of the conversation. Blocks keep the order the vendor gave them in."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """All words of the message, joined."""
        return "".join(b.text for b in self.blocks if isinstance(b, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the message in call order."""
        return tuple(b for b in self.blocks if isinstance(b, ToolCall))


@value
class ToolSpec:
    """What a model is told of a tool. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Json]


@value
class ModelRequest:
    """One question to a model. `system` and `tools` are the stable prefix of a session.

    `answer_now` asks for words instead of further tool calls; the tools stay in the request, since
    the conversation names them.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_tokens: int = 4096
    answer_now: bool = False


@value
class Usage:
    """Tokens of one call; `cached` is the part of the input that was read from the cache."""

    input: int = 0
    output: int = 0
    cached: int = 0


@value
class TextDelta:
    """The next words of the reply."""

    text: str


@value
class ModelReply:
    """The whole reply: the last event of every stream."""

    message: Message
    stop: StopReason
    usage: Usage = Usage()
    model: str = ""


ModelEvent = TextDelta | ModelReply


@value
class Capability:
    """What a model can do. `window` is its input limit in tokens."""

    name: str
    tools: bool = True
    images: bool = False
    window: int = 200_000

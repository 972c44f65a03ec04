"""A request in the words of the Messages API, with its cache breakpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from agent.dialogue import (
    Block,
    Message,
    Picture,
    Text,
    Thinking,
    ToolCall,
    ToolReply,
    ToolSpec,
)
from agent.domain import Json
from agent.models import pictures
from agent.models.tool_names import ToolNames
from agent.models.wire import mend

CACHED_MESSAGES = 2
"""Breakpoints on the newest user messages. With system and tools that makes the 4 the API allows:
the newest writes the cache for the next step, the one before reads what the last step wrote."""

_CACHE: dict[str, Json] = {"type": "ephemeral"}
_THINKING = ("thinking", "redacted_thinking")
_EMPTY_RESULT = "(empty result)"


def system(text: str) -> list[Json]:
    """The policy as one cached block; nothing for a blank one."""
    if not text.strip():
        return []
    return [mend({"type": "text", "text": text, "cache_control": dict(_CACHE)})]


def tools(specs: Sequence[ToolSpec], names: ToolNames) -> list[Json]:
    """The tools in the given order; the breakpoint stands on the last."""
    made: list[dict[str, Json]] = [
        {
            "name": names.advertised(s.name),
            "description": s.description,
            "input_schema": dict(s.schema),
        }
        for s in specs
    ]
    if made:
        made[-1]["cache_control"] = dict(_CACHE)
    return [mend(m) for m in made]


def messages(history: Sequence[Message], names: ToolNames, *, images: bool = True) -> list[Json]:
    """The conversation without blank texts and empty messages, the newest parts cached.

    Without `images` words stand in for each picture.
    """
    made: list[tuple[str, list[dict[str, Json]]]] = []
    for message in history:
        content = [c for b in _ordered(message) if (c := _content(b, names, images)) is not None]
        if content:
            made.append((message.role, content))
    newest = [content for role, content in made if role == "user"][-CACHED_MESSAGES:]
    for content in newest:
        content[-1]["cache_control"] = dict(_CACHE)
    return [mend({"role": r, "content": cast("list[Json]", c)}) for r, c in made]


def _ordered(message: Message) -> Sequence[Block]:
    """A person's words come after the results, or the API refuses the pairing."""
    if message.role == "assistant":
        return message.blocks
    return sorted(message.blocks, key=lambda b: not isinstance(b, ToolReply))


def _content(block: Block, names: ToolNames, images: bool) -> dict[str, Json] | None:
    """The block's JSON; None for what must not be sent."""
    match block:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Picture():
            return _picture(block, images)
        case Thinking(raw):
            return _thinking(raw)
        case ToolCall(id=id_, name=name, arguments=arguments):
            return {
                "type": "tool_use",
                "id": id_,
                "name": names.advertised(name),
                "input": dict(arguments or {}),
            }
        case ToolReply(call=call, text=text, error=error):
            return {
                "type": "tool_result",
                "tool_use_id": call,
                "content": text if text.strip() else _EMPTY_RESULT,
                "is_error": error,
            }


def _picture(picture: Picture, images: bool) -> dict[str, Json]:
    sent = pictures.encoded(picture) if images else None
    if sent is None:
        return {"type": "text", "text": pictures.placeholder(seen=images)}
    kind, data = sent
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _thinking(raw: str) -> dict[str, Json] | None:
    """The vendor's block as it came; None for a block of another vendor."""
    value = cast("Json", json.loads(raw))
    return value if isinstance(value, dict) and value.get("type") in _THINKING else None

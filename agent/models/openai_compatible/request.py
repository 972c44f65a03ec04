"""A request in the words of the chat completions API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from agent.dialogue import (
    Capability,
    Message,
    ModelRequest,
    Picture,
    Text,
    Thinking,
    ToolCall,
    ToolReply,
)
from agent.domain import Json
from agent.models import pictures
from agent.models.tool_names import ToolNames
from agent.models.wire import mend

THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put a model's reasoning; it goes back under the name it came with."""

_EMPTY_RESULT = "(empty result)"
_FAILED = "This call failed. "


def body(request: ModelRequest, about: Capability, names: ToolNames) -> dict[str, Json]:
    """The whole request, streamed, with usage in the last piece."""
    made: dict[str, Json] = {
        "model": about.name,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
        "messages": list(_messages(request, about, names)),
    }
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": names.advertised(t.name),
                    "description": t.description,
                    "parameters": dict(t.schema),
                },
            }
            for t in request.tools
        ]
        if request.answer_now:
            made["tool_choice"] = "none"
    return cast("dict[str, Json]", mend(made))


def _messages(
    request: ModelRequest, about: Capability, names: ToolNames
) -> Iterator[dict[str, Json]]:
    if request.system.strip():
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if message.role == "assistant":
            yield from _said(message, names)
        else:
            yield from _heard(message, images=about.images)


def _said(message: Message, names: ToolNames) -> Iterator[dict[str, Json]]:
    """The model's own message; nothing when it is empty."""
    calls: list[Json] = [
        {
            "id": c.id,
            "type": "function",
            "function": {
                "name": names.advertised(c.name),
                "arguments": json.dumps(dict(c.arguments or {}), ensure_ascii=False),
            },
        }
        for c in message.calls
    ]
    if not calls and not message.text.strip():
        return
    made: dict[str, Json] = {"role": "assistant", "content": message.text or None}
    if calls:
        made["tool_calls"] = calls
        # A reasoning model wants the thoughts of the calls that it made, and refuses older ones.
        made.update(_thoughts(message))
    yield made


def _thoughts(message: Message) -> dict[str, Json]:
    for block in message.blocks:
        if isinstance(block, Thinking):
            value = cast("Json", json.loads(block.raw))
            if isinstance(value, dict):
                return {k: v for k, v in value.items() if k in THINKING_FIELDS}
    return {}


def _heard(message: Message, *, images: bool) -> Iterator[dict[str, Json]]:
    """Results first, each a message of its own; then what the person sent."""
    parts: list[dict[str, Json]] = []
    for block in message.blocks:
        match block:
            case ToolReply(call=call, text=text, error=error):
                said = text if text.strip() else _EMPTY_RESULT
                yield {
                    "role": "tool",
                    "tool_call_id": call,
                    "content": _FAILED + said if error else said,
                }
            case Picture():
                parts.append(_picture(block, images=images))
            case Text(text) if text.strip():
                parts.append({"type": "text", "text": text})
            case Text() | Thinking() | ToolCall():
                continue
    if any(p["type"] != "text" for p in parts):
        yield {"role": "user", "content": cast("list[Json]", parts)}
    elif parts:  # plain text, for servers that take nothing else
        yield {"role": "user", "content": "\n\n".join(str(p["text"]) for p in parts)}


def _picture(picture: Picture, *, images: bool) -> dict[str, Json]:
    sent = pictures.encoded(picture) if images else None
    if sent is None:
        return {"type": "text", "text": pictures.placeholder(seen=images)}
    kind, data = sent
    return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}

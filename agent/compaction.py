"""Keeps a request inside a model's window: the oldest tool results are cut first (case C-AG-05)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.dialogue import Message, ModelRequest, Picture, Text, Thinking, ToolCall, ToolReply

_BYTES_A_TOKEN = 3
"""UTF-8 bytes: a Chinese character is about one token, three letters of English surely less."""
_PICTURE = 1_600
"""Tokens of a picture of usual size; our guess on the safe side."""
_TOOL = 500
"""Tokens of a tool's name, text and schema; a guess on the safe side, since they are short."""
_MARGIN = 20
"""One part in so many of the window stays free for what the estimate does not see."""
_LEAST = 200
"""Tokens that are left of a result at least, so that the model still knows what it was."""
_CUT = "\n[The rest of this result was cut to make room.]"


def fitted(request: ModelRequest, window: int) -> ModelRequest:
    """The request, shortened when it may not fit the window; the very same one when it does.

    Results are cut oldest message first, those of one message down to the same length; when that
    is not enough the oldest exchanges are left out. What still does not fit is sent as it is.
    """
    most = window - request.max_tokens - window // _MARGIN
    if _longest(request) <= most:  # no character is more than a token: nothing to count
        return request
    return _within(request, most)


def halved(request: ModelRequest) -> ModelRequest:
    """About half of the request, for a model that refused it; the very same when nothing gives."""
    return _within(request, _size(request) // 2)


def _within(request: ModelRequest, most: int) -> ModelRequest:
    over = _size(request) - most
    messages = list(request.messages)
    for place, message in enumerate(messages):
        sizes = [_tokens(b.text) for b in message.blocks if isinstance(b, ToolReply)]
        cap = _level(sizes, sum(sizes) - over)
        if any(size > cap for size in sizes):
            messages[place] = _cut(message, cap)
            over -= _weight(message) - _weight(messages[place])
    question = _question(messages)
    while over > 0 and question >= 2:
        over -= _weight(messages.pop(0)) + _weight(messages.pop(0))
        question -= 2
    changed = len(messages) < len(request.messages) or any(
        a is not b for a, b in zip(messages, request.messages, strict=True)
    )
    return replace(request, messages=tuple(messages)) if changed else request


def _level(sizes: Sequence[int], wanted: int) -> int:
    """The length to which the longest come down so that all together are `wanted` long."""
    left, ordered = wanted, sorted(sizes)
    for place, size in enumerate(ordered):
        share = left // (len(ordered) - place)
        if size > share:
            return max(share, _LEAST)
        left -= size
    return max(ordered, default=0)


def _cut(message: Message, cap: int) -> Message:
    blocks = tuple(
        replace(b, text=_shortened(b.text, cap))
        if isinstance(b, ToolReply) and _tokens(b.text) > cap
        else b
        for b in message.blocks
    )
    return replace(message, blocks=blocks)


def _shortened(text: str, cap: int) -> str:
    """The beginning of a result, to the end of a line where one is near."""
    room = max(cap * _BYTES_A_TOKEN - len(_CUT), 0)
    kept = text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    line = kept.rfind("\n")
    return kept[: line if line > len(kept) * 4 // 5 else None] + _CUT


def _question(messages: Sequence[Message]) -> int:
    """Where the turn's own question stands: before its first call, or at the end."""
    called = (i - 1 for i, m in enumerate(messages) if m.calls)
    return next(called, len(messages) - 1)


def _longest(request: ModelRequest) -> int:
    """An upper bound of the tokens that costs next to no counting: each step asks for it."""
    length = len(request.system) + _TOOL * len(request.tools)
    for message in request.messages:
        for b in message.blocks:
            length += len(b.text) if isinstance(b, Text | ToolReply) else _other(b, 1)
    return length


def _size(request: ModelRequest) -> int:
    tools = _TOOL * len(request.tools)
    return _tokens(request.system) + tools + sum(_weight(m) for m in request.messages)


def _weight(message: Message) -> int:
    return sum(
        _tokens(b.text) if isinstance(b, Text | ToolReply) else _other(b, _BYTES_A_TOKEN)
        for b in message.blocks
    )


def _other(block: Picture | Thinking | ToolCall, letters: int) -> int:
    if isinstance(block, Picture):
        return _PICTURE
    text = block.raw if isinstance(block, Thinking) else repr(block.arguments)
    return len(text) // letters


def _tokens(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN

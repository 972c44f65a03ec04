"""Reads foreign JSON into typed values: whatever stands in it, nothing here raises."""

from __future__ import annotations

import json
import re
from typing import cast

from agent.domain import Json

MAX_TEXT_BYTES = 180_000
"""The longest text kept of one message: Feishu allows 150 KB, Slack 40,000 characters."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Controls, marks of direction and blanks without width; the joiner stays, emoji need it."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@=+/-]{0,127}")
_WHOLE = re.compile(r"[0-9]{1,15}")
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")


def _no_constant(name: str) -> None:
    raise ValueError(name)


def parse(raw: bytes | str) -> dict[str, Json] | None:
    """The JSON object in `raw`; None for anything else, hostile nesting included."""
    try:
        text = raw if isinstance(raw, str) else raw.decode()
        value: object = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Json]", value) if isinstance(value, dict) else None


def members(value: object) -> dict[str, Json]:
    """The value as an object; empty when it is none."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def entries(value: object) -> list[Json]:
    """The value as a list; empty when it is none."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Json]]:
    """The objects in a list; everything else in it is left out."""
    return [members(part) for part in entries(value) if isinstance(part, dict)]


def text(value: object) -> str:
    """The value as text that can be stored: no lone surrogates, no endless length."""
    if not isinstance(value, str):
        return ""
    return clip(value if value.isascii() else _SURROGATE.sub("\ufffd", value))


def clip(value: str) -> str:
    """The text cut to MAX_TEXT_BYTES of UTF-8, at a character's border."""
    if len(value) * 4 <= MAX_TEXT_BYTES:
        return value
    return value.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def name(value: object) -> str:
    """A shown name on one line of at most 100 characters, none of which hides or turns others."""
    line = _HIDDEN.sub("", " ".join(text(value).split()))
    return " ".join(line.split())[:100]


def identifier(value: object) -> str:
    """A platform's id; empty when it does not look like one."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def whole(value: object) -> int:
    """A count that may come as a number or as digits; 0 when it is neither."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else 0
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 10**15 else 0
    return 0


def seconds(value: object) -> float:
    """A time in seconds that may come as a number or as digits; 0.0 when it is neither."""
    if isinstance(value, str):
        return float(value) if _SECONDS.fullmatch(value) else 0.0
    return float(whole(value))

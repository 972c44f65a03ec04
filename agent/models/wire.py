"""What every model server's adapter needs between our values and JSON over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import cast

from agent.domain import Json

DEFAULT_PAUSE = 5.0
"""Seconds to wait when a server limits us and names no pause; our choice."""

_TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window|size|limit)|(?:prompt|input|request).{0,20}too (?:long|large)|"
    r"too many (?:input )?tokens|max_model_len|range of input length|"
    r"maximum (?:input|number of tokens|prompt)|input characters limit",
    re.IGNORECASE,
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def mend_text(text: str) -> str:
    """The text with surrogate pairs joined and lone halves replaced by U+FFFD.

    Python keeps lone halves that came in as JSON escapes, and no UTF-8 body can carry them.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mend(value: Json) -> Json:
    """The same value with every text in it mended, keys too."""
    if isinstance(value, str):
        return mend_text(value)
    if isinstance(value, list):
        return [mend(v) for v in value]
    if isinstance(value, dict):
        return {mend_text(k): mend(v) for k, v in value.items()}
    return value


def parse_arguments(text: str) -> dict[str, Json] | None:
    """A call's arguments from their complete JSON text; blank means none were needed.

    None when the text is no JSON object: a half-written call must not run with what is left of it.
    """
    if not text.strip():
        return {}
    try:
        value = cast("Json", json.loads(text))
    except ValueError:
        return None
    return cast("dict[str, Json]", mend(value)) if isinstance(value, dict) else None


def says_too_long(message: str) -> bool:
    """Whether the message of a refused request says that it does not fit the model's window.

    The services have no common code for it; these are the words that they use.
    """
    return bool(_TOO_LONG.search(message))


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a 429 asks for, from milliseconds, seconds or a date (against its own Date).

    `headers` looks names up without regard to case, or holds them in lower case.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) / unit)
        except ValueError:
            continue
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, (until - parsedate_to_datetime(headers.get("date", ""))).total_seconds())
    except (TypeError, ValueError):
        return DEFAULT_PAUSE

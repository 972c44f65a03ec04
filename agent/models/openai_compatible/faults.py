"""A server's refusal in our words; nothing of its body but a plain code reaches a text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from agent.domain import Json
from agent.errors import (
    ContextTooLong,
    Misconfigured,
    ModelFailed,
    ModelRefused,
    PlumblineError,
    RateLimited,
    Unavailable,
)
from agent.models.wire import retry_after, says_too_long

_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NO_MONEY = re.compile(r"insufficient.{0,3}(?:quota|balance)|arrear|billing", re.IGNORECASE)
_CONTENT = re.compile(
    r"content.{0,3}(?:filter|policy|management)|data_?inspection|sensitive|safety|\b1301\b",
    re.IGNORECASE,
)
_SETTINGS = "PLUMBLINE_OPENAI_BASE_URL, PLUMBLINE_OPENAI_API_KEY and PLUMBLINE_MODEL"
_DENIED = (401, 403)
_NOT_THERE = (404, 405)
_BUSY = re.compile(r"overload|server_error|internal|unavailable|timeout", re.IGNORECASE)


def parsed(raw: bytes | str) -> dict[str, Json] | None:
    """A body or a piece of a stream as an object; None when it is none."""
    try:
        value = cast("Json", json.loads(raw))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def fault(
    status: int, headers: Mapping[str, str], said: Mapping[str, Json] | None
) -> PlumblineError:
    """Our error for an error status, or for an error inside a stream that began with 200.

    `said` is the error's JSON, None for a page or nothing.
    """
    code, message = _code_and_message(said or {})
    text = f"{code} {message}"
    answered = f"The model server answered {status} {code}".rstrip()
    if status in (*_DENIED, 402) or _NO_MONEY.search(text):
        return Misconfigured(
            f"{answered}: the key is wrong, has no credit or may not use this model."
            f" Check {_SETTINGS}."
        )
    if status == 429 or "rate_limit" in code:
        return RateLimited(f"{answered}: too many requests.", retry_after(headers))
    if status in _NOT_THERE:
        return Misconfigured(f"{answered}: no such address or model. Check {_SETTINGS}.")
    if status == 413 or (status < 500 and says_too_long(text)):
        return ContextTooLong(f"{answered}: the request is too long for this model.")
    if status < 500 and _CONTENT.search(text):
        return ModelRefused(f"{answered}: the content was declined.")
    if status >= 500 or status == 408 or _BUSY.search(text) or (status == 200 and not code):
        return Unavailable(f"{answered}: it is overloaded or out of order.")
    return ModelFailed(f"{answered}: it does not take this request.")


def no_api() -> PlumblineError:
    """For a good status with a web page in it."""
    return Misconfigured(
        "The address of the model server answers with a page and not with its API."
        " Check PLUMBLINE_OPENAI_BASE_URL: it mostly ends in /v1."
    )


def message_of(said: Mapping[str, Json] | None) -> str:
    """All words of an error's JSON, for looking for what it is about; never shown."""
    return " ".join(_code_and_message(said or {}))


def _code_and_message(said: Mapping[str, Json]) -> tuple[str, str]:
    """A plain code ("" for none) and the words of any of the forms that servers use."""
    error = said.get("error", said)
    if not isinstance(error, dict):
        return "", str(error or "")
    codes = (error.get("code"), error.get("type"), said.get("code"))
    plain = [str(c) for c in codes if isinstance(c, str | int) and _CODE.fullmatch(str(c))]
    words = (error.get("message"), error.get("detail"), error.get("type"), said.get("message"))
    return (plain[0] if plain else ""), " ".join(str(w) for w in words if w)

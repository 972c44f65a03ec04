"""One HTTP call to a platform, with its faults told in our own errors.

Bodies, headers and tokens never enter an error's text: it names the call and the status only.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx

from agent.errors import Unavailable

TIMEOUT: Final = httpx.Timeout(15.0, connect=5.0)
_EPOCH: Final = 1e9
"""A pause larger than this is a moment, not a number of seconds."""


def new_client(base_url: str) -> httpx.AsyncClient:
    """A client that keeps its connections; proxies of the environment are not used."""
    return httpx.AsyncClient(
        base_url=base_url, timeout=TIMEOUT, trust_env=False, verify=_trusted_roots()
    )


@functools.cache
def _trusted_roots() -> ssl.SSLContext:
    """Whom we trust: the same for every client, and 20 ms of work to read."""
    return httpx.create_ssl_context(trust_env=False)


async def send(client: httpx.AsyncClient, request: httpx.Request, name: str) -> httpx.Response:
    """Send once, never again by itself: a lost answer does not mean that nothing happened.

    Raises:
        Unavailable: time-out, lost connection, no HTTP answer.
    """
    try:
        return await client.send(request)
    except httpx.TransportError as error:
        raise Unavailable(f"{name}: {type(error).__name__}") from None


def json_object(response: httpx.Response, name: str) -> dict[str, Any]:
    """The answer's JSON object.

    Raises:
        Unavailable: the answer is no JSON object (a proxy's page).
    """
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise Unavailable(f"{name}: HTTP {response.status_code} without a JSON object")
    return body  # pyright: ignore[reportUnknownVariableType] -- JSON keys are text


def part(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object that stands under a name; empty when there is none."""
    inner = body.get(name)
    return inner if isinstance(inner, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- JSON keys are text


def named_pause(
    headers: Mapping[str, str], names: Sequence[str], now: float, default: float
) -> float:
    """How long the other side asks to wait, in seconds.

    The header may hold seconds (whole or not), an HTTP date or a moment in seconds since the
    epoch; `default` is for a missing or unreadable one.
    """
    for name in names:
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value)
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp()
            except ValueError:
                continue
        if seconds > _EPOCH:
            seconds -= now
        if 0 <= seconds < _EPOCH:
            return seconds
    return default

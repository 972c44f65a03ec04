"""Translates between API Gateway or function URL events and plain HTTP values."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl

MAX_BODY = 1_048_576
"""Bytes of the largest body taken: far above what either chat platform sends."""

_MOST_FIELDS = 50

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """A request with lower-case header names and its body as raw bytes."""

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    query: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back to the caller."""

    status: int
    body: str = ""

    def as_event(self) -> dict[str, object]:
        """The response as API Gateway takes it (both payload formats)."""
        return {
            "statusCode": self.status,
            "headers": {"content-type": JSON},
            "body": self.body,
            "isBase64Encoded": False,
        }


def read(event: object) -> Request | None:
    """The request inside an event of payload format 2.0 or 1.0; None when it can not be read.

    Headers and body may be null. A body that is not the base64 it claims to be, or is larger than
    MAX_BODY, is not read.
    """
    source = _mapping(event)
    http = _mapping(_mapping(source.get("requestContext")).get("http"))
    body = _body(source)
    if body is None or len(body) > MAX_BODY:
        return None
    return Request(
        method=_text(http.get("method") or source.get("httpMethod")).upper(),
        path=_text(source.get("rawPath") or http.get("path") or source.get("path")),
        headers=_headers(source.get("headers")) | _cookie(source.get("cookies")),
        body=body,
        query=_query(source),
    )


def _mapping(value: object) -> Mapping[object, object]:
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _headers(value: object) -> dict[str, str]:
    """Names in lower case. A name that comes twice keeps both values, so that it proves nothing."""
    found: dict[str, str] = {}
    for key, content in _mapping(value).items():
        if isinstance(key, str) and isinstance(content, str):
            name = key.lower()
            found[name] = f"{found[name]},{content}" if name in found else content
    return found


def _cookie(value: object) -> dict[str, str]:
    """Payload format 2.0 takes the cookies out of the headers."""
    if not isinstance(value, list):
        return {}
    parts = [part for part in cast("list[object]", value) if isinstance(part, str)]
    return {"cookie": "; ".join(parts)} if parts else {}


def _query(source: Mapping[object, object]) -> dict[str, str]:
    """The fields behind the question mark; a name that comes twice counts for nothing."""
    raw = source.get("rawQueryString")
    if not isinstance(raw, str):
        return _headers(source.get("queryStringParameters"))
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def _body(source: Mapping[object, object]) -> bytes | None:
    body = source.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        return None
    try:
        encoded = source.get("isBase64Encoded") is True
        return base64.b64decode(body, validate=True) if encoded else body.encode()
    except ValueError:
        return None

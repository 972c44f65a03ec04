"""Read HTTP requests the way both platforms do: JSON, forms and multipart uploads."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.requests import Request

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a multipart body."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request with its body read; body is {} when there is none."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Json
    raw: bytes
    uploads: dict[str, Upload] = field(default_factory=dict[str, Upload])
    repeated: tuple[tuple[str, str], ...] = ()
    """All query parameters in order, for those that may come several times."""

    @property
    def bearer(self) -> str:
        """The token of the Authorization header, empty when there is none."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if kind.lower() == "bearer" else ""


def _multipart(raw: bytes, content_type: str) -> tuple[Json, dict[str, Upload]]:
    found = re.search(r'boundary="?([^";]+)"?', content_type)
    fields: Json = {}
    uploads: dict[str, Upload] = {}
    if found is None:
        return fields, uploads
    for part in raw.split(b"--" + found.group(1).encode())[1:]:
        head, gap, data = part.partition(b"\r\n\r\n")
        if not gap:
            continue
        data = data[:-2] if data.endswith(b"\r\n") else data
        about = head.decode("utf-8", "replace")
        name = re.search(r'\bname="([^"]*)"', about)
        file_name = re.search(r'\bfilename="([^"]*)"', about)
        media = re.search(r"(?im)^content-type:\s*(\S+)", about)
        if name and file_name:
            kind = media.group(1) if media else "application/octet-stream"
            uploads[name.group(1)] = Upload(file_name.group(1), kind, data)
        elif name:
            fields[name.group(1)] = data.decode("utf-8", "replace")
    return fields, uploads


def parse_body(raw: bytes, content_type: str) -> tuple[Json, dict[str, Upload]]:
    """Parse a body by its content type.

    Raises:
        ValueError: JSON was announced or nothing was, and the bytes are no JSON object.
    """
    if not raw:
        return {}, {}
    if content_type.startswith("multipart/form-data"):
        return _multipart(raw, content_type)
    if content_type.startswith("application/x-www-form-urlencoded"):
        return dict(parse_qsl(raw.decode("utf-8"), keep_blank_values=True)), {}
    parsed: object = json.loads(raw)
    if not isinstance(parsed, dict):
        raise ValueError("the body is no JSON object")  # noqa: TRY004 - malformed input, not a type slip
    return cast("Json", parsed), {}


async def read(request: Request) -> Incoming:
    """Read a request; a body that can not be parsed comes as {"_malformed": true}."""
    raw = await request.body()
    try:
        body, uploads = parse_body(raw, request.headers.get("content-type", ""))
    except ValueError:
        body, uploads = {"_malformed": True}, {}
    return Incoming(
        method=request.method,
        path=request.url.path,
        query=dict(request.query_params),
        headers={key.lower(): value for key, value in request.headers.items()},
        body=body,
        raw=raw,
        uploads=uploads,
        repeated=tuple(request.query_params.multi_items()),
    )

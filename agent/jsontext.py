"""JSON texts of what is stored and compared: quick for nearly all values, complete for the rest.

msgspec is several times as fast as the standard library (ADR 0021); half of a surrogate pair, which
it refuses, goes the standard library's way. A number that is not finite is stored as null.
"""

from __future__ import annotations

import json
from typing import cast

import msgspec

from agent.domain import Json

_fast = msgspec.json.Encoder().encode
_sorted = msgspec.json.Encoder(order="sorted").encode
_slow = json.JSONEncoder(separators=(",", ":")).encode
_slow_sorted = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
_read = msgspec.json.Decoder().decode


def packed(value: Json) -> str:
    """The value as JSON text that can be stored, whatever its words hold.

    A lone surrogate, which has no UTF-8 form, stays behind its escape and comes back as it was.
    """
    try:
        return _fast(value).decode()
    except UnicodeEncodeError:
        return _slow(value)


def unpacked(text: object) -> Json:
    """What `packed` was given."""
    written = str(text)
    try:
        return cast(Json, _read(written))
    except msgspec.DecodeError:
        return cast(Json, json.loads(written))


def canonical(value: object) -> str:
    """The value as JSON text that does not depend on the order of names."""
    try:
        return _sorted(value).decode()
    except UnicodeEncodeError:
        return _slow_sorted(value)

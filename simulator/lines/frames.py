"""Feishu's websocket frames: the few protobuf fields they use, written and read by hand.

Layout (lark-oapi 1.7.5, ws/pb/pbbp2): SeqID 1, LogID 2, service 3, method 4 (0 control, 1 data),
headers 5 {key 1, value 2}, payload 8.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

CONTROL, DATA = 0, 1
_PAYLOAD, _HEADERS = 8, 5


@dataclass(frozen=True, slots=True)
class WireFrame:
    """One frame."""

    method: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    payload: bytes = b""
    service: int = 1


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _block(tag: int, data: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(data)) + data


def write(frame: WireFrame) -> bytes:
    """Write a frame."""
    numbers = ((1, 0), (2, 0), (3, frame.service), (4, frame.method))
    out = b"".join(_varint(tag << 3) + _varint(number) for tag, number in numbers)
    for key, value in frame.headers.items():
        out += _block(_HEADERS, _block(1, key.encode()) + _block(2, value.encode()))
    return out + (_block(_PAYLOAD, frame.payload) if frame.payload else b"")


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        value, at = _number(data, at)
        if key & 7 == 2:
            yield key >> 3, data[at : at + value]
            at += value
        else:
            yield key >> 3, value


def read(data: bytes) -> WireFrame:
    """Read a frame."""
    method, service, payload, headers = 0, 0, b"", dict[str, str]()
    for tag, value in _fields(data):
        if isinstance(value, int):
            method, service = (value if tag == 4 else method), (value if tag == 3 else service)
        elif tag == _HEADERS:
            pair = {n: part for n, part in _fields(value) if isinstance(part, bytes)}
            headers[pair[1].decode()] = pair[2].decode()
        elif tag == _PAYLOAD:
            payload = value
    return WireFrame(method, headers, payload, service)

"""Server-sent events out of pieces of bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

_MOST = 8 * 1024 * 1024
"""An event larger than this is none; our bound against a server that never ends a line."""


async def data_of(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event, wherever the pieces were cut.

    Lines end with LF or CR LF only: a bare U+2028 is a letter of the data. An event that the
    stream's end cut off is given as well. Raises ValueError for bytes that are no UTF-8 and for an
    event without end.
    """
    rest, lines = b"", list[str]()
    async for piece in pieces:
        rest += piece
        *whole, rest = rest.split(b"\n")
        for line in whole:
            for data in _take(line, lines):
                yield data
        if len(rest) > _MOST:
            raise ValueError("an event without end")
    for data in (*_take(rest, lines), *_take(b"", lines)):
        yield data


def _take(line: bytes, lines: list[str]) -> Iterator[str]:
    """Collect a data line; an empty line ends the event."""
    line = line.rstrip(b"\r")
    if line.startswith(b"data:"):
        lines.append(line[5:].decode().removeprefix(" "))
    elif not line and lines:
        yield "\n".join(lines)
        lines.clear()

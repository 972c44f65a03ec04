"""The child that reads documents: a path a line comes in, one reply for each goes out.

Started by rag.loaders.isolated. A format library that hangs, grows or dies takes this process with
it and nothing else: memory is capped, each step of a document has its own CPU seconds, files can
not be written, and sockets and further processes are refused.
"""

from __future__ import annotations

import dataclasses
import datetime
import os
import sys
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from rag.documents import DocumentRefused, Reading, RefusalReason
from rag.loaders import Beat, go_on, load
from rag.text import clean_text

HEAD = 8
"""Bytes in front of a reply that say how many follow, most significant first."""

_REFUSED_EVENTS = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system")
_MOST_OPEN_FILES = 64


class Reply(msgspec.Struct, omit_defaults=True):
    """What became of a file: a reading, or why there is none and what its uploader can do."""

    reading: Reading | None = None
    reason: RefusalReason = "damaged"
    next_step: str = ""


def main() -> None:
    """Serve until the input ends, or until a file took all the memory that there is."""
    memory, step_seconds = int(sys.argv[1]), int(sys.argv[2])
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # a library that prints does not write into a reply
        beat = _confine(memory, step_seconds)
        for line in sys.stdin.buffer:
            beat()
            reply, fit = _reply(Path(os.fsdecode(line.rstrip(b"\n"))), beat)
            _send(reply, replies)
            if not fit:
                return


def _reply(path: Path, beat: Beat) -> tuple[bytes, bool]:
    """The reply for one file, and whether this process is fit for another one."""
    try:
        reading = load(path.name, path.read_bytes(), beat)
        return msgspec.json.encode(Reply(_plain(reading))), True
    except DocumentRefused as refusal:
        reply = Reply(reason=refusal.reason, next_step=refusal.next_step)
    except OSError as error:
        reply = Reply(next_step=f"the file can not be read: {error.strerror or error}")
    except MemoryError:
        reply = Reply(reason="needs too much memory", next_step="split it into smaller files")
        return msgspec.json.encode(reply), False
    return msgspec.json.encode(reply), True


def _send(reply: bytes, replies: BinaryIO) -> None:
    replies.write(len(reply).to_bytes(HEAD, "big") + reply)
    replies.flush()


def _plain(reading: Reading) -> Reading:
    """The same with properties that any reply can carry.

    Nested values become empty lists: no property that is used has one, and aliases in YAML could
    make a few lines stand for gigabytes.
    """
    values = {clean_text(name): _value(value) for name, value in reading.properties.items()}
    return dataclasses.replace(reading, title=clean_text(reading.title), properties=values)


def _value(value: object) -> object:
    if isinstance(value, list):
        return [_single(item) for item in cast("list[object]", value)]
    return _single(value)


def _single(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return value if value is None or isinstance(value, (bool, int, float)) else []


# --- limits ------------------------------------------------------------------------------------


def _confine(memory: int, step_seconds: int) -> Beat:
    """Give up what a reader does not need; what to call at each step, so that it may go on.

    Where the system has no such limits the parent's clock is what is left.
    """
    sys.addaudithook(_refuse)
    try:
        import resource
    except ImportError:
        return go_on
    used = _address_space()
    _limit(resource.RLIMIT_AS, used + memory)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _MOST_OPEN_FILES)

    def beat() -> None:
        spent = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(spent.ru_utime + spent.ru_stime) + 1 + step_seconds
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))

    return beat


def _limit(kind: int, most: int) -> None:
    import resource

    before = resource.getrlimit(kind)[1]
    wanted = most if before == resource.RLIM_INFINITY else min(most, before)
    resource.setrlimit(kind, (wanted, wanted))


def _address_space() -> int:
    """Bytes of address space in use; 0 where the system does not tell, and then limits less."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event.startswith(_REFUSED_EVENTS):
        raise PermissionError(f"a reader of documents does not use {event}")


if __name__ == "__main__":
    main()

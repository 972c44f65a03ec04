"""Reading in a process of its own, with limits: a broken or hostile file costs itself alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

import msgspec

from rag.documents import DocumentRefused, Reading
from rag.loaders.reader_process import HEAD, Reply

_OUT_OF_TIME: int | None = getattr(signal, "SIGXCPU", None)
_AGAIN = "open it and save or export it again"
_COMMAND = (sys.executable, "-B", "-m", "rag.loaders.reader_process")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost.

    `memory` is bytes beside the reader's own (about 60 MB), `step_seconds` CPU seconds for one
    page, sheet, slide or other step that a loader reports (formats without steps: for all of it),
    `file_seconds` of the clock for the whole file, `output` bytes of what was read.
    """

    memory: int = 224 * 2**20
    step_seconds: int = 3
    file_seconds: float = 180.0
    output: int = 24 * 2**20


class IsolatedReader:
    """Reads files one after the other in a child that is started when the first one comes.

    The child serves many files. One that dies loses only the file in hand: the next file gets a
    new child, and a file that may have suffered from those before it is tried once more alone.
    """

    def __init__(self, limits: Limits = Limits(), command: tuple[str, ...] = _COMMAND) -> None:
        self._limits = limits
        self._command = command
        self._child: subprocess.Popen[bytes] | None = None
        self._served = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child, if there is one, with all that it may have started."""
        if self._child is not None:
            _kill(self._child)
            self._child.communicate()
            self._child = None
            self._served = 0

    def read(self, path: Path) -> Reading:
        """What is in a file.

        Raises:
            DocumentRefused: there is nothing to read, or reading cost more than the limits.
        """
        fresh = self._served == 0
        try:
            return self._read(path)
        except DocumentRefused as refusal:
            if fresh or self._child is not None or refusal.reason == "takes too long":
                raise
        return self._read(path)

    def _read(self, path: Path) -> Reading:
        child = self._child or self._start()
        self._served += 1
        try:
            reply = self._ask(child, path)
        except DocumentRefused:
            self.close()
            raise
        if reply.reason == "needs too much memory":
            self.close()
        if reply.reading is None:
            raise DocumentRefused(reply.reason, reply.next_step)
        return reply.reading

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {  # no secret of ours is in reach of a document
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OPENBLAS_NUM_THREADS": "1",
            "LC_ALL": "C.UTF-8",
        }
        self._child = subprocess.Popen(  # noqa: S603  our own interpreter and module
            (*self._command, str(self._limits.memory), str(self._limits.step_seconds)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        return self._child

    def _ask(self, child: subprocess.Popen[bytes], path: Path) -> Reply:
        late = threading.Event()

        def expire() -> None:
            late.set()
            _kill(child)

        timer = threading.Timer(self._limits.file_seconds, expire)
        timer.start()
        try:
            raw = self._exchange(child, path)
        except (BrokenPipeError, EOFError):
            raise _death(child, late=late.is_set()) from None
        finally:
            timer.cancel()
            timer.join()
        try:
            return msgspec.json.decode(raw, type=Reply)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise DocumentRefused("damaged", _AGAIN) from error

    def _exchange(self, child: subprocess.Popen[bytes], path: Path) -> bytes:
        """A file's reply as it came; EOFError when the child is gone."""
        asked, replies = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
        asked.write(os.fsencode(path.resolve()) + b"\n")
        asked.flush()
        size = int.from_bytes(_exactly(replies, HEAD), "big")
        if size > self._limits.output:
            raise DocumentRefused("too large", "it holds too much text; split it")
        return _exactly(replies, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _death(child: subprocess.Popen[bytes], *, late: bool) -> DocumentRefused:
    _kill(child)
    if late or (_OUT_OF_TIME is not None and child.wait() == -_OUT_OF_TIME):
        return DocumentRefused("takes too long", "split it, or save it in a simpler format")
    return DocumentRefused("damaged", _AGAIN)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a child with all that it may have started."""
    if sys.platform == "win32":
        child.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)

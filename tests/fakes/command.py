"""`plumbline` in a process of its own, as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import httpx

from handlers.settings import Settings, variable_of

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 40.0
"""Seconds a command may take to start or to end."""


def environment(settings: Settings) -> dict[str, str]:
    """The variables that make these settings."""
    return {
        variable_of(f.name): str(value)
        for f in fields(settings)
        if (value := getattr(settings, f.name)) != f.default
    }


@dataclass(frozen=True, slots=True)
class Started:
    """A command that runs, in a process group of its own; its output goes to two files."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def said(self) -> str:
        """All of its output so far."""
        return self.out.read_text(encoding="utf-8") + self.err.read_text(encoding="utf-8")

    def wait_for(self, words: str) -> str:
        """Its output, once it holds the words."""
        for _ in range(int(LIMIT / 0.05)):
            if words in self.said():
                return self.said()
            assert self.process.poll() is None, self.said()
            time.sleep(0.05)
        raise AssertionError(f"{words!r} did not come: {self.said()}")

    def children(self) -> list[int]:
        """The processes it has started."""
        pid = self.process.pid
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def interrupt(self) -> int:
        """Press Ctrl-C, which reaches the whole group; returns the exit status."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(LIMIT)


@contextmanager
def plumbline(
    *arguments: str, env: Mapping[str, str], folder: Path
) -> Generator[Started, None, None]:
    """Start a command; whatever is left of it is killed at the end of the block."""
    out, err = folder / "stdout", folder / "stderr"
    command = [sys.executable, "-m", "handlers.cli.main", *arguments]
    with out.open("wb") as one, err.open("wb") as two:
        process = subprocess.Popen(
            command, cwd=ROOT, env=dict(env), stdout=one, stderr=two, start_new_session=True
        )
        with process:
            try:
                yield Started(process, out, err)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


def listening(url: str) -> bool:
    """Whether somebody answers there."""
    try:
        return httpx.get(url, trust_env=False, timeout=5).status_code < 500
    except httpx.TransportError:
        return False

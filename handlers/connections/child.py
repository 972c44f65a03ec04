"""Keeps a child process running: started anew with a growing pause whenever it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from agent.ports import Clock
from handlers.settings import Settings

log = logging.getLogger(__name__)

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between two starts: doubled each time, up to this."""
STEADY = 60.0
"""Seconds a child has to live for the pause to start small again."""
PATIENCE = 3.0
"""Seconds a child may take to end when it is told to."""
ROOT = Path(__file__).resolve().parents[2]


def command(module: str) -> tuple[str, ...]:
    """How a module of ours is run by this interpreter."""
    return sys.executable, "-m", module


def settings_line(settings: Settings) -> bytes:
    """The settings as the line a child reads; over a pipe, so that no list of processes has them.

    Folders are made absolute: the child runs in the repository's folder.
    """
    state = str(Path(settings.state).resolve()) if settings.state else ""
    absolute = replace(settings, home=str(Path(settings.home).resolve()), state=state)
    return json.dumps(asdict(absolute)).encode() + b"\n"


async def keep_running(name: str, program: Sequence[str], line: bytes, clock: Clock) -> None:
    """Run the program until cancelled; the child ends with its open input, and with us."""
    pause = FIRST_PAUSE
    while True:
        began = clock.monotonic()
        status = await _run(program, line)
        if clock.monotonic() - began >= STEADY:
            pause = FIRST_PAUSE
        log.error("connection=%s ended status=%s next_try_in=%gs", name, status, pause)
        await clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def _run(program: Sequence[str], line: bytes) -> int:
    process = await asyncio.create_subprocess_exec(
        *program, stdin=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdin is not None  # noqa: S101 - it was asked for above
    try:
        process.stdin.write(line)
        return await process.wait()
    finally:
        process.stdin.close()
        if process.returncode is None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()

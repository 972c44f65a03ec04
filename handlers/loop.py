"""One event loop for the whole process, in a thread of its own, for synchronous entry points.

Whatever a store binds to a loop or a thread stays valid from one invocation to the next, and an
entry point may be called from any thread, also beside another running loop.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import sys
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

COLLECT_AFTER = 50_000
"""Objects made and kept before the collector looks for cycles; Python's own figure is 700."""

_guard = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, or what it raised. Not to be called from the loop itself."""
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


def prepare(loop: asyncio.AbstractEventLoop) -> None:
    """Set a process and its loop up for many short turns (docs/performance.md).

    A turn leaves no reference cycles (tests/unit/agent/test_turn_cost.py), so the collector looks
    rarely, and never at what was imported before. A new task runs at once up to its first wait
    where Python can (3.13 and later); else a turn's tool calls start behind everything that was
    ready before them, and in a burst of sessions the slowest wait twice as long.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    if sys.version_info >= (3, 13):
        loop.set_task_factory(asyncio.eager_task_factory)


def _loop() -> asyncio.AbstractEventLoop:
    with _guard:
        if not _loops:
            loop = asyncio.new_event_loop()
            prepare(loop)
            thread = threading.Thread(target=loop.run_forever, name="plumbline-loop", daemon=True)
            thread.start()
            _loops.append(loop)
            atexit.register(_close, loop, thread)
        return _loops[0]


def _close(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Let the loop end with the process; work that still runs on it is given up."""
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=1.0)
    if not thread.is_alive():
        loop.close()

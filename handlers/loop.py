"""One event loop for the whole process, in a thread of its own, for synchronous entry points.

Whatever a store binds to a loop or a thread stays valid from one invocation to the next, and an
entry point may be called from any thread, also beside another running loop.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_guard = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, or what it raised. Not to be called from the loop itself."""
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


def _loop() -> asyncio.AbstractEventLoop:
    with _guard:
        if not _loops:
            loop = asyncio.new_event_loop()
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

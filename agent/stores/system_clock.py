"""The machine's own time and chance: the only place that asks for either."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable


class SystemClock:
    """Wall and monotonic time of this machine."""

    __slots__ = ()

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never run backwards, from an unnamed start."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; a value of 0 or less only gives way to other tasks."""
        await asyncio.sleep(max(seconds, 0.0))

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.Handle:
        """Make a call from the running event loop after so many seconds."""
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, call) if seconds > 0 else loop.call_soon(call)


class RandomIds:
    """Identifiers of 96 random bits from the operating system, as 24 hexadecimal digits."""

    __slots__ = ()

    def new(self) -> str:
        """A fresh identifier."""
        return os.urandom(12).hex()

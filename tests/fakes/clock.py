"""A clock that a test turns by hand, and ids that count."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable


class FakeClock:
    """Time that stands still until it is moved.

    With `auto` (the default) `sleep` moves the time itself and gives way once; without it, `sleep`
    waits until `advance` has moved the time far enough. Calls for `later` are made either way when
    the time has come.
    """

    def __init__(self, start: float = 1_764_547_200.0, *, auto: bool = True) -> None:
        self._start = start
        self._elapsed = 0.0
        self._auto = auto
        self._timers: list[tuple[float, int, FakeTimer]] = []
        self._count = 0

    def now(self) -> float:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return 1_000.0 + self._elapsed

    def advance(self, seconds: float) -> None:
        """Move the time on and make every call whose time has come."""
        self._elapsed += seconds
        while self._timers and self._timers[0][0] <= self._elapsed:
            heapq.heappop(self._timers)[2].ring()

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back; monotonic time does not notice."""
        self._start += seconds

    async def sleep(self, seconds: float) -> None:
        if self._auto or seconds <= 0:
            self.advance(max(seconds, 0.0))
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.later(seconds, lambda: None if future.done() else future.set_result(None))
        await future

    def later(self, seconds: float, call: Callable[[], None]) -> FakeTimer:
        self._count += 1
        timer = FakeTimer(call)
        if seconds <= 0:
            asyncio.get_running_loop().call_soon(timer.ring)
            return timer
        heapq.heappush(self._timers, (self._elapsed + seconds, self._count, timer))
        return timer


class FakeTimer:
    """A call that a FakeClock still has to make; None once it was cancelled."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def ring(self) -> None:
        if self.call is not None:
            self.call()

    def cancel(self) -> None:
        self.call = None


class NoTimers:
    """The part of a clock that nobody uses in this test."""

    def later(self, seconds: float, call: Callable[[], None]) -> FakeTimer:
        raise AssertionError(f"{call} was to be called after {seconds} s")


class CountingIds:
    """Ids in order: prefix000001, prefix000002 …"""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count:06d}"

"""A clock that a test turns by hand, and ids that count."""

from __future__ import annotations

import asyncio
import heapq


class FakeClock:
    """Time that stands still until it is moved.

    With `auto` (the default) `sleep` moves the time itself and gives way once; without it, `sleep`
    waits until `advance` has moved the time far enough.
    """

    def __init__(self, start: float = 1_764_547_200.0, *, auto: bool = True) -> None:
        self._start = start
        self._elapsed = 0.0
        self._auto = auto
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return 1_000.0 + self._elapsed

    def advance(self, seconds: float) -> None:
        """Move the time on and wake every sleeper whose time has come."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back; monotonic time does not notice."""
        self._start += seconds

    async def sleep(self, seconds: float) -> None:
        if self._auto or seconds <= 0:
            self.advance(max(seconds, 0.0))
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self._elapsed + seconds, self._count, future))
        await future


class CountingIds:
    """Ids in order: prefix000001, prefix000002 …"""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count:06d}"

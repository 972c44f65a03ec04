"""The simulator's clock: wall time plus whatever tests have advanced it by."""

import asyncio
import time


class SimClock:
    """Wall clock with an offset that only grows.

    Lifetimes, rate limits, message times and redeliveries count on it. Signatures do not: the bot
    checks their freshness against its own wall clock.
    """

    def __init__(self) -> None:
        self._offset = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Return simulated unix seconds."""
        return time.time() + self._offset

    @staticmethod
    def wall() -> float:
        """Return real unix seconds, for signatures."""
        return time.time()

    def advance(self, seconds: float) -> None:
        """Move the clock forward and wake everyone who sleeps on it.

        Raises:
            ValueError: seconds is negative.
        """
        if seconds < 0:
            raise ValueError("the clock only moves forward")
        self._offset += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep_until(self, moment: float) -> None:
        """Return when the simulated time has reached moment."""
        while (left := moment - self.now()) > 0:
            try:
                await asyncio.wait_for(self._moved.wait(), left)
            except TimeoutError:
                continue

"""How long the parts of a turn took."""

from __future__ import annotations

from collections.abc import Mapping

from agent.ports import Clock


class Stopwatch:
    """Milliseconds by name since it was made. A name that comes again is added up."""

    __slots__ = ("_begun", "_clock", "_times")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun = clock.monotonic()
        self._times: dict[str, float] = {}

    def now(self) -> float:
        """A moment, to be handed to `since` later."""
        return self._clock.monotonic()

    def since(self, name: str, moment: float) -> None:
        """Add the time from `moment` until now to `name`."""
        self._times[name] = self._times.get(name, 0.0) + (self._clock.monotonic() - moment) * 1e3

    def once(self, name: str) -> None:
        """Note the time since the start under `name`, the first time only."""
        if name not in self._times:
            self._times[name] = (self._clock.monotonic() - self._begun) * 1e3

    @property
    def times(self) -> Mapping[str, float]:
        """Milliseconds by name, to a tenth."""
        return {name: round(ms, 1) for name, ms in self._times.items()}

"""Rate limits as the platforms count them: sliding windows and token buckets."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class Windows:
    """At most `most` calls for one key in any `seconds`."""

    most: int
    seconds: float
    _seen: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])

    def take(self, key: str, now: float) -> float:
        """Count one call; return 0 when allowed, else the seconds to wait (not counted then)."""
        seen = self._seen.setdefault(key, deque())
        while seen and seen[0] <= now - self.seconds:
            seen.popleft()
        if len(seen) >= self.most:
            return seen[0] + self.seconds - now
        seen.append(now)
        return 0.0


@dataclass(slots=True)
class Buckets:
    """One call in `seconds` for one key, with bursts of up to `burst`."""

    seconds: float
    burst: int
    _full: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    def take(self, key: str, now: float) -> float:
        """Count one call; return 0 when allowed, else the seconds to wait (not counted then)."""
        left, then = self._full.get(key, (float(self.burst), now))
        left = min(float(self.burst), left + (now - then) / self.seconds)
        if left < 1.0:
            self._full[key] = (left, now)
            return (1.0 - left) * self.seconds
        self._full[key] = (left - 1.0, now)
        return 0.0

"""A provider of tokens whose refresh tokens work once; the second use ends the whole family."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count

from agent.errors import PlumblineError, Unavailable
from agent.ports import Clock
from connectors.access import SignInNeeded
from connectors.holdings import Grant

LIFE = 7_200.0


@dataclass(slots=True)
class OnceIssuer:
    """Counts refreshes; `faults` strike the next ones.

    A fault of `lost` lets the refresh happen and loses its answer, any other is raised before it.
    """

    clock: Clock
    refreshes: int = 0
    revoked_families: int = 0
    revoked: list[str] = field(default_factory=list[str])
    faults: list[PlumblineError] = field(default_factory=list[PlumblineError])
    pause: float = 0.0
    _live: set[str] = field(default_factory=set[str])
    _spent: set[str] = field(default_factory=set[str])
    _numbers: count[int] = field(default_factory=lambda: count(1))

    lost = Unavailable("the answer was lost")

    def first(self) -> Grant:
        """What a sign-in gives."""
        n = next(self._numbers)
        refresh = f"refresh-{n}"
        self._live.add(refresh)
        now = self.clock.now()
        scopes = frozenset(("read", "offline_access"))
        return Grant(f"access-{n}", scopes, now + LIFE, refresh, now + 7 * 86_400)

    async def refresh(self, grant: Grant) -> Grant:
        self.refreshes += 1
        await asyncio.sleep(self.pause)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None and fault is not self.lost:
            raise fault
        if grant.refresh in self._spent:
            self.revoked_families += 1
            self._live.clear()
            raise SignInNeeded("used twice")
        if grant.refresh not in self._live:
            raise SignInNeeded("unknown")
        self._live.discard(grant.refresh)
        self._spent.add(grant.refresh)
        fresh = self.first()
        if fault is not None:
            raise fault
        return fresh

    async def revoke(self, grant: Grant) -> None:
        self.revoked.append(grant.access)
        self._live.discard(grant.refresh)

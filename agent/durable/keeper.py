"""Renews the leases that this process holds, all with one timer; a lost one stops its turn."""

from __future__ import annotations

import asyncio
from types import TracebackType

from agent.durable import lock
from agent.durable.lock import LEASE, RENEW_AT, Lease
from agent.errors import ConditionFailed, Unavailable
from agent.ports import Clock, Ids, Table, Timer

TRY_AGAIN = 1.0
"""Seconds after which a renewal without an answer is tried a second and last time."""


class LeaseKeeper:
    """Keeps leases while their turns run. It belongs to the event loop that it is used on."""

    def __init__(self, table: Table, clock: Clock, ids: Ids) -> None:
        self._table = table
        self._clock = clock
        self._ids = ids
        self._held: set[_Held] = set()
        self._timer: Timer | None = None

    def keeping(self, lease: Lease) -> _Held:
        """An async context in which the lease is renewed in time.

        A renewal that is refused, or has no answer twice in a row, cancels the body; the context
        then raises ConditionFailed in place of the body's result.
        """
        return _Held(self, lease)

    def enter(self, held: _Held) -> None:
        """Begin to renew."""
        held.due = self._clock.monotonic() + LEASE * RENEW_AT
        self._held.add(held)
        if self._timer is None:
            self._wake()

    def leave(self, held: _Held) -> None:
        """Renew no more."""
        self._held.discard(held)
        if not self._held and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        """Set the one timer for the lease that is due first."""
        if self._timer is not None:
            self._timer.cancel()
        waiting = [held.due for held in self._held if not held.busy]
        self._timer = None
        if waiting:
            wait = max(min(waiting) - self._clock.monotonic(), 0.0)
            self._timer = self._clock.later(wait, self._renew_due)

    def _renew_due(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        for held in self._held:
            if not held.busy and held.due <= now:
                held.busy = True  # before the task is made: an eager one may end at once
                held.renewing = asyncio.create_task(self._renew(held))
        self._wake()

    async def _renew(self, held: _Held) -> None:
        try:
            held.lease = await lock.renew(self._table, self._clock, self._ids, held.lease)
        except Unavailable as fault:
            if held.failed:
                held.lost(fault)
            held.failed, pause = True, TRY_AGAIN
        except Exception as fault:  # noqa: BLE001  whatever it is, nobody renews any more
            held.lost(fault)
            return
        else:
            held.failed, pause = False, LEASE * RENEW_AT
        held.busy = False
        held.due = self._clock.monotonic() + pause
        self._wake()


class _Held:
    """One lease and the task that works under it."""

    __slots__ = ("_body", "_fault", "_keeper", "busy", "due", "failed", "lease", "renewing")

    def __init__(self, keeper: LeaseKeeper, lease: Lease) -> None:
        self._keeper = keeper
        self._body: asyncio.Task[object] | None = None
        self._fault: Exception | None = None
        self.lease = lease
        self.due = 0.0
        self.failed = self.busy = False
        self.renewing: asyncio.Task[None] | None = None

    def lost(self, fault: Exception) -> None:
        """Stop the body: the lease is another's now, or nobody knows."""
        if self._body is not None and self._fault is None:
            self._fault = fault
            self._body.cancel()

    async def __aenter__(self) -> None:
        self._body = asyncio.current_task()
        self._keeper.enter(self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._keeper.leave(self)
        body, self._body = self._body, None
        if self.renewing is not None and not self.renewing.done():
            self.renewing.cancel()
            await asyncio.wait((self.renewing,))
        if body is not None and self._fault is not None and kind is asyncio.CancelledError:
            body.uncancel()
            raise ConditionFailed("the session was taken over") from self._fault

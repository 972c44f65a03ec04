"""The session's fenced lease: who may work, and how late an old holder can still write.

The fence protects, the clock only decides when to try (DURABILITY.md, section 1). The item is never
deleted by release, so that its fence only grows. A HANDOFF with its `successor` is respected like a
held lock: nobody else takes it before the lease runs out.
"""

from __future__ import annotations

from agent.durable import keys
from agent.durable.records import check_format, expiry, new_item, number_of, text_of, time_of
from agent.errors import ConditionFailed, Unavailable
from agent.ports import Absent, Change, Clock, Compare, Ids, Item, Table, Update
from agent.values import value

LEASE = 30.0
"""Seconds a lease lasts from the moment its request was sent."""
MARGIN = 5.0
"""Seconds a contender waits beyond another's lease: wall clocks differ."""
RENEW_AT = 0.4
"""The part of a lease after which its holder renews it."""


@value
class Lease:
    """A lock that is held.

    `deadline` counts on the holder's monotonic clock from before the request was sent, so the
    holder always believes in a shorter lease than the contenders.
    """

    session: str
    owner: str
    rvn: str
    fence: int
    deadline: float

    def remaining(self, clock: Clock) -> float:
        """Seconds that are left; negative when the lease is over."""
        return self.deadline - clock.monotonic()

    def wants_renewal(self, clock: Clock) -> bool:
        """Whether the holder should renew now."""
        return self.remaining(clock) <= LEASE * (1 - RENEW_AT)


async def acquire(
    table: Table, clock: Clock, ids: Ids, session: str, owner: str, org: str
) -> Lease | None:
    """Take the session's lock; None when somebody else holds it or was faster.

    Args:
        table: Where the lock stands.
        clock: The holder's clock.
        ids: Gives the random number that tells one's own write from another's.
        session: The session to lock.
        owner: Who takes it, for people who look at the table.
        org: The organisation the session belongs to.

    Raises:
        Unavailable: the table gave no answer, not even to a second look.
    """
    key = keys.lock(session)
    stored = await table.get(key)
    began, now = clock.monotonic(), clock.now()
    if stored is None:
        fence = 1
    elif _is_taken(check_format(stored, "lock"), now):
        return None
    else:
        fence = number_of(stored, "fence") + 1
    rvn = ids.new()
    item = new_item(key, "lock", org, now)
    item["owner"] = owner
    item["rvn"] = rvn
    item["fence"] = fence
    item["lease_until"] = now + LEASE
    item["state"] = "HELD"
    item["due_pk"], item["due_sk"] = keys.due(session, now + LEASE + MARGIN)
    seen = Absent() if stored is None else Compare("rvn", "=", text_of(stored, "rvn"))
    try:
        await table.put_if(item, (seen,))
    except ConditionFailed:
        if not await _is_mine(table, session, rvn):
            return None
    except Unavailable:
        if not await _is_mine(table, session, rvn):
            raise
    return Lease(session, owner, rvn, fence, began + LEASE)


async def renew(table: Table, clock: Clock, ids: Ids, lease: Lease) -> Lease:
    """The lease with a new full term.

    Raises:
        ConditionFailed: it was lost to another holder, or released.
        Unavailable: the table gave no answer; after a second time the holder stops its work.
    """
    began, now, rvn = clock.monotonic(), clock.now(), ids.new()
    due_pk, due_sk = keys.due(lease.session, now + LEASE + MARGIN)
    change = Change(
        set={
            "rvn": rvn,
            "lease_until": now + LEASE,
            "exp": expiry("lock", now),
            "due_pk": due_pk,
            "due_sk": due_sk,
        }
    )
    try:
        await table.update_if(keys.lock(lease.session), change, _held(lease))
    except (ConditionFailed, Unavailable):
        if not await _is_mine(table, lease.session, rvn):
            raise
    return Lease(lease.session, lease.owner, rvn, lease.fence, began + LEASE)


async def release(table: Table, clock: Clock, lease: Lease) -> bool:
    """Give the lock back; False when it was no longer held under this lease's fence."""
    write = release_write(clock, lease)
    try:
        await table.update_if(write.key, write.change, write.when)
    except ConditionFailed:
        return False
    return True


def release_write(clock: Clock, lease: Lease) -> Update:
    """The release as part of a transaction."""
    change = Change(
        set={"state": "FREE", "exp": expiry("lock", clock.now())}, remove=("due_pk", "due_sk")
    )
    return Update(keys.lock(lease.session), change, _held(lease))


def _held(lease: Lease) -> tuple[Compare, Compare]:
    return Compare("fence", "=", lease.fence), Compare("state", "=", "HELD")


def _is_taken(item: Item, now: float) -> bool:
    return item["state"] != "FREE" and now <= time_of(item, "lease_until") + MARGIN


async def _is_mine(table: Table, session: str, rvn: str) -> bool:
    """Whether the write with this random number arrived, whatever the answer said."""
    item = await table.get(keys.lock(session))
    return item is not None and item.get("rvn") == rvn

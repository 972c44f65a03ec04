"""The lease: one valid fence at a time, fences that only grow, and answers that get lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent.durable import keys, lock
from agent.durable.lock import LEASE, MARGIN, Lease
from agent.errors import ConditionFailed, Unavailable
from agent.ports import Change, Item, Key
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.faulty_table import Fault, FaultyTable


class Setting:
    """A table, a clock, and contenders for one session."""

    def __init__(self) -> None:
        self.table = FaultyTable()
        self.clock = FakeClock()
        self.ids = CountingIds()

    async def acquire(self, owner: str = "w1") -> Lease | None:
        return await lock.acquire(self.table, self.clock, self.ids, "sid", owner, "hengxing")

    async def held(self, owner: str = "w1") -> Lease:
        lease = await self.acquire(owner)
        assert lease is not None
        return lease

    async def renew(self, lease: Lease) -> Lease:
        return await lock.renew(self.table, self.clock, self.ids, lease)


@pytest.fixture
def here() -> Setting:
    return Setting()


async def test_the_first_gets_fence_1_and_the_second_nothing(here: Setting) -> None:
    lease = await here.held("w1")
    assert (lease.fence, lease.remaining(here.clock)) == (1, LEASE)
    assert await here.acquire("w2") is None


async def test_a_lease_is_taken_over_only_after_its_end_and_the_margin(here: Setting) -> None:
    await here.held("w1")
    here.clock.advance(LEASE + MARGIN)
    assert await here.acquire("w2") is None
    here.clock.advance(0.01)
    assert (await here.held("w2")).fence == 2


async def test_a_released_lock_is_free_at_once_and_keeps_counting(here: Setting) -> None:
    first = await here.held()
    assert await lock.release(here.table, here.clock, first)
    assert not await lock.release(here.table, here.clock, first)
    assert (await here.held("w2")).fence == 2
    assert not await lock.release(here.table, here.clock, first)
    assert await here.acquire("w3") is None


async def test_renewing_gives_a_full_term_and_keeps_the_fence(here: Setting) -> None:
    lease = await here.held()
    assert not lease.wants_renewal(here.clock)
    here.clock.advance(LEASE * 0.4)
    assert lease.wants_renewal(here.clock)
    renewed = await here.renew(lease)
    assert (renewed.fence, renewed.remaining(here.clock)) == (1, LEASE)
    here.clock.advance(LEASE)
    assert await here.acquire("w2") is None


async def test_renewing_what_was_lost_or_released_is_refused(here: Setting) -> None:
    lost = await here.held("w1")
    here.clock.advance(LEASE + MARGIN + 1)
    taken = await here.held("w2")
    with pytest.raises(ConditionFailed):
        await here.renew(lost)
    await lock.release(here.table, here.clock, taken)
    with pytest.raises(ConditionFailed):
        await here.renew(taken)


async def test_the_holder_counts_from_before_the_request(here: Setting) -> None:
    class SlowTable(FaultyTable):
        def _after(self) -> None:
            here.clock.advance(4.0)

    here.table = SlowTable()
    lease = await here.held()
    assert lease.remaining(here.clock) == LEASE - 4
    renewed = await here.renew(lease)
    assert renewed.remaining(here.clock) == LEASE - 4


async def test_a_jump_of_the_wall_clock_does_not_lengthen_a_lease(here: Setting) -> None:
    lease = await here.held()
    here.clock.advance(10)
    here.clock.step_wall(-3_600)
    assert lease.remaining(here.clock) == LEASE - 10


@pytest.mark.parametrize("fault", ["lost answer", "repeated"])
async def test_a_write_that_arrived_is_found_out_by_a_look(here: Setting, fault: Fault) -> None:
    here.table.fault = fault
    lease = await here.held()
    here.table.fault = fault
    assert (await here.renew(lease)).fence == 1
    assert await here.acquire("w2") is None


async def test_a_write_that_did_not_arrive_says_so(here: Setting) -> None:
    here.table.fault = "lost request"
    with pytest.raises(Unavailable):
        await here.acquire()
    lease = await here.held()
    here.table.fault = "lost request"
    with pytest.raises(Unavailable):
        await here.renew(lease)


async def test_of_two_who_look_at_once_one_wins(here: Setting) -> None:
    class Together(FaultyTable):
        async def get(self, key: Key) -> Item | None:
            item = await super().get(key)
            await asyncio.sleep(0)
            return item

    here.table = Together()
    for _ in range(3):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(here.acquire(f"w{n}")) for n in range(5)]
        won = [lease for lease in (task.result() for task in tasks) if lease is not None]
        assert len(won) == 1
        await lock.release(here.table, here.clock, won[0])


async def test_a_hand_over_is_kept_for_its_successor_until_the_lease_ends(here: Setting) -> None:
    await here.held()
    change = Change(set={"state": "HANDOFF", "successor": "turn/1"})
    await here.table.update_if(keys.lock("sid"), change)
    assert await here.acquire("w2") is None
    here.clock.advance(LEASE + MARGIN + 0.01)
    assert (await here.held("w2")).fence == 2


async def test_a_held_lock_is_due_when_it_could_be_taken_over(here: Setting) -> None:
    lease = await here.held()
    partition, time = keys.due("sid", here.clock.now() + LEASE + MARGIN)
    assert await here.table.query_index("due", partition, up_to=time) == (keys.lock("sid"),)
    await lock.release(here.table, here.clock, lease)
    assert await here.table.query_index("due", partition) == ()


@dataclass
class Contender:
    """What a contender believes, and the model's view of its time."""

    lease: Lease | None = None


WHO = st.integers(0, 3)
FAULTS = st.sampled_from([None, None, "lost request", "lost answer", "repeated"])


class LockMachine(RuleBasedStateMachine):
    """Four contenders with lost answers and time that passes, against a list of fences."""

    def __init__(self) -> None:
        super().__init__()
        self.here = Setting()
        self.runner = asyncio.Runner()
        self.contenders = [Contender() for _ in range(4)]
        self.fences: list[int] = []

    def teardown(self) -> None:
        self.runner.close()

    @rule(who=WHO, fault=FAULTS)
    def acquire(self, who: int, fault: Fault | None) -> None:
        held = [c for c in self.contenders if c.lease and c.lease.remaining(self.here.clock) >= 0]
        self.here.table.fault = fault
        try:
            lease = self.runner.run(self.here.acquire(f"w{who}"))
        except Unavailable:
            return
        finally:
            self.here.table.fault = None
        if lease is None:
            return
        assert not held
        assert not self.fences or lease.fence > self.fences[-1]
        self.fences.append(lease.fence)
        self.contenders[who].lease = lease

    @rule(who=WHO, fault=FAULTS)
    def renew(self, who: int, fault: Fault | None) -> None:
        old = self.contenders[who].lease
        if old is None:
            return
        self.here.table.fault = fault
        try:
            lease = self.runner.run(self.here.renew(old))
        except ConditionFailed:
            assert fault is not None or old.fence < self.fences[-1]
            self.contenders[who].lease = None
        except Unavailable:
            return
        else:
            assert lease.fence == old.fence == self.fences[-1]
            self.contenders[who].lease = lease
        finally:
            self.here.table.fault = None

    @rule(who=WHO)
    def release(self, who: int) -> None:
        lease = self.contenders[who].lease
        if lease is None:
            return
        self.contenders[who].lease = None
        released = self.runner.run(lock.release(self.here.table, self.here.clock, lease))
        assert released == (lease.fence == self.fences[-1])

    @rule(seconds=st.sampled_from([0.5, 5.0, 12.0, LEASE, LEASE + MARGIN + 0.1]))
    def wait(self, seconds: float) -> None:
        self.here.clock.advance(seconds)

    @invariant()
    def at_most_one_holder_may_still_believe(self) -> None:
        believing = [
            c for c in self.contenders if c.lease and c.lease.remaining(self.here.clock) > 0
        ]
        assert len(believing) <= 1


TestLockMachine = LockMachine.TestCase
TestLockMachine.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)

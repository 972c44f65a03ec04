"""The inbox: one turn a message, in the order of the messages, ended once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.durable import inbox, keys, lock
from agent.durable.lock import Lease
from agent.durable.records import TurnRecord, Versions
from agent.durable.snapshot import Exchange, Snapshot, save
from agent.errors import ConditionFailed, Unavailable
from agent.ports import Change, Put
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.faulty_table import Fault, FaultyTable
from tests.fakes.turns import question


class Setting:
    """A table, a clock and one session's lock."""

    def __init__(self) -> None:
        self.table = FaultyTable()
        self.clock = FakeClock()
        self.ids = CountingIds()

    async def accept(self, message: str = "om_1", at: float = 1.0) -> inbox.Accepted:
        return await inbox.accept(self.table, self.clock, question(message, at), "ev")

    async def lease(self, session: str) -> Lease:
        lease = await lock.acquire(self.table, self.clock, self.ids, session, "w", "hengxing")
        assert lease is not None
        return lease

    async def pending(self, session: str) -> TurnRecord:
        record = await inbox.oldest_pending(self.table, session)
        assert record is not None
        return record

    async def begun(self) -> tuple[TurnRecord, Lease]:
        accepted = await self.accept()
        lease = await self.lease(accepted.session)
        record = await self.pending(accepted.session)
        return await inbox.start(self.table, self.clock, record, lease.fence), lease


@pytest.fixture
def here() -> Setting:
    return Setting()


def note(record: TurnRecord) -> Put:
    """Stands for a sealed answer."""
    key = keys.answer(record.turn)
    return Put({"pk": key.pk, "sk": key.sk, "words": "x"})


DELIVERIES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=25)


@given(DELIVERIES)
async def test_any_deliveries_make_one_turn_each_in_the_order_of_the_messages(
    deliveries: list[tuple[int, int]],
) -> None:
    here = Setting()
    seen: set[int] = set()
    session = ""
    for message, event in deliveries:
        accepted = await inbox.accept(
            here.table, here.clock, question(f"om_{message}", 100.0 - message), f"ev_{event}"
        )
        assert accepted.fresh == (message not in seen)
        seen.add(message)
        session = accepted.session
        here.clock.advance(1)
    done: list[str] = []
    while session:
        record = await inbox.oldest_pending(here.table, session)
        if record is None:
            break
        lease = await here.lease(session)
        record = await inbox.start(here.table, here.clock, record, lease.fence)
        await inbox.finish(here.table, here.clock, record, lease, "DONE")
        done.append(record.question.chat.message)
    assert done == [f"om_{n}" for n in sorted(seen, reverse=True)]


async def test_a_message_costs_one_call_and_one_more_when_it_comes_again(
    here: Setting,
) -> None:
    first = await here.accept()
    assert here.table.calls == 1
    again = await inbox.accept(here.table, here.clock, question("om_1", 1.0), "another event")
    assert here.table.calls == 3
    assert (first.fresh, again.fresh) == (True, False)
    assert (again.session, again.turn, again.order) == (first.session, first.turn, first.order)
    record = await here.pending(first.session)
    assert (record.event, record.state, record.attempt) == ("ev", "RECEIVED", 0)


async def test_a_message_again_after_its_end_stays_ended(here: Setting) -> None:
    record, lease = await here.begun()
    await inbox.finish(here.table, here.clock, record, lease, "DONE")
    assert not (await here.accept()).fresh
    assert await inbox.oldest_pending(here.table, record.session) is None


async def test_a_turn_that_was_not_rung_for_is_due_after_a_minute(here: Setting) -> None:
    accepted = await here.accept()
    partition, time = keys.due(accepted.turn, here.clock.now() + 60)
    marker = keys.marker(accepted.session, accepted.order, accepted.turn)
    assert await here.table.query_index("due", partition, up_to=time) == (marker,)
    assert await here.table.query_index("due", partition, up_to=time[:-1] + "!") == ()
    await inbox.mark_rung(here.table, accepted)
    assert await here.table.query_index("due", partition) == ()
    assert await inbox.oldest_pending(here.table, accepted.session) is not None


async def test_a_late_note_of_the_ring_brings_no_marker_back(here: Setting) -> None:
    accepted = await here.accept()
    record = await here.pending(accepted.session)
    await inbox.finish(
        here.table, here.clock, record, await here.lease(accepted.session), "CANCELLED"
    )
    await inbox.mark_rung(here.table, accepted)
    assert await here.table.get(record.marker) is None


async def test_the_marker_of_an_erased_turn_is_taken_away(here: Setting) -> None:
    erased = await here.accept("om_1", 1.0)
    kept = await here.accept("om_2", 2.0)
    await here.table.delete_if(keys.turn(erased.session, erased.order, erased.turn))
    assert (await here.pending(kept.session)).turn == kept.turn
    assert await here.table.get(keys.marker(erased.session, erased.order, erased.turn)) is None


async def test_place_in_queue_counts_those_before(here: Setting) -> None:
    accepted = [await here.accept(f"om_{n}", float(n)) for n in range(120)]
    for n in (0, 1, 99, 100, 119):
        assert await inbox.place_in_queue(here.table, accepted[n]) == n
    first = await here.pending(accepted[0].session)
    await here.table.delete_if(first.marker)
    assert await inbox.place_in_queue(here.table, accepted[0]) == 0
    assert await inbox.place_in_queue(here.table, accepted[1]) == 0
    await here.table.delete_if(keys.marker(first.session, accepted[119].order, accepted[119].turn))
    assert await inbox.place_in_queue(here.table, accepted[119]) == 0


async def test_start_stamps_the_fence_and_counts_the_attempt(here: Setting) -> None:
    accepted = await here.accept()
    record = await here.pending(accepted.session)
    versions = Versions(code="abc", model="offline")
    first = await inbox.start(here.table, here.clock, record, 4, versions)
    assert (first.state, first.fence, first.attempt, first.versions) == ("RUNNING", 4, 1, versions)
    assert await here.pending(accepted.session) == first
    repeated = await inbox.start(here.table, here.clock, record, 4, versions)
    assert repeated == first == await here.pending(accepted.session)
    second = await inbox.start(here.table, here.clock, first, 5)
    assert (second.fence, second.attempt) == (5, 2)


async def test_start_is_refused_to_an_old_fence_and_to_an_ended_turn(here: Setting) -> None:
    record, lease = await here.begun()
    later = await inbox.start(here.table, here.clock, record, lease.fence + 1)
    with pytest.raises(ConditionFailed):
        await inbox.start(here.table, here.clock, record, lease.fence)
    assert await here.pending(record.session) == later
    for state in ("DONE", "CANCELLED", "FAILED"):
        await here.table.update_if(record.key, Change(set={"state": state}))
        with pytest.raises(ConditionFailed):
            await inbox.start(here.table, here.clock, later, later.fence)


async def test_finish_ends_all_at_once(here: Setting) -> None:
    record, lease = await here.begun()
    memory = save(Snapshot(), record.session, record.org, lease.fence, here.clock.now())
    ended = await inbox.finish(
        here.table, here.clock, record, lease, "DONE", answer=note(record), snapshot=memory
    )
    assert ended.state == "DONE"
    assert TurnRecord.from_item(await here.table.get(record.key) or {}) == ended
    assert await here.table.get(record.marker) is None
    assert await here.table.get(keys.answer(record.turn)) is not None
    assert await here.table.get(keys.snapshot(record.session)) is not None
    assert (await here.lease(record.session)).fence == lease.fence + 1


async def assert_nothing_written(here: Setting, record: TurnRecord) -> None:
    assert await here.table.get(keys.answer(record.turn)) is None
    assert await here.table.get(record.marker) is not None


async def test_finish_without_the_lock_writes_nothing(here: Setting) -> None:
    record, lease = await here.begun()
    here.clock.advance(lock.LEASE + lock.MARGIN + 1)
    await here.lease(record.session)
    with pytest.raises(ConditionFailed):
        await inbox.finish(here.table, here.clock, record, lease, "DONE", answer=note(record))
    await assert_nothing_written(here, record)


async def test_finish_under_an_older_fence_than_the_turns_writes_nothing(here: Setting) -> None:
    record, lease = await here.begun()
    await here.table.update_if(record.key, Change(add={"fence": 1}))
    with pytest.raises(ConditionFailed):
        await inbox.finish(here.table, here.clock, record, lease, "DONE", answer=note(record))
    await assert_nothing_written(here, record)


async def test_finish_on_a_changed_snapshot_writes_nothing(here: Setting) -> None:
    record, lease = await here.begun()
    now = here.clock.now()
    await here.table.put(save(Snapshot(), record.session, record.org, 1, now).item)
    mine = Snapshot().after(Exchange("om_1", record.owner, "q", "a", 1.0))
    with pytest.raises(ConditionFailed):
        await inbox.finish(
            here.table,
            here.clock,
            record,
            lease,
            "DONE",
            answer=note(record),
            snapshot=save(mine, record.session, record.org, lease.fence, now),
        )
    await assert_nothing_written(here, record)


async def test_finish_of_a_turn_that_ended_otherwise_is_refused(here: Setting) -> None:
    record, lease = await here.begun()
    await here.table.update_if(record.key, Change(set={"state": "CANCELLED"}))
    with pytest.raises(ConditionFailed):
        await inbox.finish(here.table, here.clock, record, lease, "DONE", answer=note(record))
    await assert_nothing_written(here, record)


@pytest.mark.parametrize("fault", ["lost answer", "repeated"])
async def test_finish_that_arrived_is_found_out_by_a_look(here: Setting, fault: Fault) -> None:
    record, lease = await here.begun()
    here.table.fault = fault
    assert (await inbox.finish(here.table, here.clock, record, lease, "DONE")).state == "DONE"
    assert await here.table.get(record.marker) is None


async def test_finish_that_did_not_arrive_says_so(here: Setting) -> None:
    record, lease = await here.begun()
    here.table.fault = "lost request"
    with pytest.raises(Unavailable):
        await inbox.finish(here.table, here.clock, record, lease, "DONE")
    await assert_nothing_written(here, record)

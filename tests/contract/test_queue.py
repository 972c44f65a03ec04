"""What every Queue adapter promises. A new adapter adds one branch to the fixture `queue`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.ports import Queue, Ring
from agent.stores.memory import MemoryQueue
from agent.stores.sqlite_queue import SqliteQueue
from tests.fakes.clock import CountingIds, FakeClock

VISIBILITY = 30.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
async def queue(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[Queue]:
    if request.param == "memory":
        yield MemoryQueue(clock, CountingIds(), VISIBILITY)
        return
    sqlite = SqliteQueue(tmp_path / "queue.db", clock, CountingIds(), VISIBILITY)
    yield sqlite
    await sqlite.aclose()


def sessions(rings: tuple[Ring, ...]) -> list[str]:
    return [ring.session for ring in rings]


async def test_an_empty_queue_answers_at_once(queue: Queue) -> None:
    assert await queue.receive() == ()


async def test_rings_come_oldest_first_and_not_more_than_asked_for(
    queue: Queue, clock: FakeClock
) -> None:
    for session in "abc":
        await queue.ring(session)
        clock.advance(1)
    assert sessions(await queue.receive(2)) == ["a", "b"]
    assert sessions(await queue.receive(2)) == ["c"]
    assert await queue.receive() == ()


async def test_a_delayed_ring_waits_for_its_time(queue: Queue, clock: FakeClock) -> None:
    await queue.ring("late", 5.0)
    await queue.ring("now")
    assert sessions(await queue.receive(10)) == ["now"]
    clock.advance(4.9)
    assert await queue.receive() == ()
    clock.advance(0.2)
    assert sessions(await queue.receive()) == ["late"]


async def test_a_ring_that_was_not_acknowledged_comes_again(queue: Queue, clock: FakeClock) -> None:
    await queue.ring("a")
    (first,) = await queue.receive()
    clock.advance(VISIBILITY - 0.1)
    assert await queue.receive() == ()
    clock.advance(0.2)
    (second,) = await queue.receive()
    assert (second.session, second.receipt != first.receipt) == ("a", True)
    await queue.ack(first.receipt)
    clock.advance(VISIBILITY + 1)
    (third,) = await queue.receive()
    await queue.ack(third.receipt)
    await queue.ack(third.receipt)
    clock.advance(VISIBILITY + 1)
    assert await queue.receive() == ()


async def test_an_empty_receipt_takes_nothing_away(queue: Queue) -> None:
    await queue.ring("a")
    await queue.ack("")
    assert sessions(await queue.receive()) == ["a"]


async def test_two_processes_share_the_file_and_each_ring_goes_to_one(tmp_path: Path) -> None:
    clock = FakeClock()
    first = SqliteQueue(tmp_path / "queue.db", clock, CountingIds("a"))
    second = SqliteQueue(tmp_path / "queue.db", clock, CountingIds("b"))
    for n in range(20):
        await first.ring(f"s{n:02d}")
    found: list[str] = []
    for _ in range(10):
        found += sessions(await first.receive())
        found += sessions(await second.receive())
    assert found == [f"s{n:02d}" for n in range(20)]
    await first.aclose()
    await second.aclose()

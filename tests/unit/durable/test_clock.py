"""Time and chance of the machine, and their doubles."""

from __future__ import annotations

import asyncio

from agent.stores.system_clock import RandomIds, SystemClock
from tests.fakes.clock import CountingIds, FakeClock


async def test_the_system_clock_moves_on() -> None:
    clock = SystemClock()
    wall, steady = clock.now(), clock.monotonic()
    await clock.sleep(0.01)
    await clock.sleep(-1)
    assert clock.now() > wall > 1_700_000_000
    assert clock.monotonic() - steady >= 0.009


def test_ids_are_long_plain_and_all_different() -> None:
    ids = [RandomIds().new() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(len(i) == 24 and i.isalnum() for i in ids)
    counting = CountingIds("x")
    assert [counting.new(), counting.new()] == ["x000001", "x000002"]


async def test_a_sleeper_of_the_fake_clock_wakes_when_its_time_comes() -> None:
    clock = FakeClock(auto=False)
    sleeper = asyncio.create_task(clock.sleep(5))
    await asyncio.sleep(0)
    clock.advance(4.9)
    await asyncio.sleep(0)
    assert not sleeper.done()
    clock.advance(0.2)
    await sleeper
    moving = FakeClock()
    start = moving.monotonic()
    await moving.sleep(3)
    assert moving.monotonic() - start == 3

"""The session's memory: comes back as it was, stays small, and no saver overwrites another."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.durable import keys, snapshot
from agent.durable.records import DAY, UnknownFormat
from agent.durable.snapshot import KEPT_EXCHANGES, MAX_BYTES, Exchange, Snapshot
from agent.errors import ConditionFailed
from agent.ports import Change, Put, Table
from agent.stores.memory_table import MemoryTable

WORDS = st.text(st.characters(exclude_categories=()), max_size=20)
EXCHANGES = st.builds(Exchange, WORDS, WORDS, WORDS, WORDS, st.floats(0, 4e9))


def put(memory: Snapshot, fence: int = 1) -> Put:
    return snapshot.save(memory, "sid", "hengxing", fence, 1_764_547_200.0)


async def store(table: Table, memory: Snapshot, fence: int = 1) -> None:
    await table.transact((put(memory, fence),))


@given(st.lists(EXCHANGES, max_size=KEPT_EXCHANGES))
async def test_a_memory_comes_back_as_it_was(exchanges: list[Exchange]) -> None:
    table = MemoryTable()
    await store(table, Snapshot(tuple(exchanges)))
    assert await snapshot.load(table, "sid") == Snapshot(tuple(exchanges), 1)
    assert put(Snapshot(tuple(exchanges))).item == put(Snapshot(tuple(exchanges))).item


async def test_nothing_remembered_is_empty() -> None:
    assert await snapshot.load(MemoryTable(), "sid") == Snapshot((), 0)


def exchange(n: int, answer: str = "a") -> Exchange:
    return Exchange(f"om_{n}", "alice", f"q{n}", answer, float(n))


def test_the_newest_twenty_are_kept() -> None:
    memory = Snapshot((), 3)
    for n in range(25):
        memory = memory.after(exchange(n))
    assert [e.message for e in memory.exchanges] == [f"om_{n}" for n in range(5, 25)]
    assert memory.version == 3
    assert memory.cleared() == Snapshot((), 3)


async def test_the_oldest_are_forgotten_when_it_grows_too_large() -> None:
    table, chance = MemoryTable(), random.Random(1)
    noise = [
        "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(40_000)) for _ in range(6)
    ]
    memory = Snapshot(tuple(exchange(n, text) for n, text in enumerate(noise)))
    await store(table, memory)
    kept = (await snapshot.load(table, "sid")).exchanges
    assert 1 <= len(kept) < 6
    assert kept == memory.exchanges[-len(kept) :]
    data = put(memory).item["data"]
    assert isinstance(data, bytes)
    assert len(data) <= MAX_BYTES


async def test_of_two_who_read_the_same_version_one_saves() -> None:
    table = MemoryTable()
    for n in range(4):
        mine = (await snapshot.load(table, "sid")).after(exchange(n))
        theirs = (await snapshot.load(table, "sid")).cleared()
        await store(table, mine)
        with pytest.raises(ConditionFailed):
            await store(table, theirs)
    assert len((await snapshot.load(table, "sid")).exchanges) == 4


async def test_an_old_fence_can_not_save() -> None:
    table = MemoryTable()
    await store(table, Snapshot(), fence=5)
    with pytest.raises(ConditionFailed):
        await store(table, Snapshot((), 1), fence=4)
    await store(table, Snapshot((), 1), fence=5)


async def test_an_unknown_format_is_refused() -> None:
    table = MemoryTable()
    await store(table, Snapshot())
    await table.update_if(keys.snapshot("sid"), Change(set={"v": 9}))
    with pytest.raises(UnknownFormat):
        await snapshot.load(table, "sid")


def test_a_memory_belongs_to_the_session_and_is_kept_thirty_days() -> None:
    item = put(Snapshot()).item
    assert (item["k"], item["cls"], item["org"]) == ("snapshot", "session", "hengxing")
    assert item["exp"] == 1_764_547_200 + 30 * DAY

"""Answers are sealed for their asker; a post is announced before it is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.domain import Answer, Citation, Source
from agent.durable import answers, keys
from agent.durable.answers import StoredAnswer
from agent.durable.outbox import Entry, Outbox
from agent.durable.records import TurnRecord, UnknownFormat
from agent.errors import ConditionFailed, Misconfigured
from agent.ports import Change
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.memory_table import MemoryTable
from tests.fakes.clock import FakeClock
from tests.fakes.turns import ALICE, running_turn

ANSWER = Answer(
    "柏林是一类城市。[src:kb-1]",
    (
        Citation(1, Source("kb-1", "差旅", "https://kb.example/1", "policy", "2026-01-01")),
        Citation(
            2,
            Source("kb-2", "B", status="obsolete", readers=frozenset(("group:hr",)), private=True),
        ),
    ),
    "answered",
    "offline",
    2,
    {"total": 12.5},
)
READERS = frozenset(("group:hr", "everyone"))


@pytest.fixture
def table() -> MemoryTable:
    return MemoryTable()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def record(table: MemoryTable, clock: FakeClock) -> TurnRecord:
    return await running_turn(table, clock)


@pytest.fixture
def cipher(tmp_path: Path) -> LocalKeyCipher:
    return LocalKeyCipher(tmp_path / "local.key")


async def test_an_answer_comes_back_to_its_asker_alone(
    table: MemoryTable, clock: FakeClock, record: TurnRecord, cipher: LocalKeyCipher
) -> None:
    put = await answers.seal(cipher, clock, record, ANSWER, READERS)
    await table.transact((put,))
    found = await answers.load(table, cipher, record.turn, ALICE.principal)
    assert found == StoredAnswer(ANSWER, READERS)
    with pytest.raises(Misconfigured):
        await answers.load(table, cipher, record.turn, replace(ALICE, user="ou_demo_bob").principal)
    assert "柏林".encode() not in repr(put.item).encode()
    assert (put.item["cls"], put.item["own_pk"], put.item["status"]) == (
        "private",
        ALICE.principal,
        "answered",
    )


async def test_an_answer_moved_to_another_turn_does_not_open(
    table: MemoryTable, clock: FakeClock, record: TurnRecord, cipher: LocalKeyCipher
) -> None:
    put = await answers.seal(cipher, clock, record, ANSWER, READERS)
    other = keys.answer("other")
    await table.put({**put.item, "pk": other.pk})
    with pytest.raises(Misconfigured):
        await answers.load(table, cipher, "other", ALICE.principal)


async def test_no_answer_is_none_and_an_unknown_format_is_refused(
    table: MemoryTable, clock: FakeClock, record: TurnRecord, cipher: LocalKeyCipher
) -> None:
    assert await answers.load(table, cipher, record.turn, ALICE.principal) is None
    put = await answers.seal(cipher, clock, record, ANSWER, READERS)
    await table.put({**put.item, "v": 9})
    with pytest.raises(UnknownFormat):
        await answers.load(table, cipher, record.turn, ALICE.principal)


async def test_a_successor_learns_what_may_have_been_posted(
    table: MemoryTable, clock: FakeClock, record: TurnRecord
) -> None:
    outbox = Outbox(table, clock, replace(record, fence=1, attempt=1))
    assert await outbox.intend("answer") is None
    successor = Outbox(table, clock, replace(record, fence=2, attempt=2))
    assert await successor.intend("answer") == Entry("answer", None), "nobody knows"
    await outbox.sent("answer", '{"card":"c1"}')
    await outbox.sent("answer", '{"card":"c1","n":2}')
    assert await successor.intend("answer") == Entry("answer", '{"card":"c1","n":2}')
    await successor.sent("answer", '{"card":"c1","n":3}')
    with pytest.raises(ConditionFailed):
        await outbox.sent("answer", '{"card":"c1","n":4}')
    assert await outbox.load("answer") == Entry("answer", '{"card":"c1","n":3}')
    assert await table.get(keys.outbox(record.turn, "second")) is None


async def test_an_outbox_entry_of_an_unknown_format_is_refused(
    table: MemoryTable, clock: FakeClock, record: TurnRecord
) -> None:
    outbox = Outbox(table, clock, record)
    await outbox.sent("answer", "{}")
    await table.update_if(keys.outbox(record.turn, "answer"), Change(set={"v": 9}))
    with pytest.raises(UnknownFormat):
        await outbox.load("answer")

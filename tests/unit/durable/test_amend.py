"""Recalled and edited questions in the inbox: races, repetitions, what is said of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.durable import amend, inbox, keys, lock
from agent.durable.intake import take
from agent.durable.records import TurnRecord
from agent.errors import Unavailable
from agent.stores.memory import MemoryQueue
from handlers.wiring import Receiving
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.faulty_table import Fault, FaultyTable
from tests.fakes.turns import question

ASKED = question("om_1", 1.0, "Is Kestrel going to be cancelled?")
TURN = keys.turn_id(ASKED.asker.app, ASKED.chat.chat, ASKED.chat.message)


class Desk:
    """A table that may fail, a clock, a queue."""

    def __init__(self) -> None:
        self.table = FaultyTable()
        self.clock = FakeClock()
        self.ids = CountingIds()
        self.store = Receiving(self.table, MemoryQueue(self.clock, self.ids), self.clock)

    async def take(self) -> str:
        return await take(ASKED, "ev", self.store)

    async def withdraw(self) -> TurnRecord | None:
        return await amend.withdraw(self.table, self.clock, "hengxing", TURN)

    async def record(self) -> TurnRecord:
        session = keys.session_id(ASKED.asker, ASKED.chat)
        item = await self.table.get(keys.turn(session, keys.order(ASKED.asked_at), TURN))
        assert item is not None
        return TurnRecord.from_item(item)


@pytest.fixture
def here() -> Desk:
    return Desk()


async def test_a_message_that_was_recalled_before_it_came_is_said_to_be(here: Desk) -> None:
    assert await here.withdraw() is None
    assert [await here.take(), await here.take()] == ["recalled", "recalled"]


async def test_a_second_recall_has_nothing_left_to_do(here: Desk) -> None:
    await here.take()
    assert await here.withdraw() is None
    assert await here.withdraw() is None
    assert (await here.record()).state == "CANCELLED"


async def test_a_recall_that_the_worker_finds_itself_leaves_no_words(here: Desk) -> None:
    await here.take()
    record = await here.record()
    lease = await lock.acquire(
        here.table, here.clock, here.ids, record.session, "worker", "hengxing"
    )
    assert lease is not None
    await inbox.cancel_pending(here.table, here.clock, record, lease)
    ended = await here.record()
    assert (ended.state, ended.question.text) == ("CANCELLED", "")
    assert inbox.is_recalled(ended.question)
    assert await here.withdraw() is None


async def test_an_edit_before_its_message_is_none(here: Desk) -> None:
    edited = replace(ASKED, text="What is the meal limit?")
    assert not await amend.amend(here.table, edited, TURN, 5.0)
    await here.take()
    assert await amend.amend(here.table, edited, TURN, 5.0)
    assert await amend.amend(here.table, ASKED, TURN, 4.0), "an older one changes nothing"
    assert (await here.record()).question.text == edited.text


async def test_an_edit_of_a_begun_turn_comes_too_late(here: Desk) -> None:
    await here.take()
    await inbox.start(here.table, here.clock, await here.record(), 1)
    assert not await amend.amend(here.table, replace(ASKED, text="other"), TURN, 5.0)
    assert (await here.record()).question.text == ASKED.text


FAULTS: tuple[Fault, ...] = ("lost request", "lost answer")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("arrived", [True, False])
async def test_a_recall_without_an_answer_is_done_by_its_repetition(
    here: Desk, fault: Fault, arrived: bool
) -> None:
    if arrived:
        await here.take()
    here.table.fault = fault
    with pytest.raises(Unavailable):
        await here.withdraw()
    assert await here.withdraw() is None
    assert await here.take() == ("duplicate" if arrived else "recalled")
    if arrived:
        assert (await here.record()).state == "CANCELLED"


@pytest.mark.parametrize("arrived", [True, False])
async def test_a_recall_that_meets_its_own_first_try_is_done(here: Desk, arrived: bool) -> None:
    if arrived:
        await here.take()
    here.table.fault = "repeated"
    assert await here.withdraw() is None


async def test_an_edit_that_meets_its_own_first_try_is_done(here: Desk) -> None:
    await here.take()
    here.table.fault = "repeated"
    assert await amend.amend(here.table, replace(ASKED, text="other"), TURN, 5.0)
    assert (await here.record()).question.text == "other"

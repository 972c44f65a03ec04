"""What people hear whose question waits: its place, or that it was asked twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent.durable import inbox, lock
from agent.durable.records import TurnRecord
from handlers.surface import replies
from handlers.waiting import Ended, repeats
from handlers.worker import drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.scripted_model import ScriptedModel


async def state(place: PlainPlace, accepted: inbox.Accepted) -> str:
    page = await place.table.query(f"S#{accepted.session}", "T#")
    records = [TurnRecord.from_item(item) for item in page.items]
    return next(r.state for r in records if r.turn == accepted.turn)


async def test_a_waiting_question_is_told_its_place_once(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    first = await place.accept(asked("one", 1))
    await place.accept(asked("two", 2))
    await place.accept(asked("three", 3))
    held = await lock.acquire(
        place.table, place.clock, place.ids, first.session, "another", place.org
    )
    assert held is not None
    for _ in range(2):
        assert await drain(place, first.session) is False
    assert place.talk.said == [replies.queued("en", 2)]


async def test_a_double_click_is_one_turn_and_the_second_is_told(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path, ScriptedModel(lambda _: "Words."))
    first = await place.accept(asked("one", 1))
    second = await place.accept(asked(" one", 2))
    third = await place.accept(asked("another", 3))
    assert await drain(place, first.session) is True
    assert [frame.text for frame in place.talk.done] == ["Words.", "Words."]
    assert place.talk.said == [replies.doubled("en")]
    assert await state(place, second) == "CANCELLED"
    assert await state(place, third) == "DONE"


async def test_only_what_came_before_the_end_repeats(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await place.begun(asked("one", 1))
    at = record.received_at
    assert repeats(record, Ended(record, at))
    assert not repeats(record, Ended(record, at - 0.1))
    assert not repeats(record, None)


async def test_the_same_words_of_another_person_or_later_are_a_question(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path, ScriptedModel(lambda _: "Words."))
    one = asked("one", 1)
    first = await place.accept(one)
    other = replace(asked("one", 2), asker=replace(one.asker, user="ou_demo_bob"))
    await place.accept(other)
    assert await drain(place, first.session) is True
    await place.clock.sleep(1)
    await place.accept(asked("one", 3))
    assert await drain(place, first.session) is True
    assert len(place.talk.done) == 3
    assert place.talk.said == []

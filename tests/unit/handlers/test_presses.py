"""What a press is, who is obeyed, and that it has one effect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.audience import ORGANISATION
from agent.citations import SourceCollector
from agent.domain import Answer, Citation, Identity, Json, Passage
from agent.durable import answers, inbox, lock
from agent.durable.answers import Evidence, StoredAnswer
from agent.durable.intake import take
from agent.durable.records import TurnRecord
from handlers.surface import feedback, presses, replies
from handlers.surface.actions import passages
from handlers.surface.presses import Press
from tests.fakes.clock import FakeClock
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.turns import ALICE

DAYS = 20 * 86_400.0
BOB = replace(ALICE, user="ou_demo_bob")


async def ended(place: PlainPlace) -> TurnRecord:
    """Alice's turn, ended with a cited answer."""
    accepted = await place.accept(asked("Hotel?"))
    lease = await lock.acquire(
        place.table, place.clock, place.ids, accepted.session, "w", "hengxing"
    )
    assert lease is not None
    waiting = await inbox.oldest_pending(place.table, accepted.session)
    assert waiting is not None
    record = await inbox.start(place.table, place.clock, waiting, lease.fence)
    collector = SourceCollector()
    collector.add([Passage("kb-1", "Travel", "650 a night")])
    text, citations = collector.resolve("650 [src:kb-1]")
    answer = Answer(text, citations, "answered", "offline", 1)
    sealed = await answers.seal(
        place.cipher,
        place.clock,
        record,
        answer,
        ORGANISATION,
        Evidence(collector.evidence(citations), ("kb-1",)),
    )
    return await inbox.finish(place.table, place.clock, record, lease, "DONE", answer=sealed)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": "retry", "t": "abc"}, Press("retry", "abc", "1")),
        ('{"a": "retry", "t": "abc"}', Press("retry", "abc", "1")),
        ("reason-wrong abc", Press("reason-wrong", "abc", "1")),
        ("approve abc", None),
        ("retry", None),
        ("retry a#b", None),
        ("{broken", None),
        ('{"a":' * 100_000, None),
        ({"a": ["retry"], "t": 5}, None),
        (None, None),
    ],
)
def test_what_a_control_carries(value: Json, expected: Press | None) -> None:
    assert presses.read(value, "1") == expected


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        ("1764547200.5", 1764547200.5),
        ("1764547200500", 1764547200.5),
        ("1764547200500000", 1764547200.5),
        ("", 7.0),
        ("yesterday", 7.0),
        ("-1", 7.0),
        ("nan", 7.0),
    ],
)
def test_the_time_of_a_press_in_every_unit(at: str, seconds: float) -> None:
    assert presses.moment(at, 7.0) == seconds


async def test_c_se_03_only_the_asker_is_obeyed_and_once(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    for action in ("retry", "human"):
        strangers = await presses.decide(place, Press(action, record.turn, "1"), BOB)
        assert (strangers.outcome, strangers.work) == ("only_asker", None)
    first = await presses.decide(place, Press("human", record.turn, "1"), ALICE)
    assert first.work is not None
    assert first.work.act == "human"
    second = await presses.decide(place, Press("human", record.turn, "2"), ALICE)
    assert (second.outcome, second.work) == ("already_passed_on", None)
    same = await presses.decide(place, Press("human", record.turn, "1"), ALICE)
    assert same.turn == first.turn, "a delivery that comes again is the same turn"
    again = await presses.decide(place, Press("retry", record.turn, "3"), ALICE)
    assert again.work is not None
    assert (again.work.text, again.work.act) == ("Hotel?", "retry")
    for action in ("retry", "human"):
        late = await presses.decide(place, Press(action, record.turn, "4"), ALICE)
        assert (late.outcome, late.work) == ("superseded", None)


@pytest.mark.parametrize("action", ["retry", "human", "share-yes"])
async def test_a_press_whose_work_never_came_to_the_inbox_blocks_no_later_one(
    tmp_path: Path, action: str
) -> None:
    place = PlainPlace(tmp_path)
    place.clock = clock = FakeClock()
    record = await ended(place)

    async def press(at: str) -> presses.Ruling:
        return await presses.decide(place, Press(action, record.turn, at), ALICE)

    assert (await press("1")).work is not None
    assert (await press("2")).work is None, "the first one is on its way"
    clock.advance(presses.UNTAKEN_AFTER)
    third = await press("3")
    assert third.work is not None
    assert await take(third.work, "ev", place, third.turn) == "accepted"
    clock.advance(DAYS)
    assert (await press("4")).work is None
    assert (await press("3")).turn == third.turn


async def test_c_sl_10_a_press_under_another_team_id_finds_its_turn(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    elsewhere: Identity = replace(ALICE, tenant="T0OTHER", name="")
    ruling = await presses.decide(place, Press("human", record.turn, "1"), elsewhere)
    assert ruling.work is not None
    assert ruling.work.asker == ALICE
    twice = await presses.decide(place, Press("helpful", record.turn, "1"), elsewhere)
    assert twice.outcome == "thanks"
    assert (await presses.decide(place, Press("helpful", record.turn, "2"), ALICE)).outcome == (
        "noted"
    )


async def test_a_person_has_one_opinion_under_whatever_team_id(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    outcomes = [
        (await presses.decide(place, Press("helpful", record.turn, at), person)).outcome
        for at, person in (("1", BOB), ("2", replace(BOB, tenant="T0OTHER")))
    ]
    assert outcomes == ["thanks", "noted"]


async def test_a_reason_is_asked_for_once_and_an_opinion_may_change(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)

    async def pressed(action: str, at: str) -> presses.Ruling:
        return await presses.decide(place, Press(action, record.turn, at), BOB)

    assert [(await pressed("unhelpful", at)).outcome for at in "12"] == ["why", "why"]
    await pressed("reason-outdated", "3")
    known = await pressed("unhelpful", "4")
    assert (known.outcome, known.work) == ("noted", None)
    assert known.note == replies.reason_known("en", "outdated")
    assert "out of date" in known.note.lower()
    await pressed("reason-wrong", "5")
    assert (await pressed("unhelpful", "6")).note == replies.reason_known("en", "wrong")
    assert (await pressed("helpful", "7")).outcome == "thanks"
    assert (await feedback.opinion(place.table, record.turn, BOB)) == ("helpful", "")
    assert (await pressed("unhelpful", "8")).outcome == "why"


async def test_a_press_of_another_organisation_or_platform_finds_nothing(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    for person in (replace(ALICE, org="other"), replace(ALICE, platform="slack")):
        ruling = await presses.decide(place, Press("sources", record.turn, "1"), person)
        assert (ruling.outcome, ruling.work) == ("gone", None)


async def test_the_sources_are_shown_once_to_a_double_click(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    works = [
        (await presses.decide(place, Press("sources", record.turn, at), BOB)).work
        for at in ("1", "2")
    ]
    assert [work is None for work in works] == [False, True]


async def test_the_passages_come_back_with_their_answer(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    record = await ended(place)
    stored = await answers.load(place.table, place.cipher, record.turn, record.owner)
    assert stored is not None
    assert [p.text for p in stored.passages] == ["650 a night"]
    shown = passages("en", stored)
    assert shown.startswith(replies.passages_title("en"))
    assert "[1] Travel" in shown


def test_many_long_passages_stay_within_what_a_message_takes() -> None:
    collector = SourceCollector()
    collector.add(
        Passage(f"kb-{n}", "T", f"{n} {m} " + "word " * 900) for n in range(9) for m in range(5)
    )
    text = " ".join(f"[src:kb-{n}]" for n in range(9))
    clean, citations = collector.resolve(text)
    answer = Answer(clean, citations, "answered", "m", 1)
    stored = StoredAnswer(answer, frozenset(), collector.evidence(citations))
    assert len(stored.passages) == 27
    assert len(passages("zh", stored)) < 8_000
    assert isinstance(stored.answer.citations[0], Citation)

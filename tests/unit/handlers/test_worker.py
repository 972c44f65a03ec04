"""The worker: order, the lock of others, turns that come late, lost leases, the last attempt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent import phrases
from agent.dialogue import Capability, ModelEvent, ModelRequest
from agent.durable import answers, inbox, keys, lock
from agent.durable.lock import LEASE, RENEW_AT
from agent.durable.records import TurnRecord
from agent.errors import (
    ConditionFailed,
    Misconfigured,
    PlatformRefused,
    PlumblineError,
    Unavailable,
)
from agent.ports import Change
from handlers import worker
from handlers.worker import MOST_ATTEMPTS, drain
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.scripted_model import ScriptedModel, reply


@dataclass(slots=True)
class SilentModel:
    """Never says anything; `asked` is set when it was asked."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False

    def capability(self) -> Capability:
        return Capability("silent")

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        yield reply("never")


async def turn(place: PlainPlace, accepted: inbox.Accepted) -> TurnRecord:
    item = await place.table.get(keys.turn(accepted.session, accepted.order, accepted.turn))
    assert item is not None
    return TurnRecord.from_item(item)


async def lock_state(place: PlainPlace, session: str) -> object:
    item = await place.table.get(keys.lock(session))
    return item and item["state"]


async def test_turns_are_answered_in_the_order_they_were_asked(tmp_path: Path) -> None:
    model = ScriptedModel(lambda r: f"To {r.messages[-1].text.rpartition('>')[2].strip()}.")
    place = PlainPlace(tmp_path, model)
    for n in (3, 1, 2):
        accepted = await place.accept(asked(f"q{n}", n))
    assert await drain(place, accepted.session) is True
    assert [f.text for f in place.talk.done] == ["To q1.", "To q2.", "To q3."]
    assert place.talk.seen == ["seen om_1", "seen om_2", "seen om_3"]
    assert await lock_state(place, accepted.session) == "FREE"
    assert await inbox.oldest_pending(place.table, accepted.session) is None


async def test_a_ring_without_work_gives_the_lock_back(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    assert await drain(place, "sid") is True
    assert await lock_state(place, "sid") == "FREE"
    assert place.talk.done == []


async def test_a_held_session_is_left_and_the_new_question_is_seen(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    first = await place.accept(asked("one", 1))
    await place.accept(asked("two", 2))
    held = await lock.acquire(
        place.table, place.clock, place.ids, first.session, "another", place.org
    )
    assert held is not None
    assert await drain(place, first.session) is False
    assert place.talk.seen == ["seen om_2"]
    assert place.talk.done == []
    assert await lock_state(place, first.session) == "HELD"


async def test_a_question_that_comes_while_the_turn_ends_is_not_forgotten(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    first = await place.accept(asked("one", 1))

    async def late() -> None:
        await place.accept(asked("two", 2))

    place.hooked.after = late
    assert await drain(place, first.session) is True
    assert len(place.talk.done) == 2


async def test_a_reaction_that_fails_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    place.talk.deaf = Unavailable("busy")
    accepted = await place.accept(asked("one"))
    await drain(place, accepted.session)
    assert [f.text for f in place.talk.done] == ["Words."]


async def test_a_lost_lease_stops_the_body(tmp_path: Path) -> None:
    model = SilentModel()
    place = PlainPlace(tmp_path, model, auto=False)
    accepted = await place.accept(asked("one"))
    work = asyncio.create_task(drain(place, accepted.session))
    await model.asked.wait()
    stolen = Change(set={"fence": 99, "rvn": "another", "owner": "another"})
    await place.table.update_if(keys.lock(accepted.session), stolen)
    place.hands.advance(LEASE * RENEW_AT)
    await asyncio.wait((work,), timeout=2)
    assert work.done(), "the body went on"
    with pytest.raises(ConditionFailed, match="taken over"):
        await work
    assert model.cancelled
    assert place.talk.done == []
    assert await lock_state(place, accepted.session) == "HELD", "it is another's lock now"


async def test_a_lease_is_kept_while_the_body_works(tmp_path: Path) -> None:
    model = SilentModel()
    place = PlainPlace(tmp_path, model, auto=False)
    accepted = await place.accept(asked("one"))
    work = asyncio.create_task(drain(place, accepted.session))
    await model.asked.wait()
    for _ in range(5):
        place.hands.advance(LEASE * RENEW_AT)
        for _ in range(20):
            await asyncio.sleep(0)
    item = await place.table.get(keys.lock(accepted.session))
    assert item is not None
    assert item["lease_until"] == place.clock.now() + LEASE
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await lock_state(place, accepted.session) == "FREE", "a stopped worker lets go"


async def test_a_delivery_that_fails_is_tried_again_and_at_last_given_up(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    accepted = await place.accept(asked("one"))
    for attempt in range(1, MOST_ATTEMPTS):
        place.talk.faults = [Unavailable("down")] * 1000
        with pytest.raises(Unavailable):
            await drain(place, accepted.session)
        assert (await turn(place, accepted)).attempt == attempt
        assert await lock_state(place, accepted.session) == "FREE"
    assert await drain(place, accepted.session) is True
    record = await turn(place, accepted)
    assert (record.attempt, record.state) == (MOST_ATTEMPTS, "FAILED")


async def test_a_fault_of_ours_does_not_block_the_session_for_ever(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    accepted = await place.accept(asked("one", 1))
    await place.accept(asked("two", 2))
    for _ in range(1, MOST_ATTEMPTS):
        place.talk.faults = [ValueError("a slip")]
        with pytest.raises(ValueError, match="a slip"):
            await drain(place, accepted.session)
    place.talk.faults = [ValueError("a slip")]
    assert await drain(place, accepted.session) is True
    assert (await turn(place, accepted)).state == "FAILED"
    assert len(place.talk.done) == 1, "the next question is answered"


@pytest.mark.parametrize("fault", [PlatformRefused("not in chat", "230002")])
async def test_a_refused_delivery_is_not_tried_again(tmp_path: Path, fault: PlumblineError) -> None:
    place = PlainPlace(tmp_path)
    accepted = await place.accept(asked("one"))
    place.talk.faults = [fault]
    assert await drain(place, accepted.session) is True
    record = await turn(place, accepted)
    assert (record.attempt, record.state) == (1, "FAILED")


async def test_a_turn_without_a_desk_is_told(tmp_path: Path) -> None:
    place = PlainPlace(tmp_path)
    place.fault = Misconfigured("no such model")
    accepted = await place.accept(asked("one"))
    assert await drain(place, accepted.session) is True
    assert place.talk.said == [phrases.error("en", "PL-301")]
    record = await turn(place, accepted)
    stored = await answers.load(place.table, place.cipher, record.turn, record.owner)
    assert stored is not None
    assert (stored.answer.text, stored.answer.status) == (phrases.error("en", "PL-301"), "failed")


async def test_an_answer_is_posted_anew_when_the_fate_of_the_first_is_unknown(
    tmp_path: Path,
) -> None:
    place = PlainPlace(tmp_path)
    accepted = await place.accept(asked("one"))
    place.talk.faults = [Unavailable("down")] * 1000
    with pytest.raises(Unavailable):
        await drain(place, accepted.session)
    place.talk.faults.clear()
    await drain(place, accepted.session)
    first, second = place.talk.begun
    assert first == accepted.turn
    assert second != first, "the platform would take it for a repetition and show nothing"


def test_the_function_reports_the_sessions_it_could_not_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    assert worker.handler({}, None) == {"batchItemFailures": []}
    batch = {"Records": [{"messageId": "m1", "body": "sid"}]}
    assert worker.handler(batch, None) == {"batchItemFailures": []}
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "file"))
    assert worker.handler(batch, None) == {"batchItemFailures": [{"itemIdentifier": "m1"}]}

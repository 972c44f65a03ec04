"""One turn: what each end of the loop becomes for the person, the store and the memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent import phrases
from agent.dialogue import Capability, Message, ModelReply, TextDelta
from agent.domain import Attachment, Question
from agent.durable import answers, keys, lock, snapshot
from agent.durable.journal import Journal
from agent.errors import (
    ModelFailed,
    ModelRefused,
    PlatformRefused,
    PlumblineError,
    RateLimited,
    Unavailable,
)
from agent.loop import Limits
from agent.ports import Frame
from agent.stopwatch import Stopwatch
from agent.turn import OFFLINE, Outcome, lost_turn, run_turn, save_turn
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.loop import passage
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply

ROTA = {"rota": (passage("ops-12", "Dana this week.", url="https://kb.example.com/ops"),)}
LOOK = reply(call("search", {"query": "rota"}))


class Turn:
    """One turn of Alice's question with a scripted model over a small library."""

    def __init__(self, folder: Path, *script: Played, steps: int = 10, name: str = "scripted"):
        model = ScriptedModel(list(script), about=Capability(name))
        self.model = model
        self.place = PlainPlace(folder, model)
        self.place.library.found = dict(ROTA)
        self.place.limits = Limits(steps)

    async def run(self, question: Question | None = None) -> Outcome:
        self.record = await self.place.begun(question or asked("who is on call?"))
        desk, _ = await self.place.desk(self.record)
        self.desk = desk
        return await run_turn(desk, self.record, Stopwatch(desk.clock))

    @property
    def last(self) -> Frame:
        """The last frame, which is the only one that is done."""
        [frame] = self.place.talk.done
        assert frame.done
        return frame


async def test_answered(tmp_path: Path) -> None:
    turn = Turn(tmp_path, LOOK, "Dana [src:ops-12] and [src:nobody].")
    outcome = await turn.run()
    answer = outcome.answer
    assert (answer.text, answer.status) == ("Dana [src:ops-12] and.", "answered")
    assert [(c.n, c.source.source) for c in answer.citations] == [(1, "ops-12")]
    assert (answer.model, answer.steps) == ("scripted", 2)
    assert {"first_text", "search", "model", "total"} <= set(answer.timings)
    assert (turn.last.text, turn.last.notice, turn.last.progress) == (answer.text, "", "")
    assert turn.last.sources is not None
    assert list(turn.last.sources) == ["ops-12"]
    assert outcome.memory is not None
    [exchange] = outcome.memory.exchanges
    assert (exchange.message, exchange.answer) == ("om_1", answer.text)
    assert exchange.question.endswith("who is on call?")
    assert exchange.asker == turn.record.owner


async def test_the_offline_model_says_so(tmp_path: Path) -> None:
    turn = Turn(tmp_path, LOOK, "Dana [src:ops-12].", name=OFFLINE)
    await turn.run()
    assert turn.last.notice == phrases.offline_model("en")


@pytest.mark.parametrize(
    ("said", "remembered", "notice"),
    [
        ("[no-answer] Nothing says it.", "Nothing says it.", ""),
        ("[no-answer]", "", phrases.refusal_steps("en")),
    ],
)
async def test_refused_by_the_model(
    tmp_path: Path, said: str, remembered: str, notice: str
) -> None:
    turn = Turn(tmp_path, LOOK, said)
    outcome = await turn.run()
    assert outcome.answer.status == "refused"
    assert turn.last.notice == notice
    assert outcome.memory is not None
    assert outcome.memory.exchanges[-1].answer == remembered


async def test_words_over_nothing_found_are_no_answer(tmp_path: Path) -> None:
    turn = Turn(tmp_path, reply(call("search", {"query": "unicorns"})), "There are 7 unicorns.")
    assert (await turn.run()).answer.status == "refused"


async def test_cut_by_the_output_limit(tmp_path: Path) -> None:
    turn = Turn(tmp_path, LOOK, reply("Dana [src:ops-12] un", stop="length"))
    outcome = await turn.run()
    assert outcome.answer.status == "answered"
    assert turn.last.notice == phrases.incomplete("en")


async def test_broken_off(tmp_path: Path) -> None:
    half = [TextDelta("Dana is on"), reply("Dana is on", stop="cut")]
    turn = Turn(tmp_path, half, half, half)
    outcome = await turn.run()
    assert (outcome.answer.status, outcome.answer.text) == ("failed", "Dana is on")
    assert turn.last.notice == phrases.incomplete("en")
    assert outcome.memory is None


async def test_stopped_at_the_step_limit_shows_what_was_found(tmp_path: Path) -> None:
    again = reply(call("search", {"query": "more"}, id="c2"))
    turn = Turn(tmp_path, LOOK, again, steps=2)
    outcome = await turn.run()
    assert outcome.answer.status == "stopped"
    assert outcome.answer.text == "- Title of ops-12 [src:ops-12]"
    assert turn.last.notice == phrases.step_limit("en", 2)
    assert outcome.memory is None


FAULTS: list[tuple[PlumblineError, str]] = [
    (ModelFailed("x"), "PL-304"),
    (ModelRefused("x"), "PL-303"),
    (Unavailable("x"), "PL-102"),
    (RateLimited("x", 1.0), "PL-101"),
]


@pytest.mark.parametrize(("fault", "code"), FAULTS, ids=[code for _, code in FAULTS])
async def test_a_model_that_can_not_be_had(
    tmp_path: Path, fault: PlumblineError, code: str
) -> None:
    turn = Turn(tmp_path, fault, fault, fault)
    outcome = await turn.run()
    assert (outcome.answer.status, outcome.answer.text) == ("failed", "")
    assert turn.last.notice == phrases.error("en", code)
    assert turn.last.text == ""
    assert outcome.memory is None


async def test_empty_twice_and_a_fault_of_ours(tmp_path: Path) -> None:
    silent = Turn(tmp_path / "a", "", "")
    await silent.run()
    assert silent.last.notice == phrases.error("en", "PL-304")
    broken = Turn(tmp_path / "b", [TextDelta("no reply follows")])
    await broken.run()
    assert broken.last.notice == phrases.error("en", "PL-000")


UNREADABLE = [
    (asked("new"), "answered", phrases.cleared("en")),
    (asked("", unsupported="sticker"), "refused", phrases.unsupported("en", "sticker")),
    (asked("", unsupported="who_knows"), "refused", phrases.unsupported("en", "who_knows")),
    (asked(" \n"), "refused", phrases.empty_question("en")),
    (asked("😀😀🎉 ?!"), "refused", phrases.empty_question("en")),
    (
        asked("", attachments=(Attachment("image", "k"),)),
        "refused",
        phrases.unsupported("en", "image"),
    ),
]


@pytest.mark.parametrize(("question", "status", "text"), UNREADABLE)
async def test_what_needs_no_model(
    tmp_path: Path, question: Question, status: str, text: str
) -> None:
    turn = Turn(tmp_path)
    outcome = await turn.run(question)
    assert (outcome.answer.status, outcome.answer.text) == (status, text)
    assert (turn.last.text, turn.model.requests) == (text, [])
    cleared = question.text == "new"
    assert (outcome.memory is not None) == cleared


async def test_a_chat_that_refuses_is_raised(tmp_path: Path) -> None:
    turn = Turn(tmp_path, "Words.")
    turn.place.talk.faults = [PlatformRefused("not in chat", "230002")]
    with pytest.raises(PlatformRefused):
        await turn.run()


async def stored(turn: Turn, outcome: Outcome) -> tuple[str, str, str, int]:
    """State, stored text and status, number of exchanges, after the save."""
    place, record = turn.place, turn.record
    lease = await lock.acquire(
        place.table, place.clock, place.ids, record.session, place.name, place.org
    )
    assert lease is not None
    await save_turn(turn.desk, record, lease, outcome)
    item = await place.table.get(keys.turn(record.session, record.order, record.turn))
    kept = await answers.load(place.table, place.cipher, record.turn, record.owner)
    assert item is not None
    assert kept is not None
    memory = await snapshot.load(place.table, record.session)
    return str(item["state"]), kept.answer.text, kept.answer.status, len(memory.exchanges)


async def test_what_is_saved(tmp_path: Path) -> None:
    good = Turn(tmp_path / "a", LOOK, "Dana [src:ops-12].")
    assert await stored(good, await good.run()) == ("DONE", "Dana [src:ops-12].", "answered", 1)
    bad = Turn(tmp_path / "b", ModelFailed("x"))
    told = phrases.error("en", "PL-304")
    assert await stored(bad, await bad.run()) == ("FAILED", told, "failed", 0)
    half = [TextDelta("Dana"), reply("Dana", stop="cut")]
    cut = Turn(tmp_path / "c", half, half, half)
    text = f"Dana\n\n{phrases.incomplete('en')}"
    assert await stored(cut, await cut.run()) == ("FAILED", text, "failed", 0)
    lost = Turn(tmp_path / "d", "Words.")
    await lost.run()
    assert await stored(lost, lost_turn()) == ("FAILED", "", "failed", 0)


async def test_clearing_forgets_and_a_later_turn_starts_anew(tmp_path: Path) -> None:
    turn = Turn(tmp_path, "One.")
    await stored(turn, await turn.run(asked("first?")))
    turn.place.talk.done.clear()
    state, _, status, exchanges = await stored(turn, await turn.run(asked("new", 2)))
    assert (state, status, exchanges) == ("DONE", "answered", 0)


async def test_an_answer_says_what_could_not_be_searched(tmp_path: Path) -> None:
    turn = Turn(tmp_path, LOOK, "Nobody knows.")
    turn.place.library.faults = {"rota": Unavailable("down")}
    outcome = await turn.run(asked("who is on call?"))
    assert phrases.unsearched("en", ("the library",)) in outcome.notice


async def test_a_second_attempt_starts_over(tmp_path: Path) -> None:
    turn = Turn(tmp_path, LOOK, "Dana [src:ops-12].")
    record = await turn.place.begun(asked("who is on call?"))
    desk, _ = await turn.place.desk(record)
    stale = ModelReply(Message("assistant", ()), "end")
    await Journal(desk.table, desk.clock, record).model_step(1, stale)
    outcome = await run_turn(desk, replace(record, attempt=2), Stopwatch(desk.clock))
    assert outcome.answer.status == "answered"

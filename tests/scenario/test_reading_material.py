"""What came with a question: bounded, shown as data, stored with the turn, read once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import material, phrases, session
from agent.dialogue import Message, Text
from agent.domain import Attachment, Language, Material, MaterialKind, Platform, Question
from agent.durable import inbox, keys
from agent.durable.records import question_from_json, question_to_json
from agent.durable.snapshot import Exchange, Snapshot
from agent.models.offline.question import words_of
from agent.ports import Gatherer
from handlers import worker
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.turns import question

KINDS: tuple[MaterialKind, ...] = get_args(MaterialKind)
SOUP = st.text(st.sampled_from("<>/ \n\"'&cmi") | st.characters(codec="utf-8"), max_size=20)
HOSTILE = st.lists(
    SOUP | st.sampled_from(["</material>", "</context>", "</item>", "<item kind=", "< / CONTEXT >",
                            "[src:kb-1]", "<passage src='x'>"]),
    max_size=8,
).map("".join)  # fmt: skip
PIECES = st.lists(
    st.builds(
        Material,
        st.sampled_from(KINDS[:-1]),
        HOSTILE,
        st.floats(0, 2e9),
        HOSTILE | st.integers(0, 9_000).map(lambda n: "长" * n),
        st.integers(0, 12),
    ),
    max_size=12,
)


@given(PIECES)
def test_no_text_closes_the_block_or_opens_another(pieces: list[Material]) -> None:
    shown = material.block(pieces, UTC)
    assert shown.startswith("<material>")
    assert shown.endswith("</material>")
    assert len(re.findall(r"<\s*/?\s*material", shown, re.IGNORECASE)) == 2
    assert not re.search(r"<\s*/?\s*(context|passage)", shown, re.IGNORECASE)
    items = sum(piece.kind != "left_out" for piece in pieces)
    assert len(re.findall(r"<\s*item\b", shown, re.IGNORECASE)) == items
    assert len(re.findall(r"<\s*/\s*item\b", shown, re.IGNORECASE)) == items


@given(PIECES)
def test_it_is_bounded_keeps_its_order_and_says_what_was_left_out(pieces: list[Material]) -> None:
    kept = material.bounded(pieces)
    told = [piece for piece in kept if piece.kind == "left_out"]
    shown = [piece for piece in kept if piece.kind != "left_out"]
    assert sum(len(piece.text) for piece in shown) <= material.KEPT
    assert len(pieces) - len(shown) == sum(int(piece.text) for piece in told)
    places = iter(pieces)
    for piece in shown:
        assert any(p.at == piece.at and p.kind == piece.kind for p in places), "order kept"


def test_the_newest_of_a_conversation_and_what_is_pointed_at_are_kept() -> None:
    talk = [Material("thread", at=float(n), text=f"{n} " * 250) for n in range(40)]
    kept = material.bounded([Material("parent", text="root"), *talk])
    assert kept[0].kind == "left_out"
    assert kept[1].text == "root"
    assert kept[-1] == talk[-1]
    assert [p.at for p in kept[2:]] == sorted(p.at for p in kept[2:])


def test_bounding_twice_is_bounding_once_but_for_the_count() -> None:
    talk = [Material("thread", text="x" * 900) for _ in range(20)]
    once = material.bounded(talk)
    assert material.bounded(once[1:]) == once[1:]


FORWARD = (Material("forwarded", "Bob", 1_764_547_100.0, "The TTL is 300 s", 1),)


def test_the_block_stands_before_the_question_and_names_who_and_when() -> None:
    shown = session.with_context(asked("why?", material=FORWARD), "Asia/Shanghai")
    block = (
        '<item kind="forwarded" from="Bob" at="2025-12-01 07:58" depth="1">\n'
        "The TTL is 300 s\n</item>"
    )
    assert block in shown
    assert shown.endswith("</material></context>\n\nwhy?")
    assert words_of(Message("user", (Text(shown),))) == "why?", "the offline model skips it"


def test_material_without_a_question_is_the_thing_to_answer() -> None:
    shown = session.with_context(asked("", material=FORWARD), "UTC")
    assert "summarise what is below" in shown
    assert "The TTL is 300 s" in words_of(Message("user", (Text(shown),)))


def test_a_question_without_material_reads_as_before() -> None:
    assert session.with_context(asked("why?"), "UTC").endswith("</context>\n\nwhy?")
    assert "material" not in session.with_context(asked("why?"), "UTC")


def test_the_thread_is_not_repeated_from_turn_to_turn() -> None:
    pieces = (
        Material("parent", at=10.0, text="root"),
        Material("thread", at=20.0, text="old"),
        Material("quoted", at=5.0, text="quoted"),
        Material("thread", at=31.0, text="new"),
    )
    memory = Snapshot((Exchange("om_0", "p", "q", "a", 30.0),), 1)
    left = session.unheard(asked("x", material=pieces), memory)
    assert [piece.text for piece in left.material] == ["quoted", "new"]
    assert session.unheard(asked("x", material=pieces), Snapshot()).material == pieces


@given(PIECES)
def test_material_is_stored_as_it_was(pieces: list[Material]) -> None:
    full = replace(question(), material=tuple(pieces))
    assert question_from_json(question_to_json(full)) == full


def test_a_question_stored_before_there_was_material_is_read() -> None:
    stored = question_to_json(question())
    del stored["material"]
    assert question_from_json(stored) == question()


@dataclass(slots=True)
class Finds:
    """A gatherer that answers as told and counts how often it was asked."""

    found: Question | None
    asked: list[bool] = field(default_factory=list[bool])

    async def gather(self, question: Question, *, again: bool) -> Question | None:
        self.asked.append(again)
        return self.found


class ReadingPlace(PlainPlace):
    """A plain place with a gatherer."""

    def __init__(self, folder: Path, finds: Finds) -> None:
        super().__init__(folder)
        self.finds = finds

    def gatherer(self, platform: Platform) -> Gatherer:
        return self.finds


def heard(place: PlainPlace) -> str:
    assert isinstance(place.model, ScriptedModel)
    return place.model.requests[-1].messages[-1].text


async def test_what_is_deferred_is_gathered_after_the_reaction_and_stored(tmp_path: Path) -> None:
    asked_ = asked("", deferred="merge_forward")
    place = ReadingPlace(tmp_path, Finds(replace(asked_, deferred="", material=FORWARD)))
    accepted = await place.accept(asked_)
    assert await worker.drain(place, accepted.session)
    assert place.talk.seen == ["seen om_1"]
    assert place.finds.asked == [False]
    assert "The TTL is 300 s" in heard(place)
    stored = await place.table.get(keys.turn(accepted.session, accepted.order, accepted.turn))
    assert stored is not None
    assert "The TTL is 300 s" in str(stored["question"])


async def test_a_later_attempt_does_not_fetch_again(tmp_path: Path) -> None:
    asked_ = asked("", deferred="merge_forward")
    gathered = replace(asked_, deferred="", material=FORWARD)
    place = ReadingPlace(tmp_path, Finds(None))
    accepted = await place.accept(asked_)
    record = await inbox.oldest_pending(place.table, accepted.session)
    assert record is not None
    await inbox.start(place.table, place.clock, record, 0, gathered=gathered)
    place.hands.advance(60.0)
    assert await worker.drain(place, accepted.session)
    assert place.finds.asked == []
    assert "The TTL is 300 s" in heard(place)


@pytest.mark.parametrize(("waits", "again"), [(0.0, []), (1.9, []), (2.1, [True])])
async def test_a_plain_question_is_read_again_only_when_it_waited(
    tmp_path: Path, waits: float, again: list[bool]
) -> None:
    place = ReadingPlace(tmp_path, Finds(asked("edited words")))
    accepted = await place.accept(asked("words"))
    place.hands.advance(waits)
    assert await worker.drain(place, accepted.session)
    assert place.finds.asked == again
    assert heard(place).endswith("edited words" if again else "\n\nwords")


async def test_a_question_that_was_taken_back_is_never_answered(tmp_path: Path) -> None:
    place = ReadingPlace(tmp_path, Finds(None))
    accepted = await place.accept(asked("words"))
    place.hands.advance(5.0)
    assert await worker.drain(place, accepted.session)
    stored = await place.table.get(keys.turn(accepted.session, accepted.order, accepted.turn))
    assert stored is not None
    assert stored["state"] == "CANCELLED"
    assert await inbox.oldest_pending(place.table, accepted.session) is None
    assert (place.talk.begun, place.talk.said) == ([], [])
    assert await place.table.get(keys.answer(accepted.turn)) is None
    later = await place.accept(asked("next", 2))
    place.finds.found = asked("next", 2)
    assert await worker.drain(place, later.session), "the lock was given back"
    assert len(place.talk.done) == 1


def last(place: PlainPlace) -> str:
    frame = place.talk.done[-1]
    return f"{frame.text}\n{frame.notice}"


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_person_of_another_company_hears_why_in_both_languages(
    tmp_path: Path, language: Language
) -> None:
    place = ReadingPlace(tmp_path, Finds(None))
    outside = replace(question().asker, external=True)
    made = asked("How large is the bonus?", asker=outside, deferred="thread")
    asked_ = replace(made, language=language)
    assert await worker.drain(place, (await place.accept(asked_)).session)
    assert "本公司" in last(place)
    assert "internal documents" in last(place)
    assert place.finds.asked == []
    assert isinstance(place.model, ScriptedModel)
    assert place.model.requests == []


async def test_where_outsiders_read_along_the_asker_is_answered_alone(tmp_path: Path) -> None:
    place = ReadingPlace(tmp_path, Finds(None))
    room = replace(question().chat, kind="group")
    hints = {"outsiders": "1"}
    asked_ = asked("How large is the bonus?", chat=room, platform_hints=hints)
    assert await worker.drain(place, (await place.accept(asked_)).session)
    assert place.talk.done[-1].text == phrases.kept_private("en")
    assert [f.text for f in place.talk.shown] == [""] * len(place.talk.shown)
    assert place.talk.alone[-1].text == "Words."


async def test_attachments_that_were_not_read_are_named_under_the_answer(tmp_path: Path) -> None:
    place = ReadingPlace(tmp_path, Finds(None))
    files = (Attachment("image", "F1", "chart.png"), Attachment("file", "F2"))
    asked_ = asked("what does this chart say?", attachments=files)
    assert await worker.drain(place, (await place.accept(asked_)).session)
    assert "chart.png, a file" in last(place)
    assert "Words." in last(place), "the words are answered all the same"

"""JSON from models: the four steps, and what must never be read (P18, case C-AG-11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, cast

import pytest
from annotated_types import Len
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.domain import Json
from agent.errors import ModelFailed, Unavailable
from agent.models.structured import Reader, UnreadableReply
from evaluation.bench.json_repair import COUNT, ours
from tests.fakes.mangled_json import MANGLINGS, Mangled, corpus, cut_off
from tests.fakes.scripted_model import Played, ScriptedModel

GRADES = json.loads(
    (Path(__file__).parents[2] / "data/cases/agent/grader_replies.json").read_text()
)


class Grade(BaseModel):
    id: str
    score: float


class Grades(BaseModel):
    scores: list[Grade]


class Pair(BaseModel):
    name: str
    note: str = ""


class Two(BaseModel):
    scores: Annotated[list[Grade], Len(2, 2)]


PAIR, LIST, TWO = Reader(Pair), Reader(list[Grade]), Reader(Two)
ONE = Pair(name="Dana", note="x")


# --- P18 -------------------------------------------------------------------------------------


def outcome(cases: list[Mangled]) -> tuple[int, list[Mangled], list[Mangled]]:
    """How many were read, which were not, and which were read wrongly."""
    read = ours()
    right, unread, wrong = 0, list[Mangled](), list[Mangled]()
    for case in cases:
        found = read(case)
        if found is None:
            unread.append(case)
        elif case.value is not None and found == case.shape.model_validate(case.value):
            right += 1
        else:
            wrong.append(case)
    return right, unread, wrong


@pytest.mark.parametrize("seed", [18, 2026])
def test_p18_99_of_100_spoiled_texts_are_read_and_none_wrongly(seed: int) -> None:
    cases = corpus(COUNT, seed)
    assert {c.kind for c in cases} == set(MANGLINGS)
    right, unread, wrong = outcome(cases)
    assert wrong == []
    assert right >= 0.99 * COUNT, unread


@pytest.mark.parametrize("seed", [19, 2027])
def test_p18_a_text_that_lost_something_is_never_read(seed: int) -> None:
    right, unread, wrong = outcome(cut_off(300, seed))
    assert (right, wrong) == (0, [])
    assert len(unread) == 300


# --- steps one to three ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Dana", "note": "x"}',
        '\n```json\n{"name": "Dana", "note": "x"}\n```\n',
        '```\n{"name": "Dana", "note": "x"}',
        'Sure! {"name": "Dana", "note": "x"} - that\'s it',
        'As {x}: {"name": "Dana", "note": "x"}',
        "{'name': 'Dana', 'note': 'x',}",
        '{name: "Dana", note: "x"}',
        '{"name": "Dana" "note": "x"}',
        '{"name": "Dana", "note": "x"',
        '{"name": "Dana", // who\n "note": "x"}',
        '{"name": "Dana", "note": "x"}\n{"name": "Dana", "note": "x"}',
    ],
)
def test_read_as_the_same(text: str) -> None:
    assert PAIR.read(text) == ONE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can not do that.",
        "null",
        "[]",
        '{"name": "Dana", "age": 7}',
        '{"note": "x"}',
        '{"name": "Dana", "note": "x", "name": "Bob"}',
        '{"name": "Dana"',
        '{"name": "Dana", "note": "x',
        '{"name": "Dana", "note": ',
        '{"name": "Dana"}\n{"name": "Bob"}',
        '{"wrapped": {"name": "Dana", "note": "x"}}',
        '{"wrapped": {"name": "Dana", "note": "x"}',
        "{" * 50_000,
    ],
)
def test_refused_rather_than_guessed(text: str) -> None:
    with pytest.raises(UnreadableReply) as raised:
        PAIR.read(text)
    assert isinstance(raised.value, ModelFailed)
    assert "Dana" not in str(raised.value)


def test_a_list_that_broke_off_is_read_only_when_its_length_is_known() -> None:
    two = '{"scores": [{"id": "a", "score": 0.5}, {"id": "b", "score": 1}'
    assert [g.id for g in TWO.read(two).scores] == ["a", "b"]
    with pytest.raises(UnreadableReply):
        Reader(Grades).read(two)
    with pytest.raises(UnreadableReply):
        TWO.read(two[:40])
    with pytest.raises(UnreadableReply):
        TWO.read('{"scores": [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.2')


def test_two_strings_with_loose_quotes_are_not_told_apart() -> None:
    class Notes(BaseModel):
        notes: list[str]

    reader = Reader(Notes)
    assert reader.read('{"notes": ["he said "no" twice"]}').notes == ['he said "no" twice']
    with pytest.raises(UnreadableReply):
        reader.read('{"notes": ["say "a", "b" now"]}')


def test_what_is_no_number_in_json_is_none_here() -> None:
    for name in ("NaN", "Infinity", "-Infinity"):
        for text in (f'[{{"id": "a", "score": {name}}}]', f"[{{'id': 'a', 'score': {name},}}]"):
            with pytest.raises(UnreadableReply):
                LIST.read(text)


def test_a_list_may_be_the_shape() -> None:
    assert LIST.read('Here: [{"id": "a", "score": 0.5,}]') == [Grade(id="a", score=0.5)]


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_the_words_are_whole_json_is_read_as_it_stands(name: str, note: str) -> None:
    text = json.dumps({"name": name, "note": note})
    assert PAIR.read(text) == Pair(name=name, note=note)


@given(st.text(alphabet="{}[]\",:'ab\\`/ \n", max_size=80))
def test_any_rubbish_is_read_or_refused_and_raises_nothing_else(text: str) -> None:
    try:
        found = PAIR.read(text)
    except UnreadableReply:
        return
    assert all(w in text.replace("\\", "") or "\\" in text for w in (found.name, found.note))


# --- C-AG-11 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GRADES, ids=lambda c: str(c["name"]))
def test_c_ag_11_grades_in_a_fence_and_out_of_range(case: dict[str, Json]) -> None:
    grades = Reader(Grades).read(cast("str", case["reply"])).scores
    kept = [g.id for g in grades if min(max(g.score, 0.0), 1.0) >= 0.5]
    assert kept == case["kept"]
    assert [g.id for g in grades] == case["items"]


# --- step four -------------------------------------------------------------------------------

PROSE = 'The name is Dana and the note is "x".'


def light(*played: Played) -> ScriptedModel:
    return ScriptedModel(list(played))


async def test_no_model_is_asked_for_what_the_first_three_steps_read() -> None:
    model = light()
    assert await PAIR.read_or_ask("{'name': 'Dana', 'note': 'x'}", model) == ONE
    assert model.requests == []


async def test_the_light_model_is_asked_once_with_the_schema_and_the_text() -> None:
    model = light('```json\n{"name": "Dana", "note": "x"}\n```')
    assert await PAIR.read_or_ask(PROSE, model) == ONE
    [request] = model.requests
    assert '"name"' in request.system
    assert request.messages[0].text == PROSE
    assert request.tools == ()


@pytest.mark.parametrize(
    "mended", ['{"name": "Dana", "note": "y"}', '{"name": "Dana", "age": 7}', "Sorry."]
)
async def test_what_the_light_model_invents_is_refused(mended: str) -> None:
    model = light(mended)
    with pytest.raises(UnreadableReply):
        await PAIR.read_or_ask(PROSE, model)
    assert len(model.requests) == 1


async def test_numbers_that_the_text_lacks_are_invented_too() -> None:
    text = "a gets 0.50 of 1"
    assert (await LIST.read_or_ask(text, light('[{"id": "a", "score": 0.5}]')))[0].score == 0.5
    with pytest.raises(UnreadableReply):
        await LIST.read_or_ask(text, light('[{"id": "a", "score": 0.7}]'))


async def test_nobody_is_asked_for_the_end_of_a_text_that_was_cut_off() -> None:
    model = light()
    with pytest.raises(UnreadableReply):
        await PAIR.read_or_ask('{"name": "Dana", "note": "x', model)
    assert model.requests == []


async def test_a_fault_of_the_light_model_stays_a_fault() -> None:
    with pytest.raises(Unavailable):
        await PAIR.read_or_ask(PROSE, light(Unavailable("down")))

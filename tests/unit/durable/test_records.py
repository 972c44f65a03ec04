"""Records: every item carries what the data model asks for, and comes back as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import Identity, Json, Question
from agent.durable import inbox, keys
from agent.durable.records import (
    DAY,
    TurnRecord,
    UnknownFormat,
    Versions,
    check_format,
    packed,
    question_from_json,
    question_to_json,
    unpacked,
)
from agent.ports import Item, Key
from agent.stores.memory_table import MemoryTable
from tests.fakes.clock import FakeClock
from tests.fakes.turns import ALICE, full_question, question

JSON: st.SearchStrategy[Json] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=())),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=8,
)


def record(asked: Question) -> TurnRecord:
    return TurnRecord(
        "sid",
        "turn",
        keys.order(asked.asked_at),
        asked,
        "ev",
        1_764_547_201.5,
        "RUNNING",
        7,
        2,
        Versions("c", "f", "p", "m", "e"),
    )


@given(JSON)
def test_packed_comes_back_and_can_always_be_stored(value: Json) -> None:
    text = packed(value)
    assert unpacked(text) == value
    text.encode()


def test_a_number_that_is_not_finite_is_stored_as_none() -> None:
    assert unpacked(packed([float("inf"), float("nan"), 1.0])) == [None, None, 1.0]


@pytest.mark.parametrize("asked", [question(), full_question()])
async def test_turn_comes_back_through_the_table_as_it_was(asked: Question) -> None:
    table = MemoryTable()
    stored = record(asked)
    await table.put(stored.to_item())
    assert TurnRecord.from_item(await table.get(stored.key) or {}) == stored
    assert question_from_json(unpacked(packed(question_to_json(asked)))) == asked


NAMES = st.text(max_size=5)


@given(st.builds(Identity, NAMES, st.just("slack"), NAMES, NAMES, NAMES, NAMES, st.booleans()))
def test_identity_comes_back_as_it_was(asker: Identity) -> None:
    asked = replace(full_question(), asker=asker)
    assert question_from_json(unpacked(packed(question_to_json(asked)))) == asked


async def test_turn_and_marker_carry_class_format_owner_and_expiry() -> None:
    table, clock = MemoryTable(), FakeClock()
    accepted = await inbox.accept(table, clock, question(), "ev")
    turn, marker = (await table.query(keys.session(accepted.session), reverse=True)).items
    base: Item = {"v": 1, "org": "hengxing", "cls": "turn"}
    assert turn.items() >= (base | {"k": "turn", "own_pk": ALICE.principal}).items()
    assert marker.items() >= (base | {"k": "marker"}).items()
    assert "own_pk" not in marker
    assert turn["exp"] == int(clock.now()) + 90 * DAY
    assert marker["exp"] == int(clock.now()) + 2 * DAY
    assert await table.query_index("own", ALICE.principal) == (
        Key(str(turn["pk"]), str(turn["sk"])),
    )


@pytest.mark.parametrize("version", [0, 1])
def test_this_format_and_the_one_before_are_read(version: int) -> None:
    assert TurnRecord.from_item(record(question()).to_item() | {"v": version}).turn == "turn"


@pytest.mark.parametrize("change", [{"v": 2}, {"v": -1}, {"v": "1"}, {"v": None}, {"k": "lock"}])
def test_another_format_or_kind_is_refused(change: Item) -> None:
    with pytest.raises(UnknownFormat):
        check_format(record(question()).to_item() | change, "turn")
    with pytest.raises(UnknownFormat):
        TurnRecord.from_item(record(question()).to_item() | change)

"""The laws of labels: they only narrow, and a room is covered member by member or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.audience import ORGANISATION, Audience, covers, narrowed
from agent.domain import EVERYONE, ChatRef, Identity
from tests.fakes.rooms import FixedDirectory, FixedRooms
from tests.fakes.turns import ALICE, question

ROOM = "chat:feishu:oc_room"
READERS = st.frozensets(
    st.sampled_from([EVERYONE, "group:hr", "group:finance", "person:feishu:ou_a", ROOM]), max_size=4
)
MEMBERS = st.lists(READERS, min_size=1, max_size=4)
PEOPLE = tuple(replace(ALICE, user=f"ou_{name}") for name in "abc")
GROUP = replace(question(), chat=ChatRef("oc_room", "group", "om_1"))


@pytest.mark.parametrize(
    ("readers", "want"),
    [
        ([], {EVERYONE}),
        ([{EVERYONE}], {EVERYONE}),
        ([{EVERYONE}, {"group:hr"}], {"group:hr"}),
        ([{"group:hr", "group:finance"}, {"group:hr"}], {"group:hr"}),
        ([{"group:hr"}, {"group:finance"}], set[str]()),
        ([{"group:hr"}, {"group:finance"}, {EVERYONE}], set[str]()),
    ],
)
def test_the_label_of_some_evidence(readers: list[set[str]], want: set[str]) -> None:
    assert narrowed(ORGANISATION, [frozenset(r) for r in readers]) == want


@given(st.lists(READERS), st.lists(READERS), MEMBERS)
def test_further_evidence_never_widens(
    some: list[frozenset[str]], more: list[frozenset[str]], members: list[frozenset[str]]
) -> None:
    before = narrowed(ORGANISATION, some)
    after = narrowed(before, more)
    assert EVERYONE in before or after <= before
    # Everybody whom the organisation trusts carries everyone; outsiders are the turn's first check.
    inside = [m | {EVERYONE} for m in members]
    if covers(after, ROOM, inside):
        assert covers(before, ROOM, inside)


@given(st.lists(READERS))
def test_the_order_of_evidence_does_not_matter(some: list[frozenset[str]]) -> None:
    assert narrowed(ORGANISATION, some) == narrowed(ORGANISATION, some[::-1])
    assert narrowed(ORGANISATION, some) == narrowed(narrowed(ORGANISATION, some), some)


@given(st.lists(READERS), MEMBERS)
def test_whoever_is_covered_may_read_each_piece(
    some: list[frozenset[str]], members: list[frozenset[str]]
) -> None:
    """The point of it all, judged piece by piece instead of by the label."""
    inside = [m | {EVERYONE} for m in members]
    if covers(narrowed(ORGANISATION, some), ROOM, inside):
        for readers in some:
            assert all(readers & (m | {ROOM}) for m in inside)


@given(READERS)
def test_unknown_members_are_never_covered(label: frozenset[str]) -> None:
    nobody: list[frozenset[str]] = []
    assert covers(label, ROOM, None) == covers(label, ROOM, nobody) == (ROOM in label)


@given(READERS)
async def test_a_direct_chat_is_always_the_askers_own(label: frozenset[str]) -> None:
    direct = replace(GROUP, chat=replace(GROUP.chat, kind="direct"))
    rooms = FixedRooms(None, outside=True)
    assert await Audience(rooms, FixedDirectory(), direct).may_read(label)
    assert rooms.asked == [], "a direct chat costs nothing"


@dataclass(slots=True)
class Case:
    """Who sits in the room and what they carry."""

    label: frozenset[str]
    people: tuple[Identity, ...] | None
    groups: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    outside: bool = False


HR = frozenset(("group:hr",))
ALL_HR = {"ou_a": {"hr"}, "ou_b": {"hr"}, "ou_c": {"hr"}}
GUEST = replace(PEOPLE[2], external=True)


@pytest.mark.parametrize(
    ("case", "want", "asked"),
    [
        pytest.param(Case(ORGANISATION, None), True, ["outsiders"], id="org needs no list"),
        pytest.param(Case(ORGANISATION, None, outside=True), False, ["outsiders"], id="outsiders"),
        pytest.param(Case(frozenset((ROOM,)), None), True, ["outsiders"], id="the very room"),
        pytest.param(
            Case(frozenset((ROOM,)), PEOPLE, outside=True), False, ["outsiders"], id="held"
        ),
        pytest.param(Case(frozenset(("chat:slack:oc_room",)), PEOPLE), False, None, id="platform"),
        pytest.param(Case(HR, PEOPLE, ALL_HR), True, ["outsiders", "members"], id="all in group"),
        pytest.param(Case(HR, PEOPLE, {"ou_a": {"hr"}}), False, None, id="one is not"),
        pytest.param(Case(HR, None, ALL_HR), False, None, id="unknown members"),
        pytest.param(Case(HR, (), ALL_HR), False, None, id="nobody known"),
        pytest.param(Case(HR, (*PEOPLE[:2], GUEST), ALL_HR), False, None, id="guest in group"),
        pytest.param(Case(frozenset(), PEOPLE, ALL_HR), False, None, id="no single label"),
    ],
)
async def test_who_may_read_in_a_room(case: Case, want: bool, asked: list[str] | None) -> None:
    rooms = FixedRooms(case.people, outside=case.outside)
    audience = Audience(rooms, FixedDirectory(case.groups), GROUP)
    assert await audience.may_read(case.label) is want
    assert asked is None or rooms.asked == asked


async def test_an_event_that_names_outsiders_needs_no_question() -> None:
    hinted = replace(GROUP, platform_hints={"outsiders": "1"})
    rooms = FixedRooms(PEOPLE)
    assert not await Audience(rooms, FixedDirectory(), hinted).may_read(ORGANISATION)
    assert rooms.asked == []


async def test_the_first_person_who_may_not_read_it_ends_the_look_up() -> None:
    directory = FixedDirectory({"ou_a": {"hr"}})
    assert not await Audience(FixedRooms(PEOPLE), directory, GROUP).may_read(HR)
    assert directory.asked == ["ou_a", "ou_b"]

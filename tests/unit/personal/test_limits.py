"""Budgets, faults in words, and the pace of calls."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConditionFailed, RateLimited, ToolFailed, Unavailable
from connectors.access import ScopeMissing, SearchBudget, SignInNeeded
from connectors.personal import limits
from tests.fakes.clock import FakeClock


def test_a_topic_that_was_searched_goes_on_one_that_was_not_is_said() -> None:
    budget = SearchBudget(1)
    assert not limits.spent(budget, "docs")
    assert limits.spent(budget, "docs")
    with pytest.raises(ToolFailed, match="ask again later") as failed:
        limits.spent(budget, "minutes")
    assert failed.value.__cause__ is not None


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (RateLimited("x", 7.4), "in about 7 seconds"),
        (Unavailable("x"), "does not answer"),
        (ConditionFailed("x"), "does not answer"),
        (ToolFailed("no such page"), "The chats: no such page"),
    ],
)
def test_passing_faults_are_told_to_the_model(fault: Exception, words: str) -> None:
    with pytest.raises(ToolFailed, match=words) as failed, limits.told("The chats"):
        raise fault
    assert failed.value.__cause__ is fault


def test_what_the_person_has_to_do_is_told_unchanged() -> None:
    for fault in (SignInNeeded("x"), ScopeMissing("x", frozenset(("s",)))):
        with pytest.raises(type(fault)) as raised, limits.told("The chats"):
            raise fault
        assert raised.value is fault


async def test_calls_run_at_once_and_none_loses_another() -> None:
    started: list[str] = []
    gate = asyncio.Event()

    async def call(name: str, fault: Exception | None = None) -> str:
        started.append(name)
        if len(started) == 3:
            gate.set()
        await gate.wait()
        if fault:
            raise fault
        return name

    fault = Unavailable("x")
    assert await limits.all_of([call("a"), call("b", fault), call("c")]) == ["a", fault, "c"]
    assert await limits.all_of([call("d")]) == ["d"]
    assert await limits.all_of([call("e", fault)]) == [fault]
    assert await limits.all_of([]) == []


def test_the_first_fault_counts_when_nothing_came_or_the_person_has_to_act() -> None:
    down, needed = Unavailable("x"), SignInNeeded("x")
    assert limits.given(["a", down]) == ["a"]
    assert limits.given([]) == []
    with pytest.raises(Unavailable):
        limits.given([down, down])
    with pytest.raises(SignInNeeded):
        limits.given(["a", down, needed])


def test_lists_are_taken_in_turn() -> None:
    assert limits.in_turn([["a", "b"], ["c"], ["b", "d", "e"]]) == ["a", "c", "b", "d", "e"]


@given(st.lists(st.floats(0, 0.6), min_size=1, max_size=30), st.integers(1, 5))
def test_no_second_has_more_starts_than_allowed(gaps: list[float], most: int) -> None:
    clock = FakeClock()
    pace = limits.Pace(clock, most)
    starts: list[float] = []

    async def run() -> None:
        for gap in gaps:
            clock.advance(gap)
            await pace.turn()
            starts.append(clock.monotonic())

    asyncio.run(run())
    later = starts[most:]
    assert all(b - a >= 1.0 - 1e-6 for a, b in zip(starts, later, strict=False))

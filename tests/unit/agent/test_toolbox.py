"""Parallel calls: one reply each, in call order, whatever happens to a sibling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.citations import NOTHING_FOUND, SourceCollector
from agent.dialogue import ToolCall
from agent.errors import BadArguments, ToolFailed, ToolTimedOut, Unavailable
from agent.toolbox import SAME_CALL_LIMIT, Toolbox
from tests.fakes.loop import Library, Recorded, passage


def box(library: Library, timeout: float = 5.0) -> Toolbox:
    return Toolbox([library.tool(timeout)], SourceCollector(), Recorded())


def ask(query: str, name: str = "c1") -> ToolCall:
    return ToolCall(name, "search", {"query": query})


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
async def test_replies_stand_in_call_order(order: list[int], failing: set[int]):
    library = Library(
        found={str(i): (passage(f"s{i}"),) for i in range(6)},
        faults={str(i): RuntimeError("boom") for i in failing},
        delays={str(i): place / 10_000 for place, i in enumerate(order)},
    )
    replies = await box(library).run([ask(str(i), f"call{i}") for i in range(6)], step=1)
    assert [r.call for r in replies] == [f"call{i}" for i in range(6)]
    assert [r.error for r in replies] == [i in failing for i in range(6)]
    for i, reply in enumerate(replies):
        assert reply.text
        assert (f'src="s{i}"' in reply.text) == (i not in failing)


async def test_each_kind_of_fault_becomes_words_for_the_model():
    library = Library(
        faults={"a": ToolFailed("no such space"), "b": Unavailable(""), "c": RuntimeError("secret")}
    )
    a, b, c = await box(library).run([ask("a", "1"), ask("b", "2"), ask("c", "3")], step=1)
    assert (a.text, a.error) == ("no such space", True)
    assert (b.text, b.error) == ("PL-102", True)
    assert c.error
    assert "secret" not in c.text


async def test_a_call_past_its_limit_is_given_up_and_the_rest_still_answer():
    library = Library(found={"fast": (passage("s"),)}, delays={"slow": 30.0})
    slow, fast = await box(library, 0.02).run([ask("slow", "1"), ask("fast", "2")], step=1)
    assert slow.error
    assert "0.02 s" in slow.text
    assert not fast.error
    assert library.ran == ["slow", "fast"], "a time-out is not tried again"


async def test_unknown_tools_and_unreadable_arguments_are_answered():
    made = box(Library())
    unknown, unreadable, wrong = await made.run(
        [
            ToolCall("1", "nope", {}),
            ToolCall("2", "search", None),
            ToolCall("3", "search", {"q": 1}),
        ],
        step=1,
    )
    assert unknown.error
    assert "search" in unknown.text
    assert unreadable.error
    assert wrong.error
    assert "query" in wrong.text


async def test_the_very_same_call_runs_once_and_ends_the_search():
    library = Library(found={"x": (passage("s"),)})
    made = box(library)
    texts = [(await made.run([ask("x", str(i))], step=i))[0] for i in range(SAME_CALL_LIMIT + 1)]
    assert library.ran == ["x"]
    assert made.looping
    assert [t.error for t in texts] == [False, False, False, True]


async def test_another_call_is_not_the_same_call():
    library = Library()
    made = box(library)
    for i in range(8):
        await made.run([ask(f"x{i}")], step=i)
    assert not made.looping
    assert len(library.ran) == 8


async def test_a_call_that_failed_may_be_tried_again():
    library = Library(faults={"x": Unavailable("down")})
    made = box(library)
    await made.run([ask("x")], step=1)
    await made.run([ask("x")], step=2)
    assert library.ran == ["x", "x"]


@pytest.mark.parametrize(
    ("fault", "down"),
    [
        (Unavailable("down"), True),
        (ToolTimedOut("late"), True),
        (RuntimeError("boom"), True),
        (BadArguments("no such field"), False),
        (ToolFailed("no such document"), False),
    ],
)
async def test_a_source_that_is_down_is_noted_until_it_answers(fault: Exception, down: bool):
    made = box(Library(faults={"x": fault}))
    await made.run([ask("x")], step=1)
    assert list(made.unsearched) == (["search"] if down else [])
    await made.run([ask("y")], step=2)
    assert made.unsearched == {}


async def test_nothing_found_is_said_and_found_sources_are_collected():
    made = box(Library(found={"x": (passage("a"), passage("b"), passage("a"))}))
    nothing, found = await made.run([ask("y", "1"), ask("x", "2")], step=1)
    assert nothing.text == NOTHING_FOUND
    assert found.text.count("<passage") == 3
    assert list(made.sources.table) == ["a", "b"]
    assert made.passages == 3


async def test_the_recorder_hears_which_results_are_private():
    library = Library()
    own = replace(library.tool(), effect="private-read")
    for tool, private in ((library.tool(), []), (own, ["c1"])):
        recorded = Recorded()
        await Toolbox([tool], SourceCollector(), recorded).run([ask("a")], step=1)
        assert recorded.private == private

"""What is cut when a request does not fit the model's window, and what the loop does (C-AG-05)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import compaction
from agent.citations import SourceCollector
from agent.dialogue import Capability, Message, ModelRequest, Text, ToolReply
from agent.errors import ContextTooLong
from agent.loop import Limits, Loop, LoopEnd
from agent.stopwatch import Stopwatch
from agent.toolbox import Toolbox
from tests.fakes.clock import FakeClock
from tests.fakes.loop import Library, Recorded, Shown, passage
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply

RECIPE = json.loads(
    (Path(__file__).parents[2] / "data/cases/agent/ten_parallel_results_recipe.json").read_text()
)
LONG = RECIPE["each_result"]["char"] * RECIPE["each_result"]["count"]
WINDOW = 200_000
QUESTION = Message("user", (Text("who is on call?"),))
TEN = reply(*(call("search", {"query": f"q{i}"}, id=f"c{i}") for i in range(RECIPE["calls"])))


def results(*texts: str, first: int = 0) -> Message:
    return Message("user", tuple(ToolReply(f"c{first + i}", t) for i, t in enumerate(texts)))


def asked(*history: Message) -> ModelRequest:
    return ModelRequest("policy", (), history, 4096)


def texts(message: Message) -> list[str]:
    return [b.text for b in message.blocks if isinstance(b, ToolReply)]


def characters(request: ModelRequest) -> int:
    return sum(len(t) for m in request.messages for t in texts(m))


# --- what is cut -----------------------------------------------------------------------------


def test_a_request_that_fits_is_the_very_same() -> None:
    request = asked(QUESTION, TEN.message, results(*["short"] * 10))
    assert compaction.fitted(request, WINDOW) is request
    assert compaction.halved(asked(QUESTION)) == asked(QUESTION)


def test_english_of_the_windows_size_is_not_cut_for_its_letters() -> None:
    request = asked(QUESTION, TEN.message, results("word " * 60_000))
    assert compaction.fitted(request, WINDOW) is request


def test_results_of_one_message_come_down_to_the_same_length() -> None:
    request = asked(QUESTION, TEN.message, results(*[LONG] * 9, "short"))
    fitted = compaction.fitted(request, WINDOW)
    *long, short = texts(fitted.messages[2])
    assert short == "short"
    assert len({len(t) for t in long}) == 1
    assert 0.8 * WINDOW < characters(fitted) < WINDOW - 4096
    assert all(t.startswith("查查") for t in long)
    assert all("cut to make room" in t for t in long)
    assert [b.call for b in fitted.messages[2].blocks if isinstance(b, ToolReply)] == [
        f"c{i}" for i in range(10)
    ]


def test_the_oldest_results_are_cut_first() -> None:
    old, new = results(LONG, LONG), results(LONG * 3, first=2)
    request = asked(QUESTION, TEN.message, old, TEN.message, new)
    fitted = compaction.fitted(request, WINDOW)
    assert len(texts(fitted.messages[2])[0]) < len(LONG)
    assert fitted.messages[4] is new


def test_old_exchanges_go_before_the_question_does() -> None:
    history = [
        message
        for i in range(20)
        for message in (
            Message("user", (Text(f"question {i} " + "长" * 1_000),)),
            Message("assistant", (Text("答" * 1_000),)),
        )
    ]
    fitted = compaction.fitted(asked(*history, QUESTION), 16_000)
    assert fitted.messages[-1] is QUESTION
    assert fitted.messages[0].role == "user"
    assert 0 < len(fitted.messages) < len(history)
    alone = compaction.fitted(asked(Message("user", (Text("长" * 50_000),))), 16_000)
    assert len(alone.messages) == 1, "a question is never cut"


def test_a_cut_ends_with_a_line_where_one_is_near() -> None:
    request = asked(QUESTION, TEN.message, results("十个字的一行正好写完\n" * 40_000))
    [cut] = texts(compaction.fitted(request, WINDOW).messages[2])
    assert cut.partition("\n[The rest")[0].endswith("正好写完")


@given(
    st.lists(st.lists(st.integers(0, 30_000), min_size=1, max_size=5), max_size=6),
    st.integers(9_000, 60_000),
)
def test_whatever_there_is_calls_stay_paired_and_nothing_grows(
    rounds: list[list[int]], window: int
) -> None:
    history = [QUESTION]
    for sizes in rounds:
        made = tuple(call("search", {}, id=f"c{i}") for i in range(len(sizes)))
        history += [Message("assistant", made), results(*("查" * n for n in sizes))]
    request = asked(*history)
    fitted = compaction.fitted(request, window)
    assert len(fitted.messages) == len(history)
    for before, after in zip(history, fitted.messages, strict=True):
        assert len(after.blocks) == len(before.blocks)
        for b, a in zip(texts(before), texts(after), strict=True):
            assert a == b or len(a.encode()) <= len(b.encode())
    assert compaction.fitted(fitted, window).messages == fitted.messages


# --- the loop --------------------------------------------------------------------------------


class Stage:
    """A loop whose library finds ten very long passages."""

    def __init__(self, *script: Played) -> None:
        self.model = ScriptedModel(list(script), about=Capability("case", window=WINDOW))
        found = {f"q{i}": (passage(f"kb-{i}", LONG),) for i in range(10)}
        clock = FakeClock()
        toolbox = Toolbox([Library(found=found).tool()], SourceCollector(), Recorded())
        self.voice = Shown()
        self.loop = Loop(
            self.model,
            toolbox,
            Recorded(),
            self.voice,
            clock,
            Stopwatch(clock),
            "en",
            Limits(),
        )

    async def run(self) -> LoopEnd:
        return await self.loop.run("policy", (QUESTION,))


async def test_c_ag_05_results_are_cut_to_a_budget_before_the_request() -> None:
    stage = Stage(TEN, "Dana [src:kb-1].")
    end = await stage.run()
    assert end.shortened
    assert end.end == "answered"
    assert 0.5 * WINDOW < characters(stage.model.requests[1]) < WINDOW


async def test_c_ag_05_a_refusal_anyway_gets_one_compaction_and_one_retry() -> None:
    stage = Stage(TEN, ContextTooLong("400"), "Dana [src:kb-1].")
    end = await stage.run()
    assert (end.text, end.shortened) == ("Dana [src:kb-1].", True)
    _, first, second = stage.model.requests
    assert characters(second) < 0.6 * characters(first)
    with pytest.raises(ContextTooLong):
        await Stage(TEN, ContextTooLong("400"), ContextTooLong("400")).run()


async def test_c_ag_05_nothing_to_cut_is_not_sent_again() -> None:
    stage = Stage(ContextTooLong("400"))
    with pytest.raises(ContextTooLong):
        await stage.run()
    assert len(stage.model.requests) == 1


async def test_what_was_cut_stays_cut_so_that_the_prefix_stays_the_same() -> None:
    again = reply(call("search", {"query": "none"}, id="c10"))
    stage = Stage(TEN, again, "Dana.")
    await stage.run()
    second, third = stage.model.requests[1:]
    assert third.messages[: len(second.messages)] == second.messages


async def test_a_short_turn_says_nothing_of_it() -> None:
    stage = Stage(reply(call("search", {"query": "none"})), "Dana.")
    assert not (await stage.run()).shortened
    assert replace(stage.model.requests[1], messages=()) == ModelRequest(
        "policy", stage.model.requests[0].tools, (), 4096
    )

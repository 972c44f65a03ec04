"""The ReAct loop against a written model: pairing, limits, cuts, repeats."""

from __future__ import annotations

import pytest

from agent.citations import SourceCollector
from agent.dialogue import Message, ModelReply, Text, TextDelta, ToolReply
from agent.domain import Json
from agent.errors import ModelFailed, ModelRefused, RateLimited, Unavailable
from agent.loop import MOST_TOKENS, Limits, Loop, LoopEnd
from agent.stopwatch import Stopwatch
from agent.toolbox import Toolbox
from tests.fakes.clock import FakeClock
from tests.fakes.loop import Library, Recorded, Shown, passage
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply

QUESTION = (Message("user", (Text("who is on call?"),)),)


class Stage:
    """One loop with everything around it in view."""

    def __init__(self, script: list[Played], library: Library | None = None, steps: int = 10):
        self.model = ScriptedModel(script)
        self.library = library or Library(found={"rota": (passage("ops-12", "Dana this week."),)})
        self.journal, self.voice, self.clock = Recorded(), Shown(), FakeClock()
        self.toolbox = Toolbox([self.library.tool()], SourceCollector(), self.journal)
        self.loop = Loop(
            self.model,
            self.toolbox,
            self.journal,
            self.voice,
            self.clock,
            Stopwatch(self.clock),
            "en",
            Limits(steps),
        )

    async def run(self) -> LoopEnd:
        return await self.loop.run("policy", QUESTION)

    @property
    def last_messages(self) -> tuple[Message, ...]:
        return self.model.requests[-1].messages


def search(query: str, name: str = "c1"):
    arguments: dict[str, Json] = {"query": query}
    return call("search", arguments, id=name)


async def test_search_then_answer():
    stage = Stage([reply("Let me look.", search("rota")), "Dana [src:ops-12]."])
    end = await stage.run()
    assert (end.text, end.end, end.steps) == ("Dana [src:ops-12].", "answered", 2)
    assert stage.voice.text == end.text, "words before a call are provisional"
    assert list(stage.voice.table) == ["ops-12"]
    assert stage.voice.lines == ["Searching the library…", "Reading your company's sources…"]
    assert stage.journal.events == ["model 1 tools", "tool 1 c1 ok", "model 2 end"]
    question, said, results = stage.last_messages
    assert question == QUESTION[0]
    assert said.blocks == (Text("Let me look."), search("rota"))
    assert [b.call for b in results.blocks if isinstance(b, ToolReply)] == ["c1"]


async def test_one_failing_call_keeps_its_sibling_and_both_are_paired():
    library = Library(found={"rota": (passage("ops-12"),)}, faults={"chat": RuntimeError("boom")})
    stage = Stage([reply(search("rota", "A"), search("chat", "B")), "Dana [src:ops-12]."], library)
    await stage.run()
    first, second = stage.last_messages[-1].blocks
    assert isinstance(first, ToolReply)
    assert isinstance(second, ToolReply)
    assert (first.call, first.error) == ("A", False)
    assert (second.call, second.error) == ("B", True)
    assert second.text


async def test_a_truncated_call_is_never_executed():
    stage = Stage([reply(search("rota"), stop="length"), reply(search("rota", "c2")), "ok"])
    end = await stage.run()
    assert stage.library.ran == ["rota"], "only the whole call ran"
    cut = stage.model.requests[1].messages[-1].blocks[0]
    assert isinstance(cut, ToolReply)
    assert cut.error
    assert "cut off" in cut.text
    assert stage.model.requests[1].max_tokens == min(2 * Limits().tokens, MOST_TOKENS)
    assert end.end == "answered"


async def test_the_same_call_for_ever_ends_with_what_was_found():
    played: list[Played] = [reply(search("rota", f"c{i}")) for i in range(10)]
    stage = Stage(played)
    end = await stage.run()
    assert end.end == "step_limit"
    assert end.steps == 4
    assert stage.library.ran == ["rota"]
    assert stage.model.requests[-1].answer_now
    for message in stage.last_messages[1:]:
        assert message.blocks, "every call is paired and no message is empty"


async def test_the_step_limit_asks_for_the_answer_in_its_last_step():
    played: list[Played] = [reply(search(f"q{i}", f"c{i}")) for i in range(2)]
    stage = Stage([*played, "what I found"], steps=3)
    end = await stage.run()
    assert (end.text, end.end, end.steps) == ("what I found", "answered", 3)
    assert [r.answer_now for r in stage.model.requests] == [False, False, True]


async def test_an_empty_answer_is_asked_for_once_more_and_never_kept():
    stage = Stage([reply(search("rota")), reply(" "), "Dana."])
    assert (await stage.run()).text == "Dana."
    silent = Stage([reply(search("rota")), reply(""), reply("")])
    end = await silent.run()
    assert (end.text, end.end) == ("", "empty")
    for request in silent.model.requests:
        for message in request.messages:
            assert all(b.text.strip() for b in message.blocks if isinstance(b, Text))


async def test_a_stream_that_breaks_off_is_asked_again_from_the_start():
    stage = Stage([reply("The gateway", stop="cut"), "The gateway restarts at noon."])
    end = await stage.run()
    assert (end.text, end.end) == ("The gateway restarts at noon.", "answered")
    assert stage.voice.text == end.text


async def test_a_stream_that_keeps_breaking_off_says_so():
    stage = Stage([reply("half", stop="cut")] * 3)
    end = await stage.run()
    assert (end.text, end.end) == ("half", "broken_off")


async def test_a_passing_fault_in_the_middle_replaces_the_partial_text():
    broken: list[Played] = [[TextDelta("Half "), Unavailable("lost")], "Whole."]
    stage = Stage(broken)
    assert (await stage.run()).text == "Whole."
    assert stage.voice.text == "Whole."


async def test_a_named_pause_is_kept():
    stage = Stage([RateLimited("slow down", 7.0), "ok"])
    before = stage.clock.monotonic()
    await stage.run()
    assert stage.clock.monotonic() - before == pytest.approx(7.0)


async def test_a_model_that_stays_away_is_an_error_after_three_tries():
    stage = Stage([Unavailable("down")] * 3)
    with pytest.raises(Unavailable):
        await stage.run()
    assert len(stage.model.requests) == 3


@pytest.mark.parametrize("fault", [ModelFailed("bad request"), ModelRefused("content")])
async def test_a_final_fault_is_not_tried_again(fault: ModelFailed):
    stage = Stage([fault, "never"])
    with pytest.raises(type(fault)):
        await stage.run()
    assert len(stage.model.requests) == 1


async def test_a_refusal_is_not_tried_again():
    stage = Stage([reply("", stop="refusal"), "never"])
    with pytest.raises(ModelRefused):
        await stage.run()


async def test_text_cut_by_the_output_limit_is_marked():
    stage = Stage([reply("very long", stop="length")])
    end = await stage.run()
    assert (end.text, end.end) == ("very long", "too_long")


async def test_usage_is_added_up():
    from agent.dialogue import Usage

    def used(r: ModelReply, usage: Usage) -> ModelReply:
        return ModelReply(r.message, r.stop, usage, r.model)

    stage = Stage(
        [used(reply(search("rota")), Usage(10, 2, 1)), used(reply("x"), Usage(20, 3, 10))]
    )
    assert (await stage.run()).usage == Usage(30, 5, 11)

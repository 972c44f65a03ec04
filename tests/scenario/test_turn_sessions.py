"""What a session is, through the wire: its order, its memory, and who may see what in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest

from agent.dialogue import Capability, ModelEvent, ModelRequest, TextDelta
from tests.fakes.scripted_model import ScriptedModel, call, prompt_bytes, reply
from tests.fakes.stage import Said, Stage, until
from tests.scenario.conftest import SLACK_LATER, Open

BONUS = "How large is the bonus pool of 2026?"
SECRET = "4.2 million"


@dataclass(slots=True)
class GatedModel:
    """Answers only when the gate is open; counts how many turns ask at the same time."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list[str])
    running: int = 0
    most: int = 0

    def capability(self) -> Capability:
        return Capability("gated")

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        question = request.messages[-1].text.rpartition("\n")[2]
        self.asked.append(question)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
            yield TextDelta(f"Answer to {question}")
            yield reply(f"Answer to {question}")
        finally:
            self.running -= 1


def said_so(request: ModelRequest) -> list[str]:
    """The conversation a model was given, without the context line."""
    return [m.text.rpartition("</context>\n\n")[2] for m in request.messages]


async def seen(bot: Stage, said: Said) -> bool:
    """Whether the bot has reacted to this message."""
    calls = [c for c in await bot.calls() if "reactions" in c["path"]]
    return any(said.message in c["path"] + str(c["body"]) for c in calls)


async def test_two_quick_questions_are_seen_at_once_and_answered_in_order(stage: Open) -> None:
    model = GatedModel()
    async with stage(model) as bot:
        first = await bot.say("first question?")
        await until(lambda: _done(model.asked), "the first turn")
        second = await bot.say("second question?")
        await until(lambda: seen(bot, first), "the first reaction")
        await until(lambda: seen(bot, second), "the reaction to a question that has to wait")
        assert model.asked == ["first question?"], "the second began beside the first"
        model.gate.set()
        one, two = await bot.reply(first), await bot.reply(second)
        assert model.asked == ["first question?", "second question?"]
        assert model.most == 1
        assert "Answer to first question?" in one.shown
        assert "Answer to second question?" in two.shown
        assert "first question?" not in two.shown


async def _done(value: object) -> bool:
    return bool(value)


@SLACK_LATER
async def test_groups_threads_of_two_people_run_side_by_side_and_share_nothing(stage: Open) -> None:
    model = GatedModel()
    async with stage(model) as bot:
        alices = await bot.say("I am Alice?", "alice", bot.group, mention=True)
        bobs = await bot.say("I am Bob?", "bob", bot.group, mention=True)
        await until(lambda: _done(model.most == 2), "both turns at the same time")
        model.gate.set()
        one, two = await bot.reply(alices), await bot.reply(bobs)
        assert "Alice" in one.shown
        assert "Bob" not in one.shown
        assert [e.question.rpartition("\n")[2] for e in (await bot.memory(two)).exchanges] == [
            "I am Bob?"
        ]


@SLACK_LATER
async def test_the_model_hears_the_turn_before_without_its_markers(stage: Open) -> None:
    def play(request: ModelRequest) -> Any:
        if request.messages[-1].role == "user" and request.messages[-1].text:
            return reply(call("knowledge_search", {"queries": ["hotel limit in Shanghai"]}))
        return "It is CNY 650 [src:kb-pjtiu7e2wx][src:kb-invented]."

    model = ScriptedModel(play)
    async with stage(model) as bot:
        first = await bot.ask("hotel limit in Shanghai?")
        assert [c.n for c in first.answer.citations] == [1]
        assert "kb-invented" not in first.shown
        assert "[src:" not in first.shown
        await bot.ask("and in Berlin?")
        second = next(r for r in model.requests if said_so(r)[-1] == "and in Berlin?")
        assert said_so(second) == [
            "hotel limit in Shanghai?",
            "It is CNY 650.",
            "and in Berlin?",
        ]


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["slack"])
async def test_slack_thread_under_a_direct_message_knows_that_turn_alone(stage: Open) -> None:
    model = ScriptedModel(lambda request: f"Answer {len(request.messages)}.")
    async with stage(model) as bot:
        root = await bot.ask("one?")
        await bot.ask("two?")
        await bot.ask("under one?", thread=root.said.message)
        assert said_so(model.requests[-1]) == ["one?", "Answer 1.", "under one?"]
        await bot.ask("further under one?", thread=root.said.message)
        assert said_so(model.requests[-1])[-3:] == [
            "under one?",
            "Answer 3.",
            "further under one?",
        ]
        await bot.ask("three?")
        assert "under one?" not in said_so(model.requests[-1])


@SLACK_LATER
async def test_a_restricted_document_never_shows_to_somebody_outside_its_readers(
    stage: Open,
) -> None:
    def play(request: ModelRequest) -> Any:
        if request.messages[-1].text:
            calls = [
                call("knowledge_search", {"queries": [BONUS]}, id="c1"),
                call("read_document", {"source": "kb-x"}, id="c2"),
            ]
            return reply(*calls)
        return "[no-answer] Nothing that you may read says it."

    model = ScriptedModel(play)
    async with stage(model) as bot:
        reply_ = await bot.ask(BONUS, "alice")
        assert reply_.answer.status == "refused"
        assert reply_.answer.citations == ()
        for text in [reply_.shown, *(prompt_bytes(r).decode() for r in model.requests)]:
            assert SECRET not in text
            assert "Kestrel" not in text


@SLACK_LATER
async def test_its_readers_get_it_in_a_direct_chat_only(stage: Open) -> None:
    async with stage() as bot:
        private = await bot.ask(BONUS, "fang")
        assert SECRET in private.shown
        assert private.readers == {"group:finance"}
        public = await bot.ask(BONUS, "fang", bot.group, mention=True)
        assert SECRET not in public.shown
        assert "Kestrel" not in public.shown
        assert public.readers == {"group:finance"}

"""Turns that go wrong: one sentence with a code, nothing half kept, and the next turn works."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from agent import phrases
from agent.dialogue import ModelRequest, TextDelta
from agent.domain import Language
from agent.durable import inbox
from agent.errors import Misconfigured, ModelFailed, Unavailable
from agent.ports import Tool
from agent.turn import Outcome
from handlers import worker
from tests.fakes.scripted_model import Played, ScriptedModel, reply
from tests.scenario.conftest import SLACK_LATER, Open
from tests.scenario.test_turn_sessions import said_so

ASKED: dict[Language, str] = {
    "en": "What is the hotel limit?",
    "zh": "住宿标准是多少？",
}
HALF = "The limit is six hundr"
BROKEN: Played = [TextDelta(HALF), reply(HALF, stop="cut")]

FAULTS: list[Any] = [
    ("feishu", "zh", ModelFailed("secret detail"), "PL-304"),
    ("slack", "en", ModelFailed("secret detail"), "PL-304"),
    ("feishu", "en", Unavailable("secret detail"), "PL-102"),
    ("feishu", "en", reply("I will not.", stop="refusal"), "PL-303"),
    pytest.param("slack", "zh", "", "PL-304", marks=pytest.mark.slow),
    ("feishu", "en", BROKEN, ""),
    pytest.param("slack", "zh", BROKEN, "", marks=pytest.mark.slow),
]


class Moody:
    """A script that fails on the first question and answers every later one."""

    def __init__(self, fault: Played) -> None:
        self.fault = fault
        self.heard: list[list[str]] = []

    def __call__(self, request: ModelRequest) -> Played:
        self.heard.append(said_so(request))
        return "All is well." if said_so(request)[-1] == "again?" else self.fault


@pytest.mark.parametrize(("platform", "language", "fault", "code"), FAULTS)
async def test_a_model_that_fails_is_one_clear_sentence(
    stage: Open, language: Language, fault: Played, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    script = Moody(fault)
    with caplog.at_level(logging.ERROR):
        async with stage(ScriptedModel(script)) as bot:
            bad = await bot.ask(ASKED[language])
            assert bad.answer.status == "failed"
            expected = phrases.error(language, code) if code else phrases.incomplete(language)
            assert expected in bad.shown
            for leak in ("secret detail", "Traceback", "ModelFailed", "Unavailable"):
                assert leak not in bad.shown
            assert not bad.messages[0]["streaming"]
            assert (await bot.turn(bad.said.turn))["state"] == "FAILED"
            assert (await bot.memory(bad)).exchanges == ()
            good = await bot.ask("again?")
            assert "All is well." in good.shown
            assert script.heard[-1] == ["again?"], "what failed is no part of the conversation"


@SLACK_LATER
async def test_a_fault_of_ours_is_told_as_well(
    stage: Open, caplog: pytest.LogCaptureFixture
) -> None:
    def play(request: ModelRequest) -> Played:
        if said_so(request)[-1] != "again?":
            raise ZeroDivisionError("secret detail")
        return "All is well."

    async with stage(ScriptedModel(play)) as bot:
        bad = await bot.ask(ASKED["en"])
        assert phrases.error("en", "PL-000") in bad.shown
        assert "secret detail" not in bad.shown
        assert bad.answer.status == "failed"
        assert "All is well." in (await bot.ask("again?")).shown
    caplog.clear()


async def test_a_room_that_does_not_take_the_answer_ends_the_turn(
    stage: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(ScriptedModel(lambda _: "Words.")) as bot:
        room = {"feishu": "oc_demo_dm_alice_bob", "slack": "D0DEMO0011"}[bot.platform]
        said = await bot.say("hello?", chat=room)
        assert await bot.deliver(said, "ev_1", text="hello?") == 200
        reply_ = await bot.reply(said)
        assert reply_.messages == ()
        assert (await bot.turn(said.turn))["state"] == "FAILED"
        where = {"platform": bot.platform, "chat": await bot.direct(), "as": "alice"}
        [told] = await bot.get("messages", **where)
        assert "PL-302" in told["text"]
        before = len(await bot.calls())
        assert "Words." in (await bot.ask("again?", chat=bot.group, mention=True)).shown
        assert before < 40, "it was tried again and again"
    caplog.clear()


async def test_a_crashed_worker_is_followed_by_another_when_the_ring_comes_again(
    stage: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    crashed: list[str] = []
    real = inbox.finish

    async def crash_once(*args: Any, **more: Any) -> Any:
        if not crashed:
            crashed.append("here")
            raise RuntimeError("the worker died before it could save")
        return await real(*args, **more)

    monkeypatch.setattr(inbox, "finish", crash_once)
    async with stage(ScriptedModel(lambda _: "Words."), visibility=0.3) as bot:
        reply_ = await bot.ask(ASKED["en"])
        assert crashed
        assert reply_.answer.status == "answered"
        assert "Words." in reply_.shown
        assert len(reply_.messages) == 1, "the successor goes on with the message that stands"
        record = await bot.turn(reply_.said.turn)
        assert (record["attempt"], record["state"]) == (2, "DONE")
        assert await bot.place.queue.receive() == ()
    caplog.clear()


@SLACK_LATER
async def test_a_turn_that_never_gets_through_is_given_up(
    stage: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import agent.turn

    async def never(*args: Any, **more: Any) -> Outcome:
        raise Unavailable("the platform is down")

    monkeypatch.setattr(agent.turn, "run_turn", never)
    async with stage(ScriptedModel([]), visibility=0.05) as bot:
        reply_ = await bot.ask(ASKED["en"])
        record = await bot.turn(reply_.said.turn)
        assert (record["attempt"], record["state"]) == (worker.MOST_ATTEMPTS, "FAILED")
        assert reply_.answer.status == "failed"
    caplog.clear()


@pytest.mark.parametrize(
    ("fault", "code", "attempts"),
    [
        (Misconfigured("PLUMBLINE_MODEL='gpt' is unknown"), "PL-301", 1),
        pytest.param(
            RuntimeError("secret detail"),
            "PL-000",
            worker.MOST_ATTEMPTS,
            marks=pytest.mark.slow,
        ),
    ],
)
async def test_a_turn_that_can_not_begin_is_told_and_not_tried_for_ever(
    stage: Open, fault: Exception, code: str, attempts: int, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Sequence[Tool]) -> Sequence[Tool]:
        raise fault

    async with stage(ScriptedModel([]), retool=broken, visibility=0.05) as bot:
        reply_ = await bot.ask(ASKED["en"])
        assert phrases.error("en", code) in reply_.shown
        assert str(fault) not in reply_.shown
        assert len(reply_.messages) == 1
        record = await bot.turn(reply_.said.turn)
        assert (record["attempt"], record["state"]) == (attempts, "FAILED")
        assert reply_.answer.text == phrases.error("en", code)
    caplog.clear()

"""What people really send, through the simulator's wire, as the model hears it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.dialogue import Capability, ModelEvent, ModelRequest, TextDelta
from agent.domain import Platform
from tests.fakes.scripted_model import reply
from tests.fakes.stage import Stage, Theatre, shifted, staged, until
from tests.scenario.conftest import SLACK_LATER, Open


@dataclass(slots=True)
class Listener:
    """Answers with a fixed sentence when its gate is open; keeps what it heard last."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    heard: list[str] = field(default_factory=list[str])

    def capability(self) -> Capability:
        return Capability("listener")

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.heard.append(request.messages[-1].text)
        await self.gate.wait()
        yield TextDelta("Noted.")
        yield reply("Noted.")


@pytest.fixture
def model() -> Listener:
    made = Listener()
    made.gate.set()
    return made


async def test_c_fs_04_a_forwarded_conversation_is_the_question(
    house: Theatre, tmp_path: Path, model: Listener
) -> None:
    """C-FS-04 through the wire: said in a group, forwarded to the bot, answered once."""
    async with staged(house, "feishu", tmp_path / "state", model) as bot:
        first = await bot.say("发布窗口改到周四 20:00", "bob", bot.group)
        second = await bot.say("收到，通知客户", "chen", bot.group)
        chat = await bot.direct()
        body = {"as": "alice", "chat": chat, "messages": [first.message, second.message]}
        merged = str((await bot.post("forward", body))["message"])
        answered = await bot.reply(bot.known(merged, chat))
        assert len(answered.messages) == 1
    heard = model.heard[-1]
    assert heard.index("发布窗口改到周四 20:00") < heard.index("收到，通知客户")
    assert "Merged and Forwarded" not in heard
    assert 'kind="forwarded"' in heard


async def test_c_sl_05_a_mention_in_a_thread_hears_the_thread(
    house: Theatre, tmp_path: Path, model: Listener
) -> None:
    """C-SL-05 through the wire: what colleagues said before the mention is data."""
    async with staged(house, "slack", tmp_path / "state", model) as bot:
        root = await bot.say("Incident 4471: which region?", "bob", bot.group)
        await bot.say("It is eu-case-9", "chen", bot.group, thread=root.message)
        said = await bot.ask("so?", "alice", bot.group, thread=root.message, mention=True)
        assert len(said.messages) == 1
    heard = model.heard[-1]
    assert heard.index("Incident 4471") < heard.index("It is eu-case-9") < heard.index("so?")
    assert heard.endswith("</context>\n\nso?")


async def test_a_follow_up_in_a_thread_repeats_nothing(
    house: Theatre, tmp_path: Path, platform: Platform, model: Listener
) -> None:
    async with staged(house, platform, tmp_path / "state", model) as bot:
        first = await bot.ask("one?", "alice", bot.group, mention=True)
        root = first.said.message
        await bot.ask("two?", "alice", bot.group, thread=root, mention=True)
    assert model.heard[-1].endswith("two?")
    assert "one?" not in model.heard[-1], "the memory has it"
    assert "Noted." not in model.heard[-1]


async def _waiting(bot: Stage, model: Listener) -> None:
    """Start a turn that does not end before the gate opens."""
    await bot.say("first")

    async def asked() -> bool:
        return bool(model.heard)

    await until(asked, "the first turn to run")


@SLACK_LATER
async def test_an_edit_before_the_turn_is_what_gets_answered(
    stage: Open, platform: Platform
) -> None:
    model = Listener()
    async with stage(model) as bot:
        await _waiting(bot, model)
        said = await bot.say("old words")
        edit = {"platform": platform, "as": "alice", "message": said.message}
        await bot.post("edit", edit | {"chat": said.chat, "text": "new words"})
        bot.place.clock = shifted(bot.place.clock, 3.0)
        model.gate.set()
        await bot.reply(said)
        assert model.heard[-1].endswith("new words")


@SLACK_LATER
async def test_a_question_taken_back_before_its_turn_is_never_answered(
    stage: Open, platform: Platform
) -> None:
    model = Listener()
    async with stage(model) as bot:
        await _waiting(bot, model)
        said = await bot.say("never mind")
        gone = {"platform": platform, "as": "alice", "chat": said.chat, "message": said.message}
        await bot.post("recall", gone)
        bot.place.clock = shifted(bot.place.clock, 3.0)
        model.gate.set()
        later = await bot.ask("last")
        assert later.answer.text == "Noted."
        assert not any("never mind" in heard for heard in model.heard)
        assert not await bot.ended(said.turn)

"""Threads that the bot follows without a mention: opt-in, who may, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.domain import Platform
from handlers.surface import manual
from tests.fakes.corner import Corner
from tests.fakes.scripted_model import ScriptedModel

GROUP = {"direct": False}
THREAD = {"direct": False, "thread": 1}


@pytest.fixture(params=["feishu", "slack"])
def platform(request: pytest.FixtureRequest) -> Platform:
    return request.param


@pytest.fixture
def bot(tmp_path: Path, platform: Platform) -> Corner:
    model = ScriptedModel(lambda _: "Words.")
    return Corner(tmp_path, platform, model, admins=frozenset(("dana",)))


def line(bot: Corner, name: manual.Line) -> set[str]:
    """What the bot says, in either language."""
    return {manual.line("zh", name), manual.line("en", name)}


async def said(bot: Corner, number: int, text: str, **more: Any) -> list[str]:
    """Say something; what was answered to it."""
    before = len(bot.answers)
    await bot.say(number, text, **more)
    await bot.work()
    return bot.answers[before:]


async def opened(bot: Corner) -> None:
    """The channel is opted in, and the bot has answered in the thread of message 1."""
    told = await said(bot, 90, "/listen", by="dana", mention=True, **GROUP)
    assert {*told} <= line(bot, "listening")
    assert await said(bot, 1, "What is the hotel limit?", mention=True, **GROUP) == ["Words."]


async def test_by_default_a_reply_without_a_mention_is_not_for_us(bot: Corner) -> None:
    assert await said(bot, 1, "What is the hotel limit?", mention=True, **GROUP) == ["Words."]
    assert await said(bot, 2, "And in Beijing?", **THREAD) == []
    assert len(await bot.turns()) == 1


async def test_where_an_administrator_opted_in_replies_are_taken_from_everybody(
    bot: Corner,
) -> None:
    await opened(bot)
    assert await said(bot, 2, "And in Beijing?", **THREAD) == ["Words."]
    assert await said(bot, 3, "And in Shenzhen?", by="bob", **THREAD) == ["Words."]
    assert len((await bot.remembered(1, direct=False)).exchanges) == 3


@pytest.mark.parametrize(
    "more",
    [
        {"direct": False},
        {"direct": False, "thread": 7},
        {"direct": False, "thread": 1, "named": ("bob",)},
        {"direct": False, "thread": 1, "foreign": True},
    ],
    ids=["top level", "a thread of others", "to somebody else", "of another company"],
)
async def test_what_people_say_to_each_other_is_not_for_us(
    bot: Corner, more: dict[str, object]
) -> None:
    await opened(bot)
    turns = len(await bot.turns())
    assert await said(bot, 8, "Lunch at one?", **more) == []
    assert len(await bot.turns()) == turns


async def test_a_member_can_not_opt_a_channel_in(bot: Corner) -> None:
    told = await said(bot, 90, "/listen", by="bob", mention=True, **GROUP)
    assert {*told} <= line(bot, "admins_only")
    await said(bot, 1, "What is the hotel limit?", mention=True, **GROUP)
    assert await said(bot, 2, "And in Beijing?", **THREAD) == []


@pytest.mark.parametrize("words", ["stop listening", "Stop listening!", "别听了", "别听了。"])
async def test_anybody_may_end_it_for_a_thread_and_take_it_back(bot: Corner, words: str) -> None:
    await opened(bot)
    told = await said(bot, 2, words, by="bob", **THREAD)
    assert {*told} <= line(bot, "deaf_thread")
    assert told
    assert await said(bot, 3, "And in Beijing?", **THREAD) == []
    assert await said(bot, 4, "And in Beijing?", mention=True, **THREAD) == ["Words."]
    assert await said(bot, 5, "And in Xi'an?", **THREAD) == []
    await said(bot, 11, "What is the meal limit?", mention=True, **GROUP)
    assert await said(bot, 12, "Abroad?", direct=False, thread=11) == ["Words."], "other threads"
    told = await said(bot, 6, "listen", by="bob", mention=True, **THREAD)
    assert {*told} <= line(bot, "listening")
    assert await said(bot, 7, "And in Xi'an?", **THREAD) == ["Words."]


async def test_an_administrator_in_a_thread_follows_it_again_with_the_channel(
    bot: Corner,
) -> None:
    await opened(bot)
    await said(bot, 2, "stop listening", **THREAD)
    await said(bot, 3, "stop listening", mention=True, **GROUP)
    assert await said(bot, 4, "And in Beijing?", **THREAD) == []
    told = await said(bot, 5, "listen", by="dana", mention=True, **THREAD)
    assert {*told} <= line(bot, "listening")
    assert await said(bot, 6, "And in Beijing?", **THREAD) == ["Words."]


async def test_anybody_may_end_it_for_the_channel(bot: Corner) -> None:
    await opened(bot)
    told = await said(bot, 2, "stop listening", by="bob", mention=True, **GROUP)
    assert {*told} <= line(bot, "deaf_channel")
    assert told
    assert await said(bot, 3, "And in Beijing?", **THREAD) == []
    told = await said(bot, 4, "listen", by="bob", mention=True, **THREAD)
    assert {*told} <= line(bot, "admins_only"), "the way back is an administrator's"


async def test_a_direct_chat_needs_no_opt_in(bot: Corner) -> None:
    for text in ("listen", "stop listening"):
        assert {*await said(bot, len(text), text)} <= line(bot, "listen_in_groups")
    assert await said(bot, 3, "What is the hotel limit?") == ["Words."]


async def test_slash_commands_switch_the_channel(tmp_path: Path) -> None:
    bot = Corner(tmp_path, "slack", admins=frozenset(("dana",)))
    steps: tuple[tuple[str, str, manual.Line], ...] = (
        ("bob", "listen", "admins_only"),
        ("dana", "listen", "listening"),
        ("bob", "stop listening", "deaf_channel"),
    )
    for number, (by, text, heard) in enumerate(steps):
        await bot.command(text, f"trigger{number}", by=by, channel_id="C0ALL")
        await bot.work()
        assert bot.talk.said[-1] == manual.line("en", heard)

"""A signed message in, a streamed and cited answer out: on both platforms, through the wire."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

import pytest

from agent import phrases
from agent.domain import EVERYONE
from agent.models.offline.model import OfflineModel
from agent.stores.system_clock import SystemClock
from connectors import wording
from tests.fakes.gated_model import GatedModel
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stage import Json, Reply, Stage, words
from tests.scenario.conftest import SLACK_LATER, Open

HOTEL = "What is the hotel limit in Shanghai?"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()
PLUMBING = ("auth", "oauth", "bot/v3/info", "users.info", "conversations.info")
"""Calls that show nothing."""


def shows(calls: list[Json]) -> list[Json]:
    """The calls that change what somebody sees, in order."""
    return [c for c in calls if not any(part in c["path"] for part in PLUMBING)]


def reaction(call: Json) -> bool:
    return "reactions" in call["path"]


def only(reply: Reply) -> dict[str, Any]:
    """The one message of an answer."""
    assert len(reply.messages) == 1, [words(m)[:80] for m in reply.messages]
    return reply.messages[0]


async def test_direct_question_is_seen_then_streamed_then_cited(stage: Open) -> None:
    async with stage(OfflineModel(SystemClock(), 0.12)) as bot:
        reply = await bot.ask(HOTEL)
        first, *rest = shows(await bot.calls())
        assert reaction(first), first
        assert all(c["status"] == 200 and c["code"] in (0, "0", "ok") for c in rest), rest
        message = only(reply)
        assert not message["streaming"]
        assert "650" in reply.shown
        assert "https://kb.example.com/travel.en" in reply.shown
        assert "Business travel policy" in reply.shown
        assert "2026-02-16" in reply.shown
        assert wording.sources_title("en") in reply.shown
        assert phrases.offline_model("en") in reply.shown
        sent = [str(c["body"]) for c in rest]
        if bot.platform == "feishu":
            assert any(phrases.progress("en", "thinking") in s for s in sent)
            parts = [c["body"]["content"] for c in rest if c["path"].endswith("answer/content")]
            assert parts, "the text came at once"
            assert all(b.startswith(a) for a, b in pairwise(parts))
        else:
            paths = [c["path"].rpartition("/")[2] for c in rest]
            assert paths.index("chat.startStream") < paths.index("chat.stopStream")
            assert paths.count("chat.startStream") == 1
        assert reply.answer.status == "answered"
        assert [(c.n, c.source.title) for c in reply.answer.citations] == [
            (1, "Business travel policy")
        ]
        assert {"reaction", "first_text", "search", "model", "total"} <= set(reply.answer.timings)


@SLACK_LATER
async def test_chinese_question_gets_a_chinese_answer(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("去上海出差的住宿标准是多少？")
        assert "650元" in reply.shown
        assert "https://kb.example.com/travel.zh" in reply.shown
        assert wording.sources_title("zh") in reply.shown
        assert phrases.offline_model("zh") in reply.shown


async def test_mention_in_a_group_is_answered_in_its_thread(stage: Open) -> None:
    async with stage() as bot:
        await bot.say("lunch, anyone?", chat=bot.group)
        reply = await bot.ask(HOTEL, chat=bot.group, mention=True)
        assert "650" in words(only(reply))
        assert reply.readers == {EVERYONE}
        chatter = await bot.get("messages", platform=bot.platform, chat=bot.group, **{"as": "bob"})
        root = next(m for m in chatter if m["id"] == reply.said.message)
        assert root["reactions"], "the question was not marked as seen"
        assert sum(bool(m["author"].get("bot")) for m in chatter) <= 1


async def test_follow_up_in_a_thread_understands_the_turn_before(stage: Open) -> None:
    async with stage() as bot:
        first = await bot.ask(HOTEL, chat=bot.group, mention=True)
        second = await bot.ask(
            "and in Berlin?", chat=bot.group, mention=True, thread=first.said.message
        )
        assert "140" in second.shown
        assert len((await bot.memory(second)).exchanges) == 2


@SLACK_LATER
async def test_what_nobody_wrote_down_is_refused_with_a_next_step(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("Who won the chess tournament of 1987 in Reykjavik?")
        assert reply.answer.status == "refused"
        assert reply.answer.citations == ()
        assert "[no-answer]" not in reply.shown
        assert only(reply)["streaming"] is False


@SLACK_LATER
async def test_new_forgets_the_thread(stage: Open) -> None:
    async with stage() as bot:
        first = await bot.ask(HOTEL)
        assert len((await bot.memory(first)).exchanges) == 1
        cleared = await bot.ask(" New ")
        assert phrases.cleared("en") in cleared.shown or phrases.cleared("zh") in cleared.shown
        assert (await bot.memory(cleared)).exchanges == ()


@SLACK_LATER
async def test_empty_mention_says_what_can_be_asked(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("", chat=bot.group, mention=True)
        assert reply.answer.status == "refused"
        texts = [phrases.empty_question("zh"), phrases.empty_question("en")]
        assert reply.answer.text in texts
        assert only(reply)


@SLACK_LATER
async def test_picture_without_words_is_declined_politely(stage: Open) -> None:
    async with stage() as bot:
        picture = {"name": "photo.png", "media_type": "image/png", "base64": PNG}
        reply = await bot.ask("", files=[picture])
        assert reply.answer.text in [phrases.unsupported(x, "image") for x in ("zh", "en")]
        assert reply.answer.status == "refused"


@pytest.mark.parametrize("platform", ["feishu"])
@pytest.mark.parametrize("kind", ["sticker", "audio"])
async def test_messages_that_can_not_be_read_are_declined(stage: Open, kind: str) -> None:
    async with stage() as bot:
        said = await bot.say("no mention, so not delivered", chat=bot.group)
        assert await bot.deliver(said, "ev_sticker", kind, file_key="file_v3_x") == 200
        reply = await bot.reply(said)
        assert reply.answer.text == phrases.unsupported("zh", kind)


async def test_a_message_delivered_three_times_is_answered_once(stage: Open) -> None:
    """C-SL-01: also while the first turn still runs, with one chain of model calls."""
    model = GatedModel(ScriptedModel(lambda _: "The limit is CNY 650."))
    async with stage(model) as bot:
        said = await bot.say(HOTEL)
        async with model.busy():
            for event in ("ev_repeated_1", "ev_repeated_1", "ev_repeated_2"):
                assert await bot.deliver(said, event, text=HOTEL) == 200
        reply = await bot.reply(said)
        assert await bot.deliver(said, "ev_repeated_3", text=HOTEL) == 200
        assert await settled(bot)
        assert len(await bot.posted(said)) == 1
        assert (await bot.turn(reply.said.turn))["attempt"] == 1
        assert model.asked == 1


async def settled(bot: Stage) -> bool:
    """Whether the queue is empty after a marker question went all the way through."""
    marker = await bot.ask("new")
    return marker.answer.status == "answered"

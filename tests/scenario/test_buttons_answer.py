"""The buttons under a finished answer, pressed through the wire on both platforms."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from agent.durable import keys
from handlers.surface import replies
from handlers.surface.replies import ButtonName, Note, ReasonName
from tests.fakes.stage import Json, Reply, Stage, until, words
from tests.scenario.conftest import SLACK_LATER, Open

HOTEL = "What is the hotel limit in Shanghai?"


def controls(message: Json) -> dict[str, Json]:
    """The buttons of a message by their label, as what a press sends."""
    found: dict[str, Json] = {}

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for part in cast(list[Any], node):
                walk(part)
        elif isinstance(node, dict):
            seen = cast(Json, node)
            if seen.get("tag") == "button":
                found[seen["text"]["content"]] = {"tag": "button", "behaviors": seen["behaviors"]}
            elif seen.get("type") == "button":
                found[seen["text"]["text"]] = _kept(seen, seen)
            elif seen.get("type") == "feedback_buttons":
                for choice in (seen["positive_button"], seen["negative_button"]):
                    found[choice["text"]["text"]] = _kept(seen, choice)
            else:
                walk(list(seen.values()))

    walk([message["card"], message["blocks"]])
    return found


def _kept(element: Json, choice: Json) -> Json:
    return {
        "type": element["type"],
        "action_id": element["action_id"],
        "value": choice["value"],
        "text": choice["text"],
    }


async def press(
    bot: Stage, reply: Reply, name: ButtonName, login: str = "alice", *, message: Json | None = None
) -> Json:
    """Press a button under the answer; what the bot answered within the request."""
    shown = message or reply.messages[-1]
    return await press_label(bot, shown, replies.BUTTONS[name]["en"], login)


async def press_label(bot: Stage, message: Json, label: str, login: str) -> Json:
    body = {
        "platform": bot.platform,
        "as": login,
        "chat": message["chat"],
        "message": message["id"],
        "action": controls(message)[label],
    }
    return (await bot.post("press", body))["answer"]


async def told(bot: Stage, text: str, login: str, chat: str) -> Json:
    """The private message with these words that a person got, beside the answer or directly."""
    found: list[Json] = []
    places = {chat, await bot.direct(login)}

    async def arrived() -> bool:
        for place in places:
            query = {"platform": bot.platform, "chat": place, "as": login}
            for m in await bot.get("messages", **query):
                if m["author"].get("bot") and text in words(m):
                    found.append(m)
        return bool(found)

    await until(arrived, f"{login} to be told {text!r}")
    return found[0]


async def heard(bot: Stage, answer: Json, note: Note, login: str, reply: Reply) -> None:
    """That a person heard a note: in the toast on Feishu, privately on Slack."""
    text = replies.note("en", note, bot.platform)
    if bot.platform == "feishu":
        assert answer["toast"]["content"] == text
    else:
        message = await told(bot, text, login, reply.said.chat)
        assert message["visible_to"] == login


async def opinions(bot: Stage, reply: Reply) -> list[tuple[object, object]]:
    page = await bot.place.table.query(keys.journal(reply.said.turn), "FB#")
    return [(item["verdict"], item["reason"]) for item in page.items]


@SLACK_LATER
async def test_a_finished_answer_carries_its_buttons(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL)
        labels = [words["en"] for words in replies.BUTTONS.values()]
        assert sorted(controls(reply.messages[-1])) == sorted(labels)
        cleared = await bot.ask("new")
        assert controls(cleared.messages[-1]) == {}


@SLACK_LATER
async def test_sources_shows_the_passages_with_their_numbers_to_the_presser_alone(
    stage: Open,
) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL, chat=bot.group, mention=True)
        answer = await press(bot, reply, "sources", "bob")
        if bot.platform == "feishu":
            assert answer["toast"]["content"] == replies.note("en", "showing")
        message = await told(bot, replies.passages_title("en"), "bob", bot.group)
        text = words(message)
        assert "[1] Business travel policy" in text.replace("\\", "")
        assert "CNY 650 a night" in text
        mine = await bot.get("messages", platform=bot.platform, chat=bot.group, **{"as": "alice"})
        assert all(replies.passages_title("en") not in words(m) for m in mine)


@SLACK_LATER
async def test_a_private_source_stays_hidden_from_those_who_may_not_read_it(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("How large is the bonus pool plan Kestrel of 2026?", "fang")
        assert "4.2 million" in reply.shown
        shown = reply.messages[-1]
        body = {
            "platform": bot.platform,
            "as": "fang",
            "chat": shown["chat"],
            "message": shown["id"],
            "action": controls(shown)[replies.BUTTONS["sources"]["en"]],
        }
        await bot.post("press", body)
        assert "4.2 million" in words(
            await told(bot, replies.passages_title("en"), "fang", shown["chat"])
        )


@SLACK_LATER
async def test_an_opinion_is_kept_once_for_each_person(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL, chat=bot.group, mention=True)
        await heard(bot, await press(bot, reply, "helpful"), "thanks", "alice", reply)
        await heard(bot, await press(bot, reply, "helpful"), "noted", "alice", reply)
        assert await opinions(bot, reply) == [("helpful", "")]
        await heard(bot, await press(bot, reply, "helpful", "bob"), "thanks", "bob", reply)
        assert len(await opinions(bot, reply)) == 2


@SLACK_LATER
@pytest.mark.parametrize("reason", ["wrong", "outdated"])
async def test_not_helpful_asks_for_a_reason_and_keeps_it(stage: Open, reason: ReasonName) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL)
        await press(bot, reply, "unhelpful")
        assert await opinions(bot, reply) == [("unhelpful", "")]
        label = replies.REASONS[reason]["en"]
        question = await told(bot, label, "alice", reply.said.chat)
        answer = await press_label(bot, question, label, "alice")
        await heard(bot, answer, "reason_noted", "alice", reply)
        assert await opinions(bot, reply) == [("unhelpful", reason)]


@SLACK_LATER
async def test_retry_answers_again_once_and_only_for_the_asker(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL, chat=bot.group, mention=True)
        await heard(bot, await press(bot, reply, "retry", "bob"), "only_asker", "bob", reply)
        assert len(await bot.posted(reply.said)) == 1
        await press(bot, reply, "retry")

        async def again() -> bool:
            shown = [m for m in await bot.posted(reply.said) if "650" in words(m)]
            return len(shown) == 2 and not any(m["streaming"] for m in shown)

        await until(again, "a second answer")
        await heard(bot, await press(bot, reply, "retry"), "superseded", "alice", reply)
        await asyncio.sleep(0.2)
        shown = [m for m in await bot.posted(reply.said) if "650" in words(m)]
        assert len(shown) == 2
        exchanges = (await bot.memory(reply)).exchanges
        assert len(exchanges) == 1


@SLACK_LATER
async def test_ask_a_human_posts_the_question_to_the_colleagues_in_charge_once(
    stage: Open,
) -> None:
    async with stage() as bot:
        chat = "oc_demo_it_help" if bot.platform == "feishu" else "C0DEMO0004"
        reply = await bot.ask(HOTEL)
        await press(bot, reply, "human")
        await told(bot, replies.note("en", "passed_on"), "alice", reply.said.chat)
        again = await press(bot, reply, "human")
        await heard(bot, again, "already_passed_on", "alice", reply)
        there = await bot.get("messages", platform=bot.platform, chat=chat, **{"as": "bob"})
        posted = [words(m) for m in there if m["author"].get("bot")]
        assert len(posted) == 1
        assert HOTEL in posted[0]
        assert "650" in posted[0]
        assert "Business travel policy" in posted[0]


@SLACK_LATER
async def test_a_press_on_an_answer_that_is_gone_says_so(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask(HOTEL)
        await bot.place.table.delete_if(keys.answer(reply.said.turn))
        await bot.place.table.delete_if(keys.model_step(reply.said.turn, 1))
        answer = await press(bot, reply, "retry")
        text = replies.note("zh" if bot.platform == "feishu" else "en", "gone")
        if bot.platform == "feishu":
            assert answer["toast"]["content"] == text
        else:
            await told(bot, text, "alice", reply.said.chat)

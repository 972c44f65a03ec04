"""Answers that not everybody in a group may read: delivered to the asker, shared on their word.

Through the wire on both platforms. Fang alone is in finance, the bonus plan is for finance only.
"""

from __future__ import annotations

import pytest

from agent import phrases
from agent.dialogue import ModelRequest
from agent.domain import Platform
from agent.durable import keys
from agent.ports import Item
from handlers.surface import replies, share
from tests.fakes.rooms import FixedRooms
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply
from tests.fakes.stage import Json, Reply, Stage, until, words
from tests.scenario.conftest import SLACK_LATER, Open
from tests.scenario.test_buttons_answer import controls, heard, press_label, told

BONUS = "How large is the bonus pool plan Kestrel of 2026?"
HOTEL = "What is the hotel limit in Shanghai?"
SECRET = "4.2 million"
NEUTRAL = phrases.kept_private("en")
SHARE = share.button("t", "en").label
CONFIRM = "Yes, share it"


async def seen(bot: Stage, chat: str, login: str) -> list[Json]:
    """What a person sees in a chat, threads included."""
    where = {"platform": bot.platform, "chat": chat, "as": login}
    shown: dict[str, Json] = {m["id"]: m for m in await bot.get("messages", **where)}
    for root in [m["id"] for m in shown.values() if m["replies"]]:
        shown |= {m["id"]: m for m in await bot.get("messages", **where, thread=root)}
    return list(shown.values())


async def no_word_of_it(bot: Stage, *people: str) -> None:
    """Nobody of these sees the secret or the document's name in the group or their own chat."""
    for login in people:
        for chat in (bot.group, await bot.direct(login)):
            for message in await seen(bot, chat, login):
                if message["author"].get("bot"):
                    assert SECRET not in words(message)
                    assert "Kestrel" not in words(message)


async def alone(bot: Stage, text: str, login: str = "fang") -> Json:
    """The private message with these words, once it is whole."""
    found: list[Json] = []

    async def whole() -> bool:
        for chat in (bot.group, await bot.direct(login)):
            found[:] = [
                m
                for m in await seen(bot, chat, login)
                if m["author"].get("bot") and text in words(m) and not m["streaming"]
            ]
            if found:
                return True
        return False

    await until(whole, f"{login} to get {text!r} alone")
    return found[-1]


def long(text: str) -> str:
    """Words enough that the answer streams into the direct chat on Slack as well."""
    return text + " " + "This is said at length. " * 40


def searching(answer: str, first: str = "") -> ScriptedModel:
    """A model that searches for the bonus plan, then answers with what was found."""

    def play(request: ModelRequest) -> Played:
        if request.messages[-1].text:
            look = call("knowledge_search", {"queries": [BONUS]}, id="c1")
            return reply(*([first] if first else []), look)
        found = str(request.messages[-1].blocks).partition('src="')[2].partition('"')[0]
        return answer.replace("SOURCE", found)

    return ScriptedModel(play)


async def asked(bot: Stage, text: str = BONUS, login: str = "fang", **more: object) -> Reply:
    return await bot.ask(text, login, bot.group, mention=True, **more)


@pytest.mark.parametrize("length", ["short", "long"])
async def test_a_restricted_document_asked_in_an_all_hands_group(stage: Open, length: str) -> None:
    text = f"It is {SECRET} yuan [src:SOURCE]."
    async with stage(searching(long(text) if length == "long" else text)) as bot:
        public = await asked(bot)
        assert [NEUTRAL in words(m) for m in public.messages if not m["visible_to"]] == [True]
        message = await alone(bot, SECRET)
        assert "Bonus pool plan Kestrel" in words(message)
        assert SHARE in controls(message)
        beside = bot.platform == "slack" and length == "short"
        assert message["chat"] == (bot.group if beside else await bot.direct("fang"))
        assert message["visible_to"] == ("fang" if beside else None)
        await no_word_of_it(bot, "alice", "bob", "chen", "dana", "emil")
        if not beside:
            own = await seen(bot, await bot.direct("fang"), "fang")
            assert any(BONUS in words(m) and m["author"].get("bot") for m in own), (
                "what it is about"
            )


@SLACK_LATER
async def test_what_everybody_may_read_stays_in_the_group(stage: Open) -> None:
    async with stage() as bot:
        public = await asked(bot, HOTEL)
        assert "650" in public.shown
        assert SHARE not in controls(public.messages[-1])


@SLACK_LATER
async def test_words_before_the_search_give_way_to_the_neutral_line(stage: Open) -> None:
    model = searching(long(f"It is {SECRET} yuan [src:SOURCE]."), "Let me look that up. " * 9)
    async with stage(model) as bot:
        public = await asked(bot)
        assert [words(m).count(NEUTRAL) > 0 for m in public.messages] == [True]
        assert "Let me look" not in public.shown
        await alone(bot, SECRET)
        await no_word_of_it(bot, "alice", "bob")


@SLACK_LATER
async def test_an_outsider_in_the_room_gets_nothing_and_nothing_is_shared(
    stage: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage() as bot:

        def rooms(platform: Platform) -> FixedRooms:
            return FixedRooms(outside=True)

        monkeypatch.setattr(bot.place, "rooms", rooms)
        public = await asked(bot, HOTEL)
        assert NEUTRAL in public.shown
        message = await alone(bot, "650")
        await press_label(bot, message, SHARE, "fang")
        await told(bot, share.note("en", "outsiders"), "fang", message["chat"])
        for seen_by in ("alice", "bob"):
            posted = [words(m) for m in await seen(bot, bot.group, seen_by)]
            assert not any("650" in text for text in posted)


@SLACK_LATER
async def test_a_group_whose_members_can_not_be_read_is_told_nothing(stage: Open) -> None:
    async with stage() as bot:
        path = "*/im/v1/chats/*" if bot.platform == "feishu" else "*conversations.info"
        await bot.post("faults", {"kind": "status", "status": 500, "path": path})
        public = await asked(bot, HOTEL)
        assert NEUTRAL in public.shown
        await alone(bot, "650")


async def recorded(bot: Stage, reply_: Reply) -> Item | None:
    return await bot.place.table.get(keys.claim(reply_.said.turn, share.SHARED))


@pytest.mark.parametrize("length", ["short", "long"])
async def test_the_asker_shares_in_two_presses_and_once(stage: Open, length: str) -> None:
    text = f"It is {SECRET} yuan [src:SOURCE]."
    async with stage(searching(long(text) if length == "long" else text)) as bot:
        public = await asked(bot)
        message = await alone(bot, SECRET)
        await press_label(bot, message, SHARE, "fang")
        listing = await alone(bot, "🔒 Bonus pool plan Kestrel")
        assert listing["chat"] in (message["chat"], await bot.direct("fang"))
        await no_word_of_it(bot, "alice", "bob")
        assert await recorded(bot, public) is None

        await press_label(bot, listing, CONFIRM, "fang")
        await told(bot, share.note("en", "shared"), "fang", listing["chat"])
        shown = [m for m in await seen(bot, bot.group, "bob") if SECRET in words(m)]
        assert len(shown) == 1
        assert "Bonus pool plan Kestrel" in words(shown[0])
        assert controls(shown[0]) == {}
        item = await recorded(bot, public)
        assert item is not None
        assert str(item["who"]).endswith("fang" if bot.platform == "feishu" else "U0FANG0001")
        assert item["chat"] == bot.group
        assert item["sources"] == [c.source.source for c in public.answer.citations]
        assert float(str(item["at"])) > 0

        answer = await press_label(bot, listing, CONFIRM, "fang")
        assert bot.platform == "slack" or answer["toast"]["content"] == share.note("en", "shared")
        answer = await press_label(bot, message, SHARE, "fang")
        assert bot.platform == "slack" or answer["toast"]["content"] == share.note("en", "shared")
        shown = [m for m in await seen(bot, bot.group, "bob") if SECRET in words(m)]
        assert len(shown) == 1
        memory = await bot.memory(public)
        assert SECRET in memory.exchanges[-1].answer, "the thread knows what was posted in it"


@SLACK_LATER
async def test_a_second_person_who_presses_share_is_not_obeyed(stage: Open) -> None:
    async with stage() as bot:
        public = await asked(bot)
        message = await alone(bot, SECRET)
        for action in (share.SHARE, share.CONFIRM):
            value = {"a": action, "t": public.said.turn}
            forged: Json = (
                {"tag": "button", "behaviors": [{"type": "callback", "value": value}]}
                if bot.platform == "feishu"
                else {
                    "type": "button",
                    "action_id": f"plumbline_{action}",
                    "value": f"{action} {public.said.turn}",
                }
            )
            body = {
                "platform": bot.platform,
                "as": "bob",
                "chat": bot.group,
                "message": message["id"],
                "action": forged,
            }
            answer = (await bot.post("press", body))["answer"]
            await heard(bot, answer, "only_asker", "bob", public)
        await no_word_of_it(bot, "alice", "bob")
        assert await recorded(bot, public) is None


@SLACK_LATER
async def test_a_private_follow_up_stays_private_and_another_asker_does_not_get_it(
    stage: Open,
) -> None:
    def play(request: ModelRequest) -> Played:
        last = request.messages[-1]
        if last.text and "bonus" in last.text:
            return reply(call("knowledge_search", {"queries": [BONUS]}, id="c1"))
        if last.text:
            known = any(SECRET in m.text for m in request.messages)
            return f"As I said, {SECRET}." if known else "I know of nothing."
        return f"It is {SECRET} yuan."

    model = ScriptedModel(play)
    async with stage(model) as bot:
        public = await asked(bot)
        root = public.said.message
        await alone(bot, f"It is {SECRET}")
        again = await asked(bot, "And in words?", thread=root)
        await alone(bot, f"As I said, {SECRET}")
        assert SECRET not in "".join(words(m) for m in again.messages if not m["visible_to"])
        other = await asked(bot, "Tell me too?", "bob", thread=root)
        assert "I know of nothing." in other.shown
        await no_word_of_it(bot, "alice", "bob")


@SLACK_LATER
async def test_the_passages_of_a_private_answer_come_to_the_asker_where_they_pressed(
    stage: Open,
) -> None:
    async with stage(searching(long(f"It is {SECRET} yuan [src:SOURCE]."))) as bot:
        await asked(bot)
        message = await alone(bot, SECRET)
        await press_label(bot, message, replies.BUTTONS["sources"]["en"], "fang")
        passages = await alone(bot, replies.passages_title("en"))
        assert passages["chat"] == await bot.direct("fang")
        await no_word_of_it(bot, "alice", "bob")


@SLACK_LATER
async def test_an_answer_to_a_private_answer_knows_it_and_stays_the_askers_own(
    stage: Open,
) -> None:
    """In the direct chat: a reply in the thread on Slack, under the quoted card on Feishu."""

    def play(request: ModelRequest) -> Played:
        last = request.messages[-1]
        if "And in words" in last.text:
            return "Known." if SECRET in last.text else "Nothing known."
        if last.text:
            return reply(call("knowledge_search", {"queries": [BONUS]}, id="c1"))
        return long(f"It is {SECRET} yuan.")

    async with stage(ScriptedModel(play)) as bot:
        await asked(bot)
        message = await alone(bot, SECRET)
        root = message["thread"] or message["id"]
        again = await bot.ask("And in words?", "fang", message["chat"], thread=root)
        assert "Known." in again.shown
        own = "ou_demo_fang" if bot.platform == "feishu" else "U0FANG0001"
        assert again.readers == {f"person:{bot.platform}:{own}"}

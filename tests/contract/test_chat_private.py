"""Answers before the asker alone, on both platforms, against fakes with the platforms' rules."""

from __future__ import annotations

import httpx
import pytest

from agent.domain import ChatRef, Identity, Source
from agent.errors import PlatformRefused, Unavailable
from agent.ports import Control, Frame
from connectors.feishu.chat import FeishuChat
from connectors.private import quote
from connectors.slack.chat import SHORT, SlackChat
from tests.fakes.clock import FakeClock
from tests.fakes.fake_feishu import FakeFeishu, text_of
from tests.fakes.fake_slack import FakeSlack, words_of

SLACK_ROOM = ChatRef("C1", "group", "1767225600.000100")
SLACK_ASKER = Identity("org", "slack", "A1", "T1", "U1")
FEISHU_ROOM = ChatRef("oc_1", "group", "om_q")
FEISHU_ASKER = Identity("org", "feishu", "cli_x", "tenant", "ou_1")
SOURCES = {"a": Source("a", "Plan", "https://docs.example.com/a", "policy", private=True)}
ASKED = "How large  is the\nbonus?"
LONG = "Said at length. " * 60


def frame(text: str, *, done: bool = False, progress: str = "") -> Frame:
    controls = (Control("share", "turn1", "Share here"),) if done else ()
    return Frame("turn1", "en", text, progress, "", SOURCES, done, controls)


@pytest.fixture
def slack() -> FakeSlack:
    return FakeSlack(FakeClock(auto=True))


@pytest.fixture
def feishu() -> FakeFeishu:
    return FakeFeishu(FakeClock(auto=True))


def test_a_question_is_quoted_on_one_line_and_cut() -> None:
    assert quote(ASKED) == "“How large is the bonus?”"
    assert quote("x" * 400) == "“" + "x" * 300 + "…”"


# --- Slack ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("thread", [None, "1767225500.000100"])
async def test_slack_shows_a_short_answer_beside_the_question(
    slack: FakeSlack, thread: str | None
) -> None:
    room = ChatRef("C1", "group", SLACK_ROOM.message, thread)
    message = SlackChat(slack.api, slack.clock).begin_privately(room, SLACK_ASKER, "t", ASKED)
    await message.show(frame("", progress="Searching…"))
    await message.show(frame("It is 4.2"))
    assert slack.calls == [], "a short answer waits for its end"
    await message.finish(frame("It is 4.2 million [src:a].", done=True))
    [told] = slack.named("chat.postEphemeral")
    assert (told["channel"], told["user"]) == ("C1", "U1")
    assert told.get("thread_ts") == thread, "a reply is seen only in a thread that is open already"
    words = str(told["blocks"])
    assert "It is 4.2 million" in words
    assert "🔒" in words
    assert "Share here" in words
    assert slack.messages == {}
    assert message.handle == ""


async def test_slack_streams_a_long_answer_in_the_direct_chat(slack: FakeSlack) -> None:
    message = SlackChat(slack.api, slack.clock).begin_privately(SLACK_ROOM, SLACK_ASKER, "t", ASKED)
    await message.show(frame(LONG))
    await message.finish(frame(LONG + "[src:a]", done=True))
    [root, shown] = slack.messages.values()
    assert (root["channel"], root["text"]) == ("DU1", "“How large is the bonus?”")
    [start] = slack.named("chat.startStream")
    assert (start["channel"], start["thread_ts"]) == ("DU1", root["ts"])
    assert "🔒" in words_of(shown)
    assert slack.named("chat.postEphemeral") == []
    assert message.handle


async def test_slack_falls_back_to_the_direct_chat(slack: FakeSlack) -> None:
    refusal = httpx.Response(200, json={"ok": False, "error": "user_not_in_channel"})
    slack.script["chat.postEphemeral"] = [refusal]
    message = SlackChat(slack.api, slack.clock).begin_privately(SLACK_ROOM, SLACK_ASKER, "t", ASKED)
    await message.finish(frame("It is 4.2 million [src:a].", done=True))
    [_, shown] = slack.messages.values()
    assert shown["channel"] == "DU1"
    assert "4.2 million" in words_of(shown)


async def test_slack_takes_the_older_blocks_where_markdown_is_refused(slack: FakeSlack) -> None:
    slack.takes_markdown_blocks = False
    message = SlackChat(slack.api, slack.clock).begin_privately(SLACK_ROOM, SLACK_ASKER, "t", ASKED)
    await message.finish(frame("It is 4.2 million [src:a].", done=True))
    assert slack.named("chat.postEphemeral")[-1]["blocks"][0]["type"] == "section"
    assert slack.messages == {}


async def test_a_direct_chat_that_can_not_be_opened_is_a_refusal(slack: FakeSlack) -> None:
    refusal = httpx.Response(200, json={"ok": False, "error": "cannot_dm_bot"})
    slack.script["conversations.open"] = [refusal]
    message = SlackChat(slack.api, slack.clock).begin_privately(SLACK_ROOM, SLACK_ASKER, "t", ASKED)
    with pytest.raises(PlatformRefused):
        await message.finish(frame(LONG, done=True))


async def test_an_opening_that_failed_is_tried_again(slack: FakeSlack) -> None:
    slack.script["conversations.open"] = [httpx.Response(503)]
    message = SlackChat(slack.api, slack.clock).begin_privately(SLACK_ROOM, SLACK_ASKER, "t", ASKED)
    with pytest.raises(Unavailable):
        await message.show(frame(LONG))
    await message.finish(frame(LONG, done=True))
    assert len(slack.messages) == 2
    assert len(LONG) > SHORT


# --- Feishu ---------------------------------------------------------------------------------------


async def test_feishu_answers_in_the_direct_chat_under_the_quoted_question(
    feishu: FakeFeishu,
) -> None:
    message = FeishuChat(feishu.api, feishu.clock).begin_privately(
        FEISHU_ROOM, FEISHU_ASKER, "t", ASKED
    )
    await message.show(frame("", progress="Searching…"))
    assert feishu.messages == [], "nothing is opened before there are words"
    await message.show(frame("It is 4.2"))
    await message.finish(frame("It is 4.2 million [src:a].", done=True))
    [quoted, card] = feishu.messages
    assert quoted == ("ou_1", "text", {"text": "“How large is the bonus?”"})
    assert card[0] == "om_1", "the card answers the quoted question"
    text = text_of(feishu.cards["c1"]["card"])
    assert "4.2 million" in text
    assert "🔒" in text
    assert "Share here" in str(feishu.cards["c1"]["card"])


async def test_feishu_never_writes_into_the_group(feishu: FakeFeishu) -> None:
    message = FeishuChat(feishu.api, feishu.clock).begin_privately(
        FEISHU_ROOM, FEISHU_ASKER, "t", ASKED
    )
    await message.finish(frame("It is 4.2 million [src:a].", done=True))
    for where, _, _ in feishu.messages:
        assert where not in (FEISHU_ROOM.chat, FEISHU_ROOM.message)

"""The Chat port on Slack against a fake with the platform's rules."""

import asyncio
from pathlib import Path

import httpx
import pytest

from agent.domain import ChatRef, Identity, Source
from agent.errors import Misconfigured, PlatformRefused, RateLimited, Unavailable
from agent.ports import Control, Frame
from agent.stream import AnswerStream
from connectors.markup.pages import split_exact
from connectors.slack.blocks import SECTION, answer_pages
from connectors.slack.chat import SlackAnswer, SlackChat
from tests.fakes.clock import FakeClock
from tests.fakes.fake_slack import FakeSlack, words_of

CASES = Path("tests/data/cases/slack")
CHAT = ChatRef("C1", "group", "1767225600.000100")
ASKER = Identity("org", "slack", "A1", "T1", "U1")
SOURCES = {"a": Source("a", "Travel <1>", "https://docs.example.com/a?x=1&y=2", "policy")}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
def slack(clock: FakeClock) -> FakeSlack:
    return FakeSlack(clock)


def answer(slack: FakeSlack, handle: str = "") -> SlackAnswer:
    return SlackChat(slack.api, slack.clock).begin(CHAT, ASKER, "turn1", handle)


def frame(text: str, *, progress: str = "", done: bool = False, notice: str = "") -> Frame:
    return Frame("turn1", "en", text, progress, notice, SOURCES, done)


async def test_answer_is_one_stream(slack: FakeSlack) -> None:
    message = answer(slack)
    await message.show(frame("", progress="Searching…"))
    assert slack.named("assistant.threads.setStatus")[0]["status"] == "Searching…"
    await message.show(frame("The limit is **800** "))
    await message.show(frame("The limit is **800** yuan [src:a] and more"))
    await message.finish(frame("The limit is **800** yuan [src:a].", done=True, notice="Offline"))
    [shown] = slack.messages.values()
    assert shown["streaming"] is False
    assert words_of(shown) == (
        "The limit is **800** yuan [[1]](https://docs.example.com/a?x=1&y=2).\n"
        "*Sources*\n[1] 📘 <https://docs.example.com/a?x=1&amp;y=2|Travel &lt;1&gt;> · policy\n"
        "Offline"
    )
    start = slack.named("chat.startStream")[0]
    assert start["thread_ts"] == CHAT.message
    assert (start["recipient_team_id"], start["recipient_user_id"]) == ("T1", "U1")


async def test_a_changed_text_is_edited_as_a_whole(slack: FakeSlack) -> None:
    message = answer(slack)
    await message.show(frame("First try of an answer that "))
    await message.show(frame("Other words "))
    assert not slack.named("chat.appendStream")
    await message.finish(frame("Other words.", done=True))
    [shown] = slack.messages.values()
    assert words_of(shown) == "Other words."


async def test_stream_is_closed_before_slack_closes_it(slack: FakeSlack, clock: FakeClock) -> None:
    message = answer(slack)
    await message.show(frame("One and "))
    clock.advance(271)
    await message.show(frame("One and two and "))
    clock.advance(400)
    await message.show(frame("One and two and three and "))
    await message.finish(frame("One and two and three.", done=True))
    [shown] = slack.messages.values()
    assert words_of(shown) == "One and two and three."
    assert len(slack.named("chat.stopStream")) == 1


async def test_stream_closed_by_slack_ends_as_an_edit(slack: FakeSlack, clock: FakeClock) -> None:
    message = answer(slack)
    await message.show(frame("One and "))
    clock.advance(301)
    await message.finish(frame("One and two.", done=True))
    [shown] = slack.messages.values()
    assert words_of(shown) == "One and two."


async def test_a_lost_answer_makes_no_second_message(slack: FakeSlack) -> None:
    slack.script["chat.postMessage"] = [httpx.ReadTimeout("lost")]
    message = answer(slack)
    await message.finish(frame("Whole.", done=True))
    assert [words_of(m) for m in slack.messages.values()] == ["Whole."]
    assert len(slack.named("chat.postMessage")) == 1


async def test_a_lost_answer_is_found_among_many_replies(slack: FakeSlack) -> None:
    for n in range(450):
        slack.messages[f"{slack.clock.now():.0f}.9{n:05d}"] = {"ts": str(n), "text": "busy"}
    slack.script["chat.postMessage"] = [httpx.ReadTimeout("lost")]
    await SlackChat(slack.api, slack.clock).say(CHAT, "Once.", "turn1 notice")
    assert [m["text"] for m in slack.messages.values()].count("Once.") == 1


@pytest.mark.parametrize("dies", ["append", "stop", "edit"])
@pytest.mark.parametrize("reason", ["message_not_found", "cant_update_message", "unheard_of"])
async def test_an_answer_whose_message_is_taken_away_arrives_as_a_new_one(
    slack: FakeSlack, dies: str, reason: str
) -> None:
    refused = httpx.Response(200, json={"ok": False, "error": reason})
    message = answer(slack)
    await message.show(frame("One "))
    [gone] = slack.messages
    del slack.messages[gone]
    if dies == "append":
        slack.script["chat.appendStream"] = [refused]
        with pytest.raises(PlatformRefused):
            await message.show(frame("One two "))
    closed = httpx.Response(200, json={"ok": False, "error": "message_not_in_streaming_state"})
    slack.script["chat.stopStream"] = [closed if dies == "edit" else refused]
    slack.script["chat.update"] = [refused]
    await message.finish(frame("One two three.", done=True))
    [shown] = slack.messages.values()
    assert "One two three." in words_of(shown)


async def test_no_post_is_repeated_by_the_client(slack: FakeSlack) -> None:
    slack.script["chat.postMessage"] = [httpx.Response(503)]
    with pytest.raises(Unavailable):
        await SlackChat(slack.api, slack.clock).say(CHAT, "hello", "key")
    assert len(slack.named("chat.postMessage")) == 1


async def test_500_pieces_with_a_429() -> None:  # C-SL-07
    clock = FakeClock(auto=False)
    slack = FakeSlack(clock)
    case = (CASES / "update_429.http").read_text().replace("\r", "")
    head, body = case.strip().split("\n\n")
    status, *lines = head.split("\n")
    headers = dict(line.split(": ", 1) for line in lines)
    refusal = httpx.Response(int(status.split()[1]), headers=headers, text=body)
    accepted = [httpx.Response(200, json={"ok": True}) for _ in range(5)]
    # Five appends and the start are taken; the seventh edit is refused.
    slack.script["chat.appendStream"] = [*accepted, refusal]
    async with AnswerStream(answer(slack), clock, turn="turn1", language="en") as stream:
        for n in range(500):
            stream.delta(f"w{n} ")
            clock.advance(0.04)
            for _ in range(12):
                await asyncio.sleep(0)
        done = asyncio.create_task(stream.finish())
        while not done.done():
            clock.advance(0.05)
            await asyncio.sleep(0.001)
    edits = [at for method, _, at in slack.calls if method.startswith("chat.")]
    assert edits[7] - edits[6] >= 10.0
    assert all(sum(t <= x < t + 60 for x in edits) <= 50 for t in edits)
    whole = " ".join(f"w{n}" for n in range(500))
    assert words_of(next(iter(slack.messages.values()))).endswith(whole[-600:])
    assert len(slack.messages) == 1
    assert len(slack.named("chat.stopStream")) == 1


async def test_table_fence_and_mentions(slack: FakeSlack) -> None:  # C-SL-08
    text = (CASES / "model_answer_table_and_fence.md").read_text("utf-8")
    message = answer(slack)
    await message.finish(frame(text, done=True))
    [shown] = slack.messages.values()
    words = words_of(shown)
    assert "```md\n| keep | me |\n|---|---|\n| **raw** | a & b |\n```" in words
    assert "&lt;!channel&gt;" in words
    assert "<!channel>" not in words
    assert "CPU  | 2 < 4" in words
    assert "RAM  | 16 GB" in words
    [page] = answer_pages(frame(text, done=True))
    outside = "".join(page.mrkdwn.split("```")[::2])
    assert "**" not in outside


async def test_long_text_in_sections(slack: FakeSlack) -> None:  # C-SL-09
    text = (CASES / "answer_9001_chars.txt").read_text("utf-8")
    parts = split_exact(text, SECTION)
    assert "".join(parts) == text
    assert all(len(p) <= SECTION for p in parts)
    slack.takes_markdown_blocks = False
    message = answer(slack)
    await message.finish(frame(text, done=True))
    [shown] = slack.messages.values()
    assert "".join(b["text"]["text"] for b in shown["blocks"]) == text.strip()
    assert len(shown["blocks"]) <= 50


async def test_very_long_answer_is_several_messages(slack: FakeSlack) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "Words and more words. " * 40 for n in range(40))
    message = answer(slack)
    await message.show(frame(text[:9000]))
    await message.finish(frame(text + " [src:a]", done=True))
    whole = "\n".join(words_of(m) for m in slack.messages.values())
    assert len(slack.messages) == 4
    assert all(whole.count(f"Paragraph {n}. ") == 1 for n in range(40))
    assert "*Sources*" in words_of(list(slack.messages.values())[-1])


async def test_successor_edits_the_message(slack: FakeSlack) -> None:
    first = answer(slack)
    await first.show(frame("One and "))
    second = answer(slack, first.handle)
    await second.show(frame("Another text "))
    await second.finish(frame("Another text.", done=True))
    [shown] = slack.messages.values()
    assert words_of(shown) == "Another text."
    assert shown["streaming"] is False


async def test_no_streams_here_means_edits(slack: FakeSlack) -> None:
    slack.script["chat.startStream"] = [
        httpx.Response(200, json={"ok": False, "error": "unknown_method"})
    ]
    message = answer(slack)
    await message.show(frame("One and "))
    await message.show(frame("One and two and "))
    await message.finish(frame("One and two.", done=True))
    [shown] = slack.messages.values()
    assert words_of(shown) == "One and two."


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (httpx.Response(429, headers={"Retry-After": "7"}), RateLimited),
        (httpx.Response(200, json={"ok": False, "error": "ratelimited"}), RateLimited),
        (httpx.Response(200, json={"ok": False, "error": "internal_error"}), Unavailable),
        (httpx.Response(200, text="<html>"), Unavailable),
        (httpx.Response(200, json={"ok": False, "error": "invalid_auth"}), Misconfigured),
        (httpx.Response(200, json={"ok": False, "error": "is_archived"}), PlatformRefused),
    ],
)
async def test_errors_by_name(
    slack: FakeSlack, response: httpx.Response, kind: type[Exception]
) -> None:
    slack.script["chat.update"] = [response]
    with pytest.raises(kind) as caught:
        await slack.api.update("C1", "1", {"text": "canary"})
    assert "canary" not in str(caught.value)
    assert "xoxb" not in str(caught.value)


async def test_signs_and_whispers(slack: FakeSlack) -> None:
    chat = SlackChat(slack.api, slack.clock)
    slack.script["reactions.add"] = [
        httpx.Response(200, json={"ok": False, "error": "already_reacted"})
    ]
    await chat.react(CHAT, "seen")
    await chat.whisper(CHAT, ASKER, "only you <!here> evil.com", "k")
    assert slack.named("chat.postEphemeral")[0]["text"] == "only you &lt;!here&gt; `evil.com`"


@pytest.mark.parametrize(
    "reason", ["not_in_channel", "channel_not_found", "user_not_in_channel", "is_archived"]
)
async def test_who_can_not_be_told_in_the_chat_is_told_directly(
    slack: FakeSlack, reason: str
) -> None:
    refused = httpx.Response(200, json={"ok": False, "error": reason})
    slack.script["chat.postEphemeral"] = [refused]
    controls = (Control("connect", "turn1", "Connect"),)
    await SlackChat(slack.api, slack.clock).whisper(CHAT, ASKER, "For you.", "key", controls)
    [told] = slack.named("chat.postMessage")
    assert (told["channel"], told["text"]) == ("DU1", "For you.")
    assert "thread_ts" not in told
    assert told["blocks"][-1]["type"] == "actions"


async def test_a_long_whisper_with_buttons_stays_within_the_limits(slack: FakeSlack) -> None:
    controls = (Control("share-yes", "turn1", "Yes"),)
    text = "\n".join(f"🔒 Title {n} " + "&" * 100 for n in range(20))
    await SlackChat(slack.api, slack.clock).whisper(CHAT, ASKER, text, "key", controls)
    [told] = slack.named("chat.postEphemeral")
    assert told["blocks"][-1]["type"] == "actions"

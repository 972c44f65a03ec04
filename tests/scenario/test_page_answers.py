"""The chat page shows what the bot posts as the platform would: streams, buttons, hostile text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import expect

from agent.ports import Control
from connectors.feishu.card import note_card
from connectors.slack.blocks import control_blocks, section
from tests.fakes.page_stage import Stage, open_stage

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def hall() -> Iterator[Stage]:
    with open_stage() as stage:
        yield stage


@pytest.fixture
def stage(hall: Stage) -> Iterator[Stage]:
    hall.fresh()
    yield hall
    hall.close_pages()
    assert hall.errors == []


HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> [go](javascript:alert(3))"
PARTS = ["The hotel limit ", "in **Shanghai** is 650 CNY. ", "It includes tax. [1]"]
WHOLE = "The hotel limit in Shanghai is 650 CNY. It includes tax. [1]"
GROWN = """([whole, length]) => {
  const node = document.querySelector(".content .markdown");
  return node && whole.startsWith(node.textContent) && node.textContent.length >= length;
}"""


def _card(*elements: Mapping[str, object], streaming: bool = False) -> dict[str, object]:
    return {
        "schema": "2.0",
        "config": {"streaming_mode": streaming, "update_multi": True},
        "body": {"elements": list(elements)},
    }


def _visible(frames: int) -> int:
    return len("".join(PARTS[:frames]).replace("**", "").rstrip())


def test_a_streamed_feishu_card_grows_and_finishes(stage: Stage) -> None:
    page = stage.open("feishu", "alice")
    answer = {"tag": "markdown", "element_id": "answer", "content": ""}
    card = stage.card("alice", _card(answer, streaming=True))
    text = page.locator(".card .markdown")

    for number in range(1, len(PARTS) + 1):
        frame = {"content": "".join(PARTS[:number]), "sequence": number}
        stage.feishu("PUT", f"cardkit/v1/cards/{card}/elements/answer/content", frame)
        page.wait_for_function(GROWN, arg=[WHOLE, _visible(number)])
        expect(page.locator(".generating")).to_be_visible()
        expect(page.locator("article[aria-busy=true] .cursor")).to_have_count(1)
    done = {"settings": '{"config":{"streaming_mode":false}}', "sequence": 9}
    stage.feishu("PATCH", f"cardkit/v1/cards/{card}/settings", done)

    expect(text).to_have_text(WHOLE)
    expect(text.locator("strong")).to_have_text("Shanghai")
    expect(page.locator(".generating, .cursor, [aria-busy]")).to_have_count(0)


def test_a_streamed_slack_answer_stands_under_its_question(stage: Stage) -> None:
    page = stage.open("slack", "alice")
    chat = stage.bot_chat("slack", "alice")
    root = stage.say("slack", "alice", chat, "What is the hotel limit?")
    where = {"channel": chat, "thread_ts": root}
    stage.slack("reactions.add", channel=chat, timestamp=root, name="eyes")
    status = {"channel_id": chat, "thread_ts": root, "status": "is searching…"}
    stage.slack("assistant.threads.setStatus", **status)
    expect(page.locator(".reaction")).to_have_count(1)
    expect(page.locator(".assistant-status")).to_have_text("Plumbline is searching…")

    stream = str(stage.slack("chat.startStream", **where, markdown_text=PARTS[0])["ts"])
    expect(page.locator(".generating")).to_be_visible()
    expect(page.locator(".assistant-status")).to_have_count(0)
    stage.slack("chat.appendStream", channel=chat, ts=stream, markdown_text=PARTS[1])
    page.wait_for_function(GROWN, arg=[WHOLE, _visible(2)])
    source = {"type": "mrkdwn", "text": "<https://kb.hengxing.example/travel|Travel policy>"}
    blocks = [{"type": "context", "elements": [source]}]
    end = {"channel": chat, "ts": stream, "markdown_text": PARTS[2]}
    stage.slack("chat.stopStream", **end, blocks=blocks)

    nested = page.locator(".message.is-nested")
    expect(nested.locator(".markdown")).to_have_text(WHOLE)
    link = nested.get_by_role("link", name="Travel policy")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    expect(page.locator(".generating, .cursor, [aria-busy]")).to_have_count(0)


def test_a_feishu_button_shows_the_toast_in_the_persons_language(stage: Stage) -> None:
    i18n = {"zh_cn": "谢谢反馈", "en_us": "Thank you"}
    stage.bot.answer = {"toast": {"type": "success", "content": "Thank you", "i18n": i18n}}
    page = stage.open("feishu", "fang")
    behaviour = {"type": "callback", "value": {"vote": "up"}}
    label = {"tag": "plain_text", "content": "有帮助"}
    stage.card("fang", _card({"tag": "button", "text": label, "behaviors": [behaviour]}))

    page.get_by_role("button", name="有帮助", exact=True).click()

    expect(page.locator(".toast-success")).to_have_text("谢谢反馈")


def test_slack_feedback_is_pressed_and_delivered(stage: Stage) -> None:
    page = stage.open("slack", "alice")
    chat = stage.bot_chat("slack", "alice")
    choice = {"text": {"type": "plain_text", "text": "Good"}, "value": "good"}
    worse = {"text": {"type": "plain_text", "text": "Bad"}, "value": "bad"}
    element = {"type": "feedback_buttons", "action_id": "feedback"}
    both = element | {"positive_button": choice, "negative_button": worse}
    blocks = [{"type": "context_actions", "elements": [both]}]
    stage.slack("chat.postMessage", channel=chat, text="Was it useful?", blocks=blocks)

    with page.expect_response("**/sim/press") as answered:
        page.get_by_role("button", name="Good").click()

    assert answered.value.ok
    assert stage.bot.heard("/slack/interactivity")


def test_hostile_text_stays_text_in_a_card(stage: Stage) -> None:
    page = stage.open("feishu", "alice")
    stage.card("alice", _card({"tag": "markdown", "content": HOSTILE}))
    stage.say("feishu", "alice", stage.bot_chat("feishu", "alice"), HOSTILE)

    expect(page.locator(".card .markdown")).to_have_text(HOSTILE.split(" [")[0] + " go")
    expect(page.locator(".is-mine .content")).to_have_text(HOSTILE)
    expect(page.locator(".content script, .content img, .content a")).to_have_count(0)


def test_hostile_text_stays_text_in_slack(stage: Stage) -> None:
    page = stage.open("slack", "alice")
    chat = stage.bot_chat("slack", "alice")
    stage.say("slack", "alice", chat, f"<!channel> {HOSTILE}")
    escaped = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    stage.slack("chat.postMessage", channel=chat, text=f"&lt;!channel&gt; {escaped}")

    expect(page.locator(".content")).to_have_count(2)
    for index in (0, 1):
        expect(page.locator(".content").nth(index)).to_have_text(f"<!channel> {HOSTILE}")
    expect(page.locator(".content script, .content img, .content .mention")).to_have_count(0)
    expect(page.locator(".content a")).to_have_count(0)


def test_an_ephemeral_message_is_seen_by_one_person_alone(stage: Stage) -> None:
    chat = stage.chat("slack", "alice", "it-help")
    alice = stage.open("slack", "alice", chat)
    bob = stage.open("slack", "bob", chat)

    ghost = {"channel": chat, "user": "U0ALICE001", "text": "for your eyes"}
    stage.slack("chat.postEphemeral", **ghost)
    stage.slack("chat.postMessage", channel=chat, text="for everybody")

    expect(alice.locator(".is-ephemeral")).to_contain_text("Only visible to you")
    expect(bob.locator(".message", has_text="for everybody")).to_be_visible()
    expect(bob.locator(".message", has_text="for your eyes")).to_have_count(0)


def test_a_card_shows_lists_tables_code_panels_and_columns(stage: Stage) -> None:
    page = stage.open("feishu", "alice")
    table = "| City | Limit |\n| --- | --- |\n| Shanghai | 650 |"
    text = f"- one\n  - two\n\n{table}\n\n```python\nprint('<b>')\n```\n<at id=ou_demo_bob></at>"
    panel = {
        "tag": "collapsible_panel",
        "expanded": False,
        "header": {"title": {"tag": "plain_text", "content": "Sources"}},
        "elements": [{"tag": "markdown", "content": "[Policy](https://kb.hengxing.example/p)"}],
    }
    stage.card("alice", _card({"tag": "markdown", "content": text}, {"tag": "hr"}, panel))
    card = page.locator(".card")

    expect(card.locator("li li")).to_have_text("two")
    expect(card.locator("td").nth(1)).to_have_text("650")
    expect(card.locator("pre")).to_have_text("print('<b>')")
    expect(card.locator(".mention")).to_have_text("@Bob Carter")
    expect(card.get_by_role("link", name="Policy")).to_be_hidden()
    card.locator("summary").click()
    expect(card.get_by_role("link", name="Policy")).to_be_visible()


@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_a_button_with_an_address_opens_a_new_tab(stage: Stage, platform: str) -> None:
    page = stage.open(platform, "alice")
    link = Control("connect", "t1", "Connect my account", f"{stage.origin}/?connect=1#as=bob")
    if platform == "feishu":
        stage.card("alice", note_card("Your chats were not searched.", (link,)))
    else:
        blocks = [section("Your chats were not searched."), *control_blocks((link,))]
        stage.slack("chat.postMessage", channel=stage.bot_chat("slack", "alice"), blocks=blocks)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Connect my account").click()
    assert opened.value.url == link.url
    assert page.url != link.url
    assert platform == "feishu" or stage.bot.heard("/slack/interactivity")

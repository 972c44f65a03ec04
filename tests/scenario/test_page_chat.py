"""The chat page: both looks open, people write, switch, mention and attach."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

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


BOTH = pytest.mark.parametrize("platform", ["feishu", "slack"])
PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f"
    b"\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d"
    b"\x00\x00\x00\x00IEND\xaeB`\x82"
)


@BOTH
def test_opens_on_the_bot_with_three_examples(stage: Stage, platform: str) -> None:
    page = stage.open(platform, "alice")

    expect(page.locator("body")).to_have_attribute("data-platform", platform)
    expect(page.locator("#conversation h1")).to_have_text("Plumbline")
    expect(page.locator(".example")).to_have_count(3)
    expect(page.locator(".chat-row").first).to_contain_text("Plumbline")


@BOTH
def test_a_message_sent_with_enter_appears_once_and_reaches_the_bot(
    stage: Stage, platform: str
) -> None:
    page = stage.open(platform, "alice")
    field = page.get_by_role("textbox")

    field.fill("first line")
    field.press("Shift+Enter")
    field.press_sequentially("second line")
    field.press("Enter")

    mine = page.locator(".message.is-mine")
    expect(mine).to_have_count(1)
    expect(mine).to_contain_text("second line")
    expect(field).to_have_value("")
    expect(page.locator(".example")).to_have_count(0)
    assert stage.bot.heard(f"/{platform}/events")
    assert stage.bot.paths == [f"/{platform}/events"]


@BOTH
def test_an_example_question_is_asked_by_a_click(stage: Stage, platform: str) -> None:
    page = stage.open(platform, "fang")

    page.get_by_role("button", name="去上海出差住宿标准是多少？").click()

    expect(page.locator(".message.is-mine .content")).to_have_text("去上海出差住宿标准是多少？")


@BOTH
def test_typing_an_at_sign_offers_the_bot_and_mentions_it(stage: Stage, platform: str) -> None:
    page = stage.open(platform, "alice")
    page.locator(".chat-row", has_text="it-help").click()
    field = page.get_by_role("textbox")

    field.press_sequentially("@")
    expect(page.get_by_role("option").first).to_have_text("Plumbline")
    field.press("Enter")
    field.press_sequentially("VPN error 809")
    field.press("Enter")

    last = page.locator(".message").last
    expect(last.locator(".mention")).to_have_text("@Plumbline")
    expect(last).to_contain_text("VPN error 809")
    assert stage.bot.heard(f"/{platform}/events")


def test_a_picture_waits_as_a_chip_and_is_shown_when_sent(stage: Stage) -> None:
    page = stage.open("feishu", "alice")
    picture = {"name": "error.png", "mimeType": "image/png", "buffer": PIXEL}

    page.locator("input[type=file]").first.set_input_files(picture)  # pyright: ignore[reportArgumentType] - a plain dict is what Playwright documents
    expect(page.locator(".chip")).to_contain_text("error.png")
    page.get_by_role("button", name="Send").click()

    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator(".message img")).to_have_js_property("naturalWidth", 1)


@BOTH
def test_another_person_sees_other_chats_in_another_language(stage: Stage, platform: str) -> None:
    page = stage.open(platform, "alice")
    expect(page.locator(".chat-row", has_text="hr-confidential")).to_have_count(0)
    expect(page.locator("html")).to_have_attribute("lang", "en")

    page.get_by_role("button", name="Switch person").click()
    page.get_by_role("menuitemradio", name="Dana").click()

    secret = stage.chat(platform, "dana", "hr-confidential")
    expect(page.locator(f".chat-row[data-chat='{secret}']")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    assert "as=dana" in page.url


def test_the_platform_switch_changes_the_look_and_keeps_the_person(stage: Stage) -> None:
    page = stage.open("feishu", "bob")

    page.get_by_role("button", name="Slack look").click()

    expect(page.locator("body")).to_have_attribute("data-platform", "slack")
    expect(page.locator(".side-section").first).to_have_text("Apps")
    assert "as=bob" in page.url


def test_a_chat_in_the_background_counts_unread_messages(stage: Stage) -> None:
    page = stage.open("slack", "alice")
    row = page.locator(".chat-row", has_text="it-help")

    stage.say("slack", "bob", stage.chat("slack", "alice", "it-help"), "Is the printer down?")

    expect(row.locator(".unread")).to_have_text("1")
    row.click()
    expect(row.locator(".unread")).to_have_count(0)


@BOTH
def test_replies_stand_in_a_thread_beside_the_chat(stage: Stage, platform: str) -> None:
    chat = stage.chat(platform, "alice", "it-help")
    page = stage.open(platform, "alice", chat)
    root = stage.say(platform, "bob", chat, "Who has a spare adapter?")
    stage.say(platform, "chen", chat, "I do", thread=root)

    page.locator(f"[data-message='{root}'] .thread-line").click()
    pane = page.locator("#thread")
    expect(pane.locator(".message")).to_have_count(2)
    pane.get_by_role("textbox").fill("adapter collected")
    pane.get_by_role("textbox").press("Enter")

    expect(pane.locator(".message")).to_have_count(3)
    expect(page.locator("#conversation .message", has_text="adapter collected")).to_have_count(0)


@BOTH
def test_a_narrow_window_shows_chat_and_list_without_sideways_scrolling(
    stage: Stage, platform: str
) -> None:
    page = stage.open(platform, "chen", width=390)
    wide = "document.documentElement.scrollWidth > innerWidth"

    assert not page.evaluate(wide)
    page.get_by_role("button", name="返回会话列表").click()

    expect(page.locator(".chat-row").first).to_be_visible()
    expect(page.locator("#conversation")).to_be_hidden()
    assert not page.evaluate(wide)


def test_the_drawer_lists_the_calls_of_the_bot(stage: Stage) -> None:
    stage.slack("auth.test")
    page = stage.open("slack", "alice")

    page.get_by_role("button", name="API calls").click()

    call = page.locator(".call", has_text="/api/auth.test")
    expect(call).to_contain_text("200")
    expect(call).to_contain_text("bot")

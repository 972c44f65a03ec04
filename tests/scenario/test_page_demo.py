"""What `make demo` promises, clicked through in a browser: a cited answer in both looks."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.fakes.demo import PATIENCE, opened_demo
from tests.fakes.page_stage import open_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def page_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo in a process of its own, with a home of its own."""
    with opened_demo(tmp_path_factory.mktemp("demo")) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = open_browser(playwright)
        yield opened
        opened.close()


@pytest.fixture
def errors() -> list[str]:
    return []


@pytest.fixture
def page(browser: Browser, errors: list[str]) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    yield opened
    opened.close()
    assert errors == []


def ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox").first
    box.fill(question)
    box.press("Enter")


def messages(page: Page) -> Locator:
    return page.get_by_role("log").first


@pytest.mark.parametrize(
    ("platform", "who", "question", "value", "follow_up", "then"),
    [
        ("feishu", "chen", "去上海出差住宿标准是多少？", "650", "那柏林呢？", "165"),
        ("slack", "bob", "What is the hotel limit in Shanghai?", "650", "and in Berlin?", "165"),
    ],
)
def test_a_question_and_its_follow_up_are_answered_with_sources(
    page: Page,
    page_address: str,
    platform: str,
    who: str,
    question: str,
    value: str,
    follow_up: str,
    then: str,
):
    page.goto(f"{page_address}/#platform={platform}&as={who}")
    ask(page, question)
    log = messages(page)
    expect(log).to_contain_text(value, timeout=PATIENCE)
    source = log.get_by_role("link", name=re.compile(r"^\[?1\]?$")).first
    expect(source).to_have_attribute("href", re.compile(r"^https://kb\.hengxing\.example/"))
    expect(log.locator(".streaming, .generating")).to_have_count(0, timeout=PATIENCE)
    ask(page, follow_up)
    expect(log).to_contain_text(then, timeout=PATIENCE)


@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_a_mention_in_a_group_is_answered(page: Page, page_address: str, platform: str):
    page.goto(f"{page_address}/#platform={platform}&as=alice")
    page.get_by_role("button", name="all-hands").first.click()
    ask(page, "@Plumbline VPN error 809")
    if platform == "slack":
        page.get_by_role("button", name="Open thread").last.click(timeout=PATIENCE)
    expect(page.locator("body")).to_contain_text("HX-TLS", timeout=PATIENCE)


def test_a_question_that_nobody_wrote_down_is_refused_with_a_next_step(
    page: Page, page_address: str
):
    page.goto(f"{page_address}/#platform=slack&as=alice")
    ask(page, "Who won the football world cup in 1998?")
    expect(messages(page)).to_contain_text("Try other words", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("platform", "who", "name", "button"),
    [("feishu", "chen", "陈浩", "连接飞书"), ("slack", "fang", "李芳", "Connect Slack")],
)
def test_a_person_connects_and_gets_answers_from_own_meetings(
    page: Page, page_address: str, platform: str, who: str, name: str, button: str
):
    """Ask, connect on the platform's page, return to the chat, ask again with one press."""
    question = {
        "chen": "X-300 备件价格是多少？",
        "fang": "What is the X-300 spare part price? 备件价格",
    }
    page.goto(f"{page_address}/#platform={platform}&as={who}")
    ask(page, question[who])
    log = messages(page)
    connect = log.get_by_role("link", name=button).last
    expect(connect).to_be_visible(timeout=PATIENCE)
    expect(log).not_to_contain_text("9,800")
    with page.expect_popup() as opened:
        connect.click()
    consent = opened.value
    consent.get_by_role("link", name=name).click()
    consent.get_by_role("button", name="Allow").click()
    said = "请关闭本页，回到聊天" if platform == "feishu" else "return to the chat"
    expect(consent.locator("body")).to_contain_text(said, timeout=PATIENCE)
    consent.close()
    again = "再答一次刚才的问题" if platform == "feishu" else "Ask my question again"
    log.get_by_role("button", name=again).last.click(timeout=PATIENCE)
    expect(log).to_contain_text("9,800", timeout=PATIENCE)

"""One question, several people, in the demo's page: connect, answer, group, share, logout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.fakes.demo import PATIENCE, Visitor, opened_demo
from tests.fakes.page_stage import open_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True, slots=True)
class Story:
    """What is asked on a platform, a word of the answer, its source, and who may not read it."""

    platform: str
    question: str
    value: str
    source: str
    outsider: str
    outsider_name: str


LAUNCH = "What was decided about the launch date?"
STORIES = [
    Story("feishu", LAUNCH, "2027 年 3 月 18 日", "x300-launch", "emil", "Emil Hartmann"),
    # The launch's channel is public on Slack; the meeting notes are not.
    Story(
        "slack",
        "Which credit do customers get for the broker outage?",
        "5 %",
        "Post-mortem",
        "emil",
        "Emil Hartmann",
    ),
]
CONNECT = {"feishu": "Connect Feishu", "slack": "Connect Slack"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = open_browser(playwright)
        yield opened
        opened.close()


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A demo that nobody has connected to yet."""
    with opened_demo(tmp_path_factory.mktemp("demo")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    del address  # the page closes before the demo ends
    errors: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")
    opened.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    yield opened
    opened.close()
    assert errors == []


@pytest.mark.parametrize("story", STORIES, ids=lambda s: s.platform)
def test_the_same_question_by_those_who_may_and_who_may_not(
    page: Page, address: str, story: Story
) -> None:
    def visit(login: str) -> Visitor:
        return Visitor(page, address, story.platform, login)

    alice = visit("alice")
    _connects_and_asks_again(alice, story, "Alice Wagner")
    _connects_and_asks_again(visit("bob"), story, "Bob Carter")
    other = visit(story.outsider)
    _connects(other, story, story.outsider_name)
    other.press("Ask my question again")
    other.settled()
    expect(other.log).not_to_contain_text(story.value)
    expect(other.log).not_to_contain_text(story.source)

    _asks_in_the_group(visit("alice"), story)
    other = visit(story.outsider)
    other.enter("all-hands")
    _opens_thread(other)
    body = page.locator("body")
    expect(body).to_contain_text("I answered you privately", timeout=PATIENCE)
    expect(body).not_to_contain_text(story.value)
    expect(body).not_to_contain_text(story.source)

    _shares(visit("alice"), story)
    other = visit(story.outsider)
    other.enter("all-hands")
    _opens_thread(other)
    expect(body).to_contain_text(story.value, timeout=PATIENCE)
    expect(body).to_contain_text("Shared by the person who asked", timeout=PATIENCE)

    _switches_and_leaves(visit("alice"))


def _connects(person: Visitor, story: Story, name: str) -> None:
    """Ask, and agree to what the bot offers beside its answer."""
    person.write(story.question)
    person.reads("Permissions it asks for", "What is kept")
    person.settled()
    expect(person.log).not_to_contain_text(story.value)
    said = person.connect(CONNECT[story.platform], name)
    assert "is connected" in said
    person.reads("is connected. From now on I search")


def _connects_and_asks_again(person: Visitor, story: Story, name: str) -> None:
    _connects(person, story, name)
    person.press("Ask my question again")
    person.reads(story.value, "🔒")
    person.settled()
    expect(person.log).to_contain_text(story.source)


def _opens_thread(person: Visitor) -> None:
    if person.platform == "slack":
        person.page.get_by_role("button", name="Open thread").last.click(timeout=PATIENCE)


def _asks_in_the_group(alice: Visitor, story: Story) -> None:
    alice.enter("all-hands")
    alice.write(f"@Plumbline {story.question}")
    if story.platform == "slack":
        alice.reads("Only visible to you", story.value, "1 reply")
    else:
        alice.reads("I answered you privately")


def _shares(alice: Visitor, story: Story) -> None:
    """The first press lists what would become known, the second one posts."""
    if story.platform == "slack":
        alice.enter("all-hands")
    alice.press("Share with the group")
    alice.reads("If you confirm, everybody in the group sees this answer", story.source)
    alice.press("Yes, share it")
    alice.reads("This answer was shared already")


def _switches_and_leaves(alice: Visitor) -> None:
    alice.command("sources off messages")
    alice.reads("your chats (messages): off")
    alice.command("sources on messages")
    alice.reads("your chats (messages): on, connected")
    alice.command("logout")
    alice.reads("Signed out")
    alice.command("sources")
    alice.reads("your chats (messages): on, not connected")


@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_in_chinese(page: Page, address: str, platform: str) -> None:
    chen = Visitor(page, address, platform, "chen")
    chen.write("发布日期定在哪天？")
    name = "连接飞书" if platform == "feishu" else "连接Slack"
    assert "已连接" in chen.connect(name, "陈浩")
    chen.press("再答一次刚才的问题")
    chen.reads("x300-launch", "2027 年 3 月 18 日")

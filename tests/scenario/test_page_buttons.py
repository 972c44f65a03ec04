"""Every button and every command, clicked and typed in a browser against the real bot."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from shutil import which

import pytest
from playwright.async_api import Locator, Page, async_playwright, expect

from agent import phrases
from agent.domain import Platform
from handlers.surface import commands, connect, manual, replies
from tests.fakes.page_stage import ARGUMENTS
from tests.fakes.stage import Stage
from tests.scenario.conftest import Open

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOTEL = "What is the hotel limit in Shanghai?"
PATIENCE = 20_000
"""Milliseconds for an answer, on a busy machine."""


@asynccontextmanager
async def opened(bot: Stage, login: str = "alice", chat: str = "") -> AsyncGenerator[Page]:
    """The chat page as this person sees it, in English; without a chat the one with the bot."""
    found = which("chromium") or which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on the PATH: install the package chromium to run the page tests")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
        errors: list[str] = []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        where = f"&chat={chat}" if chat else ""
        await page.goto(f"{bot.http.base_url}/#platform={bot.platform}&as={login}{where}")
        yield page
        await browser.close()
        assert errors == []


async def write(page: Page, text: str) -> None:
    box = page.get_by_role("textbox").last
    await box.fill(text)
    await box.press("Enter")


async def shown(page: Page, text: str) -> None:
    """That the page shows these words: in a message, a thread or a toast."""
    await expect(page.locator("body")).to_contain_text(text, timeout=PATIENCE)


def button(page: Page, label: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{re.escape(label)}$")).last


async def test_every_button_does_its_work(stage: Open, platform: Platform) -> None:
    async with stage() as bot, opened(bot) as page:
        await write(page, HOTEL)
        await shown(page, "CNY 650")
        labels = {name: words["en"] for name, words in replies.BUTTONS.items()}
        for label in labels.values():
            await expect(button(page, label)).to_be_visible(timeout=PATIENCE)
        await button(page, labels["sources"]).click()
        await shown(page, replies.passages_title("en"))
        await button(page, labels["helpful"]).click()
        await shown(page, replies.note("en", "thanks"))
        await button(page, labels["unhelpful"]).click()
        for reason in replies.REASONS.values():
            await expect(button(page, reason["en"])).to_be_visible(timeout=PATIENCE)
            await button(page, reason["en"]).click()
            await shown(page, "the reason is noted")
        await button(page, labels["unhelpful"]).click()
        await shown(page, replies.reason_known("en", "offtopic"))
        await button(page, labels["human"]).click()
        await shown(page, replies.note("en", "passed_on"))
        await button(page, labels["retry"]).click()
        again = page.locator("article").get_by_role("button", name=labels["retry"], exact=True)
        await expect(again).to_have_count(2, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("help", "Just write your question"),
        ("status", "Documents you may read: 3"),
        ("model", "In use: offline"),
        ("sources", "the knowledge base (kb): on"),
        ("sources off kb", "the knowledge base (kb): off"),
        ("lang", "To keep to one, send"),
        ("lang en", "I answer in English. Send"),
        ("lang fr", '"fr" is not offered'),
        ("feedback The sources are useful", manual.line("en", "feedback_kept")),
        ("logout", "Connecting own sources is not set up here"),
        ("pause", manual.line("en", "admins_only")),
        ("resume", manual.line("en", "admins_only")),
        ("listen", manual.line("en", "listen_in_groups")),
        ("stop listening", manual.line("en", "listen_in_groups")),
        ("/statsu", "There is no command"),
        ("new", phrases.cleared("en")),
        (f"ask {HOTEL}", "CNY 650"),
    ],
)
async def test_every_command_is_obeyed(
    stage: Open, platform: Platform, command: str, answer: str
) -> None:
    async with stage() as bot, opened(bot) as page:
        await write(page, typed(platform, command))
        await shown(page, answer.split("\n", maxsplit=1)[0])


def typed(platform: Platform, command: str) -> str:
    """A command as a person writes it there."""
    return f"/plumb {command}" if platform == "slack" else f"/{command.removeprefix('/')}"


async def test_every_command_has_been_clicked_here(request: pytest.FixtureRequest) -> None:
    marks = test_every_command_is_obeyed.pytestmark  # pyright: ignore[reportFunctionMemberAccess]  pytest sets it
    [cases] = [m.args[1] for m in marks if m.name == "parametrize"]
    named = {case[0].replace("stop listening", "stop-listening").split()[0] for case in cases}
    assert {commands.WORDS[name] for name in named if name in commands.WORDS} == set(
        commands.WORDS.values()
    )


async def test_the_bot_starts_and_stops_listening_in_a_channel(
    stage: Open, platform: Platform
) -> None:
    async with stage() as bot, opened(bot, "dana", bot.group) as page:
        steps: list[tuple[str, manual.Line]] = [
            ("listen", "listening"),
            ("stop listening", "deaf_channel"),
        ]
        for command, said in steps:
            if platform == "slack":
                await write(page, typed(platform, command))
            else:
                await mention(page, typed(platform, command))
            await shown(page, manual.line("en", said))


async def mention(page: Page, text: str) -> None:
    """Write to the bot in a group, by name."""
    box = page.get_by_role("textbox").last
    await box.press_sequentially("@")
    await page.get_by_role("option", name="Plumbline").click()
    await box.press_sequentially(text)
    await box.press("Enter")


async def test_the_connect_button_opens_the_consent_in_a_new_tab(
    stage: Open, platform: Platform
) -> None:
    async with stage(connectable=True) as bot, opened(bot) as page:
        await write(page, typed(platform, "sources"))
        label = f"Connect {connect.NAMES[platform]['en']}"
        link = page.get_by_role("link", name=label).last
        await expect(link).to_be_visible(timeout=PATIENCE)
        async with page.expect_popup() as popup:
            await link.click()
        tab = await popup.value
        await expect(tab.locator("body")).to_contain_text(re.compile("Alice|Plumbline"))
        assert "start?ticket" not in page.url

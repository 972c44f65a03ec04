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
from handlers.surface import manual, replies
from tests.fakes.page_stage import ARGUMENTS
from tests.fakes.stage import Stage
from tests.scenario.conftest import Open

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOTEL = "What is the hotel limit in Shanghai?"
PATIENCE = 20_000
"""Milliseconds for an answer, on a busy machine."""


@asynccontextmanager
async def opened(bot: Stage, login: str = "alice") -> AsyncGenerator[Page]:
    """The chat page as this person sees it, in English."""
    found = which("chromium") or which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on the PATH: install the package chromium to run the page tests")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        page = await browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
        errors: list[str] = []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        await page.goto(f"{bot.http.base_url}/#platform={bot.platform}&as={login}")
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
        await button(page, labels["human"]).click()
        await shown(page, replies.note("en", "passed_on"))
        await button(page, labels["retry"]).click()
        again = page.locator("article").get_by_role("button", name=labels["retry"], exact=True)
        await expect(again).to_have_count(2, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("help", "Commands ("),
        ("status", "Documents you may read: 3"),
        ("model", "In use: offline"),
        ("sources", "the knowledge base (kb): on"),
        ("lang en", manual.speaking("en")),
        ("feedback The sources are useful", manual.line("en", "feedback_kept")),
        ("new", phrases.cleared("en")),
        (f"ask {HOTEL}", "CNY 650"),
    ],
)
async def test_every_command_is_obeyed(
    stage: Open, platform: Platform, command: str, answer: str
) -> None:
    async with stage() as bot, opened(bot) as page:
        await write(page, f"/plumb {command}" if platform == "slack" else f"/{command}")
        await shown(page, answer.split("\n", maxsplit=1)[0])

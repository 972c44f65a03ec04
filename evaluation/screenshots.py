"""Takes the pictures of docs/screenshots from a demo that was just started.

Usage: `PLUMBLINE_HOME=$(mktemp -d) make demo` in one terminal, and in another one
`python -m evaluation.screenshots`.
Nobody may have connected own sources before.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
VIEWS = {
    "feishu": ("feishu", "chen", ("去上海出差住宿标准是多少？", "那柏林呢？")),
    "slack": ("slack", "bob", ("What is the hotel limit in Shanghai?", "and in Berlin?")),
}
STORIES = {
    "feishu": (
        "fang",
        "发布日期定在哪天？",
        "连接飞书",
        "李芳",
        "再答一次刚才的问题",
        "分享到群里",
    ),
    "slack": (
        "alice",
        "Which credit do customers get for the broker outage?",
        "Connect Slack",
        "Alice Wagner",
        "Ask my question again",
        "Share with the group",
    ),
}
"""By platform: a person, a question about own sources, the words to press up to its answer."""
PATIENCE = 30_000


def main(address: str) -> None:
    """Ask in both looks and save what the page shows then."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (platform, who, questions) in VIEWS.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{address}/#platform={platform}&as={who}")
            for question in questions:
                _ask(page, question)
            page.screenshot(path=FOLDER / f"{name}.png")
            _own_sources(page, address, platform)
        browser.close()


def _own_sources(page: Page, address: str, platform: str) -> None:
    """The offer to connect, the platform's consent, the private answer, what sharing would show."""
    who, question, connect, name, again, share = STORIES[platform]
    page.goto("about:blank")
    page.goto(f"{address}/#platform={platform}&as={who}")
    _ask(page, question)
    page.screenshot(path=FOLDER / f"{platform}-connect.png")
    with page.expect_popup() as popup:
        page.get_by_role("link", name=connect).last.click()
    consent = popup.value
    consent.set_viewport_size({"width": 720, "height": 640})
    consent.get_by_role("link", name=name).click()
    consent.screenshot(path=FOLDER / f"{platform}-consent.png")
    consent.get_by_role("button", name="Allow").click()
    consent.wait_for_load_state()
    consent.close()
    page.get_by_role("button", name=again).last.click(timeout=PATIENCE)
    _settle(page)
    page.screenshot(path=FOLDER / f"{platform}-answer.png")
    page.get_by_role("button", name=re.compile("all-hands|全员群")).first.click()
    _ask(page, f"@Plumbline {question}")
    page.screenshot(path=FOLDER / f"{platform}-group.png")
    if platform == "feishu":
        page.goto("about:blank")
        page.goto(f"{address}/#platform={platform}&as={who}")
    page.get_by_role("button", name=share).last.click(timeout=PATIENCE)
    _settle(page)
    page.screenshot(path=FOLDER / f"{platform}-share.png")


def _ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox").first
    box.fill(question)
    box.press("Enter")
    _settle(page)


def _settle(page: Page) -> None:
    page.wait_for_timeout(1_000)
    page.wait_for_function(
        "() => !document.querySelector('.streaming, .generating')", timeout=PATIENCE
    )
    page.wait_for_timeout(3_000)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8085")

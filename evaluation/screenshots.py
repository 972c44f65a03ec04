"""Takes the pictures of docs/screenshots from a running demo.

Usage: `make demo` in one terminal, `python -m evaluation.screenshots` in another.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
VIEWS = {
    "feishu": ("feishu", "chen", ("去上海出差住宿标准是多少？", "那柏林呢？")),
    "slack": ("slack", "bob", ("What is the hotel limit in Shanghai?", "and in Berlin?")),
}
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
        browser.close()


def _ask(page: Page, question: str) -> None:
    box = page.get_by_role("textbox").first
    box.fill(question)
    box.press("Enter")
    page.wait_for_timeout(1_000)
    page.wait_for_function(
        "() => !document.querySelector('.streaming, .generating')", timeout=PATIENCE
    )
    page.wait_for_timeout(3_000)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8085")

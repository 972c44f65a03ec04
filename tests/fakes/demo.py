"""`make demo` in a process of its own, and a person who sits in front of its page."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

ROOT = Path(__file__).parents[2]
PATIENCE = 30_000
"""Milliseconds for an answer, on a busy machine."""


@contextmanager
def opened_demo(home: Path) -> Generator[str]:
    """Start the demo on free ports and give the address of its page; it ends well at Ctrl-C."""
    ports = [free_port(), free_port()]
    command = [sys.executable, "-m", "handlers.cli.main", "demo"]
    command += ["--port", str(ports[0]), "--bot-port", str(ports[1])]
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251  a process of its own needs one
        "PLUMBLINE_HOME": str(home),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if "Ctrl-C" in line:
                break
        assert f"http://127.0.0.1:{ports[0]}" in "".join(said)
        yield f"http://127.0.0.1:{ports[0]}"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


class Visitor:
    """Somebody in front of the page, as one of the six people on one platform."""

    def __init__(self, page: Page, address: str, platform: str, login: str) -> None:
        self.page = page
        self.platform = platform
        page.goto("about:blank")
        page.goto(f"{address}/#platform={platform}&as={login}")

    @property
    def log(self) -> Locator:
        """The messages of the chat that is open."""
        return self.page.get_by_role("log").first

    def write(self, text: str) -> None:
        """Send a message."""
        box = self.page.get_by_role("textbox").first
        box.fill(text)
        box.press("Enter")

    def command(self, text: str) -> None:
        """Send a command as one does on the platform."""
        self.write(f"/plumb {text}" if self.platform == "slack" else f"/{text}")

    def enter(self, *names: str) -> None:
        """Open the group that is called so in one of the languages."""
        pattern = re.compile("|".join(map(re.escape, names)))
        self.page.get_by_role("button", name=pattern).first.click()

    def reads(self, *texts: str) -> None:
        """Wait until all of this stands in the chat."""
        for text in texts:
            expect(self.log).to_contain_text(text, timeout=PATIENCE)

    def press(self, label: str) -> None:
        """Press the newest button that is called so."""
        self.log.get_by_role("button", name=label, exact=True).last.click(timeout=PATIENCE)

    def settled(self) -> None:
        """Wait until nothing is being written."""
        writing = self.log.locator(".streaming, .generating")
        expect(writing).to_have_count(0, timeout=PATIENCE)

    def connect(self, label: str, name: str, keep: Path | None = None) -> str:
        """Press the newest connect button and agree on the platform's page.

        Args:
            label: What the button says.
            name: Who one is, as the sign-in page writes it.
            keep: Where a picture of the consent page goes.

        Returns:
            What our own page says at the end.
        """
        with self.page.expect_popup(timeout=PATIENCE) as popup:
            self.log.get_by_role("link", name=label).last.click(timeout=PATIENCE)
        consent = popup.value
        consent.get_by_role("link", name=name).click(timeout=PATIENCE)
        allow = consent.get_by_role("button", name="Allow")
        expect(allow).to_be_visible(timeout=PATIENCE)
        if keep:
            consent.screenshot(path=keep)
        allow.click()
        expect(consent.locator("body")).to_contain_text(
            re.compile("return to the chat|回到聊天"), timeout=PATIENCE
        )
        said = consent.locator("body").inner_text()
        consent.close()
        return said

"""The real simulator and a browser for tests of the chat page, with a bot that only listens."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Playwright, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
"""The browsers that are looked for on the PATH, in this order."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

Json = dict[str, Any]


class QuietBot(ThreadingHTTPServer):
    """A bot that takes every delivery and answers with `answer`."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answer: Json = {}
        self.paths: list[str] = []
        super().__init__(("127.0.0.1", 0), _Deliveries)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def heard(self, path: str) -> bool:
        """Whether something came to this path, now or within ten seconds."""
        for _ in range(200):
            if path in self.paths:
                return True
            time.sleep(0.05)
        return False


class _Deliveries(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        bot = self.server
        assert isinstance(bot, QuietBot)
        bot.paths.append(self.path)
        body = json.dumps(bot.answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        """Stay silent."""


@dataclass
class Stage:
    """Simulator, bot and browser; `errors` holds what the pages complained about."""

    origin: str
    bot: QuietBot
    browser: Browser
    client: httpx.Client
    errors: list[str] = field(default_factory=list[str])
    token: str = ""

    def fresh(self) -> None:
        """Put the simulator back to its start."""
        self.errors.clear()
        self.token = ""
        self.bot.answer = {}
        self.bot.paths.clear()
        self.client.post("/sim/reset", json={}).raise_for_status()

    def open(self, platform: str, login: str, chat: str = "", width: int = 1280) -> Page:
        """Open the page as a person; complaints of the page are collected."""
        page = self.browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(8000)
        page.on("console", self._console)
        page.on("pageerror", self._page_error)
        route = {"platform": platform, "as": login} | ({"chat": chat} if chat else {})
        page.goto(f"{self.origin}/#{urlencode(route)}")
        page.locator("#conversation .composer textarea").wait_for()
        return page

    def close_pages(self) -> None:
        """Close every page that a test opened."""
        for context in self.browser.contexts:
            context.close()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(message.text)

    def _page_error(self, error: Error) -> None:
        self.errors.append(str(error))

    def sim(self, path: str, **query: str) -> Any:
        """Read from the control API."""
        return self.client.get(f"/sim/{path}", params=query).raise_for_status().json()

    def say(self, platform: str, login: str, chat: str, text: str, **more: Any) -> str:
        """Say something as a person and return the message's id."""
        body = {"platform": platform, "as": login, "chat": chat, "text": text, **more}
        return self.client.post("/sim/say", json=body).raise_for_status().json()["message"]

    def chat(self, platform: str, login: str, name: str) -> str:
        """Return the id of the chat that is called so."""
        chats = self.sim("chats", **{"platform": platform, "as": login})
        return next(chat["id"] for chat in chats if chat["name"] == name)

    def bot_chat(self, platform: str, login: str) -> str:
        """Return the id of a person's direct chat with the bot."""
        return self.sim("chats", **{"platform": platform, "as": login})[0]["id"]

    def feishu(self, method: str, path: str, body: Json) -> Json:
        """Call the Feishu API as the bot."""
        if not self.token:
            secret = {"app_id": "cli_demo0000000001", "app_secret": "demo-app-secret"}
            address = "/open-apis/auth/v3/tenant_access_token/internal"
            self.token = self.client.post(address, json=secret).json()["tenant_access_token"]
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = self.client.request(method, f"/open-apis/{path}", json=body, headers=headers)
        found: Json = answer.json()
        assert found["code"] == 0, found
        return found.get("data", {})

    def card(self, login: str, card: Json) -> str:
        """Send a card to a person and return the card's id."""
        given = {"type": "card_json", "data": json.dumps(card)}
        card_id = str(self.feishu("POST", "cardkit/v1/cards", given)["card_id"])
        content = json.dumps({"type": "card", "data": {"card_id": card_id}})
        message = {"receive_id": f"ou_demo_{login}", "msg_type": "interactive", "content": content}
        self.feishu("POST", "im/v1/messages?receive_id_type=open_id", message)
        return card_id

    def slack(self, method: str, **arguments: Any) -> Json:
        """Call the Slack API as the bot."""
        headers = {"Authorization": "Bearer xoxb-demo-bot"}
        found: Json = self.client.post(f"/api/{method}", json=arguments, headers=headers).json()
        assert found["ok"], found
        return found


@contextmanager
def running_bot() -> Generator[QuietBot]:
    """Serve a quiet bot on a free port."""
    bot = QuietBot()
    thread = threading.Thread(target=bot.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield bot
    finally:
        bot.shutdown()
        thread.join()
        bot.server_close()


@contextmanager
def running_simulator(bot: str) -> Generator[str]:
    """Start the simulator on a free port and give its origin."""
    command = [sys.executable, "-m", "simulator", "--port", "0", "--bot", bot]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.kill()


@contextmanager
def open_stage() -> Generator[Stage]:
    """Start everything a page test needs."""
    with (
        running_bot() as bot,
        running_simulator(bot.address) as origin,
        httpx.Client(base_url=origin, trust_env=False) as client,
        sync_playwright() as playwright,
    ):
        browser = open_browser(playwright)
        yield Stage(origin, bot, browser, client)
        browser.close()


def open_browser(playwright: Playwright) -> Browser:
    """The system's Chromium; without one the test is skipped and says so."""
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on the PATH: install the package chromium to run the page tests")
    return playwright.chromium.launch(executable_path=found, args=ARGUMENTS)

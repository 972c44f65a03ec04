"""The demo workspace: a simulator in a process of its own, and the settings that belong to it."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import httpx

from agent.domain import Json, Platform
from agent.errors import Unavailable
from handlers import local
from handlers.settings import Settings

COMPANY = Path(__file__).resolve().parents[2] / "simulator" / "company"
"""The sample company's data, where the repository has it."""
START_LIMIT = 20.0
"""Seconds the simulator may take to listen."""

_ANNOUNCEMENT = "simulator listening on "

Person = Literal["alice", "bob", "chen", "dana", "emil", "fang"]
PlatformName = Literal["feishu", "slack"]


def demo_settings(settings: Settings, simulator: str, bot: str = "") -> Settings:
    """The settings of the demo workspace. The secrets are public: they open nothing but it.

    Args:
        settings: What was set besides.
        simulator: The simulator's address.
        bot: Our own address as a browser reaches it; without it nobody can connect.
    """
    return replace(
        settings,
        config=settings.config or str(COMPANY / "plumbline.toml"),
        feishu_app_id="cli_demo0000000001",
        feishu_app_secret="demo-app-secret",  # noqa: S106  published, worth nothing
        feishu_encrypt_key="demo-encrypt-key",
        feishu_verification_token="demo-verification-token",  # noqa: S106  published, worth nothing
        feishu_bot_open_id="ou_demo_bot",
        feishu_base_url=simulator,
        slack_signing_secret="demo-signing-secret",  # noqa: S106  published, worth nothing
        slack_bot_token="xoxb-demo-bot",  # noqa: S106  published, worth nothing
        slack_app_token="xapp-demo-app",  # noqa: S106  published, worth nothing
        slack_bot_user="U0DEMOBOT",
        slack_app_id="A0DEMO0001",
        slack_base_url=f"{simulator}/api/",
        slack_client_id="demo-client",
        slack_client_secret="demo-client-secret",  # noqa: S106  published, worth nothing
        slack_authorize_url=f"{simulator}/oauth/v2/authorize",
        slack_install_teams="T0DEMO0001",
        public_url=bot,
    )


def free_port() -> int:
    """A port of the loopback address that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@asynccontextmanager
async def simulator_process(bot: str, port: int = 0) -> AsyncGenerator[str]:
    """Run the simulator until the block ends; yields its address.

    Args:
        bot: Where it delivers events.
        port: Where it listens; 0 takes a free one.

    Raises:
        Misconfigured: the port can not be had.
        Unavailable: it did not start; the text holds what it said.
    """
    local.listen(port).close()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "simulator",
        "--port",
        str(port),
        "--bot",
        bot,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us; we end it when we are done
        cwd=COMPANY.parents[1],
    )
    try:
        yield await _address(process)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None  # noqa: S101  it was asked for above
    said = ""
    try:
        async with asyncio.timeout(START_LIMIT):
            async for line in process.stdout:
                said += line.decode(errors="replace")
                if _ANNOUNCEMENT in said:
                    return said.split(_ANNOUNCEMENT)[1].split()[0]
    except TimeoutError as error:
        raise Unavailable(f"The simulator did not start within {START_LIMIT:g} s.") from error
    raise Unavailable(f"The simulator did not start. It said: {said.strip() or 'nothing'}")


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that a person wrote in the demo workspace."""

    chat: str
    message: str


class DemoPerson:
    """One person of the sample company at a platform's window."""

    def __init__(self, http: httpx.AsyncClient, login: str, platform: Platform) -> None:
        self._http = http
        self._who = {"as": login, "platform": platform}

    async def direct_chat(self) -> str:
        """The chat with the bot."""
        chats = cast(list[dict[str, str]], await self._get("/sim/chats"))
        return chats[0]["id"]

    async def say(self, text: str) -> Sent:
        """Write to the bot; the platform delivers a signed event."""
        chat = await self.direct_chat()
        answer = await self._http.post("/sim/say", json={**self._who, "chat": chat, "text": text})
        answer.raise_for_status()
        return Sent(chat, cast(dict[str, str], answer.json())["message"])

    async def _get(self, path: str) -> Json:
        answer = await self._http.get(path, params=self._who)
        answer.raise_for_status()
        return cast(Json, answer.json())

"""`plumbline demo` and `plumbline serve`: the bot on one machine until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import typer

from handlers import local
from handlers.cli.filling import fill
from handlers.cli.workspace import COMPANY, demo_settings, simulator_process
from handlers.connections.opening import long_connections
from handlers.settings import Settings

_GREETING = """
  Plumbline demo / 演示        {page}

  Open the page, choose a workspace look and a person, and ask:
  打开页面，选择工作区和人物，然后提问：

    去上海出差住宿标准是多少？      再问： 那柏林呢？
    What is the hotel limit in Shanghai?      then: and in Berlin?
    VPN error 809

  Model: {model}.  Stop with Ctrl-C.
"""


def run(settings: Settings, port: int, bot_port: int) -> None:
    """Start simulator and bot, fill the knowledge base, and wait for Ctrl-C.

    Raises:
        Misconfigured: a port can not be had; nothing was begun then.
    """
    for wanted in (port, bot_port):
        local.listen(wanted).close()
    fill(settings, COMPANY / "kb")
    asyncio.run(_demo(settings, port, bot_port))


@dataclass(frozen=True, slots=True)
class Lines:
    """Which long connections an operator asked for."""

    feishu: bool = False
    slack: bool = False

    def __str__(self) -> str:
        names = {"Feishu's long connection": self.feishu, "Slack's Socket Mode": self.slack}
        asked = [name for name, wanted in names.items() if wanted]
        return f" and keeps {' and '.join(asked)}" if asked else ""


def run_server(settings: Settings, host: str, port: int, lines: Lines) -> None:
    """Serve the handlers, keep the long connections that were asked for, wait for Ctrl-C."""
    asyncio.run(_serve(settings, host, port, lines))


async def _demo(settings: Settings, port: int, bot_port: int) -> None:
    bot = f"http://127.0.0.1:{bot_port}"
    async with simulator_process(bot, port) as page:
        settings = demo_settings(settings, page, bot)
        async with local.serving(settings, bot_port), _until_stopped() as stopped:
            typer.echo(_GREETING.format(page=page, model=settings.chosen_model))
            await stopped.wait()


async def _serve(settings: Settings, host: str, port: int, lines: Lines) -> None:
    async with (
        local.serving(settings, port, host) as running,
        long_connections(settings, feishu=lines.feishu, slack=lines.slack),
        _until_stopped() as stopped,
    ):
        typer.echo(f"Plumbline listens on {running.url}{lines}. Stop with Ctrl-C.")
        if not (settings.feishu_encrypt_key or settings.slack_signing_secret):
            typer.secho(
                "No platform is set up, so every request is refused: set the secrets of README, "
                '"Settings", and try plumbline doctor.',
                fg="yellow",
                err=True,
            )
        await stopped.wait()


@asynccontextmanager
async def _until_stopped() -> AsyncGenerator[asyncio.Event]:
    """An event that Ctrl-C or a termination signal sets."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stopped.set)
    try:
        yield stopped
    finally:
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(sign)

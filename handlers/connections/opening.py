"""Opens the long connections an operator asked for, and says what is missing for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec

from agent.errors import Misconfigured
from agent.stores.system_clock import SystemClock
from handlers.connections.child import command, keep_running, settings_line
from handlers.settings import Settings, variable_of

FEISHU_CHILD = "handlers.connections.feishu_long"


def check(settings: Settings, *, feishu: bool, slack: bool) -> None:
    """Say what an operator has to add before the connections can be opened.

    Raises:
        Misconfigured: a setting or a package is missing; the text names the next step.
    """
    if feishu:
        _check("Feishu's long connection", "lark_oapi", settings, _FEISHU)
    if slack:
        _check("Slack's Socket Mode", "slack_sdk", settings, _SLACK)


_FEISHU = ("feishu_app_id", "feishu_app_secret")
_SLACK = ("slack_app_token", "slack_bot_token")


def _check(what: str, package: str, settings: Settings, names: tuple[str, ...]) -> None:
    missing = [variable_of(name) for name in names if not getattr(settings, name)]
    if missing:
        raise Misconfigured(f"{what} needs {' and '.join(missing)}: set them and start again.")
    if find_spec(package) is None:
        raise Misconfigured(
            f"{what} needs the package {package.replace('_', '-')}: run `make connections`, or "
            "install requirements/connections.txt into this environment."
        )


@asynccontextmanager
async def long_connections(
    settings: Settings, *, feishu: bool, slack: bool
) -> AsyncGenerator[None]:
    """Keep the connections until the block ends.

    Raises:
        Misconfigured: a setting or a package is missing, or Slack refuses the token.
        Unavailable: Slack can not be reached.
    """
    check(settings, feishu=feishu, slack=slack)
    async with AsyncExitStack() as stack:
        if slack:
            from handlers.connections.slack_socket import socket_mode

            await stack.enter_async_context(socket_mode(settings))
        if feishu:
            await stack.enter_async_context(_feishu(settings))
        yield


@asynccontextmanager
async def _feishu(settings: Settings) -> AsyncGenerator[None]:
    work = keep_running("feishu", command(FEISHU_CHILD), settings_line(settings), SystemClock())
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))

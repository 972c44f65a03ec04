"""Slack's Socket Mode: each envelope is acknowledged once it stands in the inbox.

slack_sdk's built-in client needs no package beside itself; it reads in threads of its own, and the
receiving code runs on the process-wide loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from agent.domain import Json
from agent.errors import Misconfigured, Unavailable
from agent.stores.system_clock import SystemClock
from connectors import wire
from connectors.incoming import Ignored, Incoming
from connectors.slack import events
from handlers import slack
from handlers.connections.envelopes import take_in
from handlers.settings import Settings

if TYPE_CHECKING:
    from slack_sdk.socket_mode import SocketModeClient
    from slack_sdk.socket_mode.client import BaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

log = logging.getLogger(__name__)


def interpret(kind: str, payload: Mapping[str, Json], settings: Settings, now: float) -> Incoming:
    """What an envelope means; its payload is what would have come over HTTP."""
    home = slack.home(settings)
    if kind == "events_api":
        return events.interpret(payload, home, now)
    if kind == "slash_commands":
        fields = {name: wire.text(value) for name, value in payload.items()}
        return events.interpret_form(fields, home)
    if kind == "interactive":
        return events.interpret_control(payload, home)
    return Ignored("unknown_envelope")


@asynccontextmanager
async def socket_mode(settings: Settings) -> AsyncGenerator[None]:
    """Keep the connection until the block ends; the client reconnects by itself.

    Raises:
        Misconfigured: Slack does not take the app-level token.
        Unavailable: Slack can not be reached.
    """
    client = await asyncio.to_thread(_connected, settings)
    try:
        yield
    finally:
        await asyncio.to_thread(client.close)


def _connected(settings: Settings) -> SocketModeClient:
    from slack_sdk.errors import SlackApiError
    from slack_sdk.socket_mode import SocketModeClient
    from slack_sdk.web import WebClient

    client = SocketModeClient(
        settings.slack_app_token,
        logger=_quiet_logger(),
        web_client=WebClient(base_url=settings.slack_base_url),
    )
    client.socket_mode_request_listeners.append(_Listener(settings))
    try:
        client.connect()
    except SlackApiError as fault:
        client.close()
        reason: Any = fault.response
        raise Misconfigured(
            f"Slack refused Socket Mode: {reason.get('error')}. Check PLUMBLINE_SLACK_APP_TOKEN "
            "(an app-level token, xapp-…, with the scope connections:write) and that Socket Mode "
            "is on for the app."
        ) from None
    except OSError as fault:
        client.close()
        raise Unavailable(f"Slack can not be reached: {type(fault).__name__}") from None
    return client


def _quiet_logger() -> logging.Logger:
    """The SDK's own lines: errors only, for the rest holds envelopes and tickets."""
    logger = logging.getLogger(f"{__name__}.sdk")
    logger.setLevel(logging.ERROR)
    return logger


class _Listener:
    """Takes an envelope in and acknowledges it; one that was not taken in stays open."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clock = SystemClock()

    def __call__(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        from slack_sdk.socket_mode.response import SocketModeResponse

        payload = cast("dict[str, Json]", request.payload)
        incoming = interpret(request.type, payload, self._settings, self._clock.now())
        try:
            answer: Any = take_in(incoming, slack.EDGE, self._settings)
        except Unavailable:
            return  # logged; without an acknowledgement Slack delivers again
        body = answer if request.accepts_response_payload and answer else None
        client.send_socket_mode_response(SocketModeResponse(request.envelope_id, body))

"""Receives events and card callbacks of Feishu (POST /feishu/events)."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.feishu import events, signature
from connectors.incoming import Home, Incoming, Refused
from handlers import receiving
from handlers.gateway import Request
from handlers.settings import Settings


def read(request: Request, settings: Settings, now: float) -> Incoming:
    """What a request means, once its sender is proven. `now` is in seconds since the epoch."""
    keys = signature.Keys(settings.feishu_encrypt_key, settings.feishu_verification_token)
    verified = signature.verify(request.headers, request.body, keys, now)
    if isinstance(verified, Refused):
        return verified
    return events.interpret(verified.payload, home(settings), now)


def home(settings: Settings) -> Home:
    """Whose bot this is."""
    return Home(
        settings.org,
        app=settings.feishu_app_id,
        tenant=settings.feishu_tenant,
        bot=settings.feishu_bot_open_id,
    )


EDGE = receiving.Edge(
    platform="feishu",
    read=read,
    secrets=("feishu_encrypt_key", "feishu_verification_token"),
    body="{}",
)


def receive(event: Mapping[str, object], context: object, settings: Settings) -> dict[str, object]:
    """Answer an API Gateway event under the given settings."""
    del context
    return receiving.run(event, EDGE, settings)


def handler(event: Mapping[str, object], context: object) -> dict[str, object]:
    """The Lambda entry point."""
    del context
    return receiving.run(event, EDGE)

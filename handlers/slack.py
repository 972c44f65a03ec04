"""Receives events, slash commands and uses of controls of Slack (POST /slack/…).

A request is told apart by its form, not by its path: Slack sends events as JSON and everything else
as a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from connectors import wire
from connectors.incoming import Home, Ignored, Incoming, Refused
from connectors.slack import events, signature
from handlers import receiving
from handlers.gateway import Request
from handlers.settings import Settings

_MOST_FIELDS = 100


def read(request: Request, settings: Settings, now: float) -> Incoming:
    """What a request means, once its sender is proven. `now` is in seconds since the epoch.

    The certificate probe (ssl_check) carries no signature and gets its answer without one; nothing
    else of it is read.
    """
    formed = "x-www-form-urlencoded" in request.headers.get("content-type", "").lower()
    refused = signature.verify(request.headers, request.body, settings.slack_signing_secret, now)
    fields = _fields(request.body) if formed else {}
    if fields is not None and fields.get("ssl_check") == "1":
        return Ignored("ssl_check")
    if refused:
        return refused
    own = home(settings)
    if formed:
        return Refused("form") if fields is None else events.interpret_form(fields, own)
    payload = wire.parse(request.body)
    return Refused("not_json") if payload is None else events.interpret(payload, own, now)


def home(settings: Settings) -> Home:
    """Whose bot this is."""
    return Home(
        settings.org,
        app=settings.slack_app_id,
        tenant=settings.slack_tenant,
        bot=settings.slack_bot_user,
    )


def _fields(body: bytes) -> dict[str, str] | None:
    """The fields of a form, the last of a name winning; None when it is none."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    return dict(pairs)


EDGE = receiving.Edge(
    platform="slack",
    read=read,
    secrets=("slack_signing_secret",),
    body="",
)


def receive(event: Mapping[str, object], context: object, settings: Settings) -> dict[str, object]:
    """Answer an API Gateway event under the given settings."""
    del context
    return receiving.run(event, EDGE, settings)


def handler(event: Mapping[str, object], context: object) -> dict[str, object]:
    """The Lambda entry point."""
    del context
    return receiving.run(event, EDGE)

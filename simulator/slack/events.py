"""The events, commands and button presses Slack sends, signed (SLACK.md section 2)."""

import hashlib
import hmac
import json
import re
import secrets
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from simulator.company import Person
from simulator.delivery import SLACK_RETRIES, Parcel
from simulator.slack.show import file_item
from simulator.slack.side import APP, BOT_NAME, BOT_USER, SIGNING_SECRET, TEAM, SlackSide
from simulator.state.workspace import Chat, Message

Json = dict[str, Any]
EVENTS = "/slack/events"
COMMANDS = "/slack/commands"
INTERACTIVITY = "/slack/interactivity"
OLD_TOKEN = "deprecated-demo-token"  # noqa: S105 - Slack's deprecated field, never a secret
_AT_BOT = re.compile(rf"@{BOT_NAME}\b", re.IGNORECASE)


def sign(timestamp: str, body: bytes) -> str:
    """Sign a body: v0= and the hex HMAC-SHA256 of v0:timestamp:body."""
    base = f"v0:{timestamp}:".encode() + body
    return "v0=" + hmac.new(SIGNING_SECRET.encode(), base, hashlib.sha256).hexdigest()


def seal(
    side: SlackSide, body: bytes, media_type: str, number: int, reason: str
) -> tuple[Mapping[str, str], bytes]:
    """Sign a body for one try; number is 0 for the first."""
    timestamp = str(int(side.world.clock.wall()))
    headers = {
        "Content-Type": media_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": sign(timestamp, body),
    }
    if number:
        headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
    return headers, body


def event_parcel(side: SlackSide, event: Json) -> Parcel:
    """Wrap an inner event into its envelope."""
    event_id = "Ev0" + secrets.token_hex(4).upper()
    payload = {
        "token": OLD_TOKEN,
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(side.world.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id.lower()}",
    }
    body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    kind = event["type"] + (f".{event['subtype']}" if "subtype" in event else "")
    return Parcel(
        event_id,
        EVENTS,
        kind,
        lambda number, reason: seal(side, body, "application/json", number, reason),
        SLACK_RETRIES,
        plain=payload,
        line_type="events_api",
        renew=lambda: event_parcel(side, event),
    )


def form_parcel(side: SlackSide, path: str, kind: str, fields: Mapping[str, str]) -> Parcel:
    """Make a form delivery (command or interaction); these are never redelivered."""
    body = urlencode(fields).encode()
    media_type = "application/x-www-form-urlencoded"
    return Parcel(
        secrets.token_hex(8),
        path,
        kind,
        lambda number, reason: seal(side, body, media_type, number, reason),
        plain=json.loads(fields["payload"]) if "payload" in fields else dict(fields),
        line_type="interactive" if "payload" in fields else "slash_commands",
    )


def escape(text: str) -> str:
    """Escape the three characters that are markup in message texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def encode_text(side: SlackSide, typed: str) -> str:
    """Turn what a person types into message text: escapes, mentions, links."""
    text = _AT_BOT.sub(f"<@{BOT_USER}>", escape(typed))
    for person in side.world.company.people:
        for name in sorted({person.name, person.name_zh, person.login}, key=len, reverse=True):
            pattern = re.compile(rf"@{re.escape(name)}(?!\w)", re.IGNORECASE)
            text = pattern.sub(f"<@{person.slack_id}>", text)
    return re.sub(r"(?<![<|])\bhttps?://[^\s<>|]+", lambda hit: f"<{hit.group(0)}>", text)


def rich_text(text: str) -> list[Json]:
    """Make the rich_text block the client sends along with a text."""
    elements: list[Json] = []
    for part in re.split(r"(<[^<>]+>)", text):
        if part.startswith("<@"):
            elements.append({"type": "user", "user_id": part[2:-1]})
        elif part.startswith("<") and part.endswith(">"):
            elements.append({"type": "link", "url": part[1:-1].replace("&amp;", "&")})
        elif part:
            plain = part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            elements.append({"type": "text", "text": plain})
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": secrets.token_hex(3), "elements": [section]}]


def message_event(side: SlackSide, message: Message, chat: Chat, kind: str) -> Json:
    """Make the inner event of a person's message; kind is message or app_mention."""
    event: Json = {
        "user": side.user_id(message.author),
        "type": kind,
        "ts": message.id,
        "client_msg_id": message.extra.setdefault("client_msg_id", str(uuid.uuid4())),
        "text": message.extra.get("raw_text", message.text),
        "team": TEAM,
        "blocks": message.blocks or [],
        "channel": message.chat,
        "event_ts": message.id,
    }
    if not message.blocks:
        del event["blocks"]
    if message.thread:
        root = side.space.find(message.thread)
        event["thread_ts"] = message.thread
        event["parent_user_id"] = side.user_id(root.author) if root else ""
    if message.files:
        event["files"] = [file_item(side, file) for file in message.files]
        event |= {"upload": False, "display_as_bot": False}
    token = f"{secrets.randbelow(10**13)}.{secrets.randbelow(10**12)}.{secrets.token_hex(8)}"
    side.action_tokens[token] = (message.author, side.world.clock.now() + 600)
    event["assistant_thread"] = {"action_token": token}
    if kind == "message":
        event["channel_type"] = side.channel_type(chat)
        if message.files:
            event["subtype"] = "file_share"
    return event


def command_fields(side: SlackSide, person: Person, chat: Chat, command: str, text: str) -> Json:
    """Make the form of a slash command."""
    return {
        "token": OLD_TOKEN,
        "team_id": TEAM,
        "team_domain": "hengxing-demo",
        "channel_id": chat.id,
        "channel_name": "directmessage" if chat.kind == "direct" else chat.name,
        "user_id": person.slack_id,
        "user_name": person.login,
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": "",
        "trigger_id": f"1.2.{secrets.token_hex(8)}",
    }

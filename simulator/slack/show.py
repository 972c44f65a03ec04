"""How the Web API shows messages, files and people."""

from typing import Any

from simulator.company import Person
from simulator.slack.side import (
    APP,
    BOT_ID,
    BOT_NAME,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    SlackSide,
)
from simulator.state.workspace import BOT, Attachment, Message

Json = dict[str, Any]


def permalink(message: Message) -> str:
    """Return the web address of a message."""
    return f"https://{TEAM_DOMAIN}.slack.com/archives/{message.chat}/p{message.id.replace('.', '')}"


def file_url(side: SlackSide, file: Attachment, *, download: bool) -> str:
    """Return the address a file is read at, on the simulator itself."""
    middle = "/download" if download else ""
    return f"{side.world.origin}/files/{TEAM}-{file.key}{middle}/{file.name}"


def file_item(side: SlackSide, file: Attachment) -> Json:
    """Make a file object as events and files.info carry it."""
    stored = side.world.files.get(file.key)
    ending = file.name.rpartition(".")[2].lower() or "binary"
    size = len(stored.data) if stored else 0
    made = int(stored.created) if stored else 0
    item: Json = {
        "id": file.key,
        "created": made,
        "timestamp": made,
        "name": file.name,
        "title": file.name,
        "mimetype": file.media_type,
        "filetype": ending,
        "pretty_type": ending.upper(),
        "user": side.user_id(stored.owner if stored else BOT),
        "user_team": TEAM,
        "editable": False,
        "size": size,
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": False,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": file_url(side, file, download=False),
        "url_private_download": file_url(side, file, download=True),
        "media_display_type": "unknown",
        "permalink": f"https://{TEAM_DOMAIN}.slack.com/files/{file.key}/{file.name}",
        "has_rich_preview": False,
        "file_access": "visible",
    }
    if file.media_type.startswith("image/"):
        item["thumb_360"] = item["thumb_1024"] = item["url_private"]
    return item


def message_item(side: SlackSide, message: Message) -> Json:
    """Make a message object as history, replies and post answers carry it."""
    item: Json = {
        "type": "message",
        "user": side.user_id(message.author),
        "text": message.extra.get("raw_text", message.text),
        "ts": message.id,
        "team": TEAM,
    }
    if message.author == BOT:
        item |= {
            "bot_id": BOT_ID,
            "app_id": APP,
            "bot_profile": {
                "id": BOT_ID,
                "deleted": False,
                "name": BOT_NAME,
                "updated": 0,
                "app_id": APP,
                "team_id": TEAM,
            },
        }
    if message.blocks:
        item["blocks"] = message.blocks
    if message.extra.get("client_msg_id"):
        item["client_msg_id"] = message.extra["client_msg_id"]
    if message.files:
        item["files"] = [file_item(side, file) for file in message.files]
    if message.extra.get("metadata"):
        item["metadata"] = message.extra["metadata"]
    if message.edits:
        item["edited"] = {"user": side.user_id(message.author), "ts": f"{message.updated:.6f}"}
    if message.reactions:
        item["reactions"] = [
            {"name": name, "users": [side.user_id(who) for who in logins], "count": len(logins)}
            for name, logins in message.reactions.items()
        ]
    return item | _threading(side, message)


def _threading(side: SlackSide, message: Message) -> Json:
    if message.thread:
        root = side.space.find(message.thread)
        parent = side.user_id(root.author) if root else ""
        broadcast = {"subtype": "thread_broadcast"} if message.extra.get("broadcast") else {}
        return {"thread_ts": message.thread, "parent_user_id": parent, **broadcast}
    replies = side.space.replies(message)
    if not replies:
        return {}
    return {
        "thread_ts": message.id,
        "reply_count": len(replies),
        "reply_users": sorted({side.user_id(reply.author) for reply in replies}),
        "latest_reply": replies[-1].id,
    }


def person_item(person: Person) -> Json:
    """Make a user object."""
    return {
        "id": person.slack_id,
        "team_id": TEAM,
        "name": person.login,
        "deleted": False,
        "real_name": person.name,
        "tz": person.time_zone,
        "locale": "zh-CN" if person.language == "zh" else "en-US",
        "profile": {
            "real_name": person.name,
            "display_name": person.shown,
            "title": person.title,
            "email": f"{person.login}@hengxing.example",
            "team": TEAM,
            "fields": {"Xf0DEPT": {"value": person.department, "alt": ""}},
        },
        "is_bot": False,
        "is_app_user": False,
        "updated": 0,
    }


def bot_item() -> Json:
    """Make the bot's user object."""
    return {
        "id": BOT_USER,
        "team_id": TEAM,
        "name": BOT_NAME,
        "deleted": False,
        "real_name": "Plumbline",
        "profile": {"bot_id": BOT_ID, "api_app_id": APP, "real_name": "Plumbline"},
        "is_bot": True,
    }

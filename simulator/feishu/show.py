"""How the API shows a message: ids as strings, degraded cards, times in milliseconds."""

import json
from typing import Any

from simulator.feishu.content import compact, degraded_card
from simulator.feishu.side import APP_ID, TENANT, FeishuSide
from simulator.state.workspace import BOT, Message

Json = dict[str, Any]


def millis(moment: float) -> str:
    """Write a time as the string of milliseconds that message fields carry."""
    return str(int(moment * 1000))


def _sender(side: FeishuSide, message: Message) -> Json:
    if message.author == BOT:
        return {"id": APP_ID, "id_type": "app_id", "sender_type": "app", "tenant_key": TENANT}
    return {
        "id": side.open_id(message.author),
        "id_type": "open_id",
        "sender_type": "user",
        "tenant_key": TENANT,
    }


def _content(message: Message, *, raw_card: bool) -> str:
    if message.msg_type == "interactive" and message.card is not None:
        return compact(message.card) if raw_card else degraded_card(message.card)
    return message.content


def message_item(side: FeishuSide, message: Message, *, raw_card: bool = False) -> Json:
    """Make the item of send, get and list answers."""
    item: Json = {
        "message_id": message.id,
        "msg_type": message.msg_type,
        "create_time": millis(message.at),
        "update_time": millis(message.updated or message.at),
        "deleted": message.deleted,
        "updated": message.edits > 0,
        "chat_id": message.chat,
        "sender": _sender(side, message),
        "body": {"content": _content(message, raw_card=raw_card)},
    }
    root = message.thread or message.extra.get("quote_root")
    if root:
        item["root_id"] = root
        item["parent_id"] = message.parent
    if message.topic:
        item["thread_id"] = message.topic
    if message.upper:
        item["upper_message_id"] = message.upper
    if message.mentions:
        item["mentions"] = [
            {
                "key": mention["key"],
                "id": mention["id"]["open_id"],
                "id_type": "open_id",
                "name": mention["name"],
                "tenant_key": TENANT,
            }
            for mention in message.mentions
        ]
    if message.deleted:
        item["body"] = {"content": json.dumps({"text": "This message was recalled"})}
    return item

"""The events Feishu sends: envelopes, message payloads, encryption and signature (section 2)."""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from simulator.company import Person
from simulator.delivery import FEISHU_RETRIES, Parcel
from simulator.feishu.content import compact
from simulator.feishu.show import millis
from simulator.feishu.side import (
    APP_ID,
    BOT_NAME,
    BOT_OPEN_ID,
    ENCRYPT_KEY,
    TENANT,
    VERIFICATION_TOKEN,
    FeishuSide,
)
from simulator.state.workspace import Message

Json = dict[str, Any]
PATH = "/feishu/events"
_AT_BOT = re.compile(rf"@{BOT_NAME}\b\s?", re.IGNORECASE)


def encrypt(plain: bytes, key: str) -> str:
    """Encrypt as the platform does: AES-256-CBC with sha256(key), iv in front, base64."""
    iv = secrets.token_bytes(16)
    pad = PKCS7(128).padder()
    box = Cipher(algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(iv)).encryptor()
    sealed = box.update(pad.update(plain) + pad.finalize()) + box.finalize()
    return base64.b64encode(iv + sealed).decode()


def sign(timestamp: str, nonce: str, key: str, body: bytes) -> str:
    """Sign a body: hex sha256 of timestamp, nonce, key and the raw bytes."""
    return hashlib.sha256((timestamp + nonce + key).encode() + body).hexdigest()


def seal(side: FeishuSide, payload: Json) -> tuple[Mapping[str, str], bytes]:
    """Encrypt and sign a payload for one try."""
    body = compact({"encrypt": encrypt(compact(payload).encode(), ENCRYPT_KEY)}).encode()
    timestamp, nonce = str(int(side.world.clock.wall())), secrets.token_hex(8)
    return {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Go-http-client/1.1",
        "X-Request-Id": secrets.token_hex(16),
        "X-Lark-Request-Timestamp": timestamp,
        "X-Lark-Request-Nonce": nonce,
        "X-Lark-Signature": sign(timestamp, nonce, ENCRYPT_KEY, body),
    }, body


def parcel(side: FeishuSide, event_type: str, event: Json, *, again: bool = True) -> Parcel:
    """Wrap an event into its envelope; again says whether the platform redelivers it."""
    payload: Json = {
        "schema": "2.0",
        "header": {
            "event_id": secrets.token_hex(16),
            "token": VERIFICATION_TOKEN,
            "create_time": millis(side.world.clock.now()),
            "event_type": event_type,
            "tenant_key": TENANT,
            "app_id": APP_ID,
        },
        "event": event,
    }
    return Parcel(
        event_id=payload["header"]["event_id"],
        path=PATH,
        kind=event_type,
        seal=lambda _number, _reason: seal(side, payload),
        retries=FEISHU_RETRIES if again else (),
        plain=payload,
        renew=lambda: parcel(side, event_type, event, again=again),
    )


def person_ids(person: Person) -> Json:
    """The three ids of a person."""
    return {
        "union_id": person.union_id,
        "user_id": person.user_id,
        "open_id": person.open_id,
    }


def bot_mention(number: int) -> Json:
    """The mentions entry of the bot."""
    return {
        "key": f"@_user_{number}",
        "id": {"union_id": "on_demo_bot", "user_id": "", "open_id": BOT_OPEN_ID},
        "mentioned_type": "bot",
        "name": BOT_NAME,
        "tenant_key": TENANT,
    }


def encode_mentions(side: FeishuSide, text: str) -> tuple[str, list[Json]]:
    """Turn @Name of the bot and of people into keys; return (text, mentions)."""
    mentions: list[Json] = []
    if _AT_BOT.search(text):
        mentions.append(bot_mention(1))
        text = _AT_BOT.sub("@_user_1 ", text)
    for person in side.world.company.people:
        for name in sorted({person.name, person.name_zh, person.login}, key=len, reverse=True):
            pattern = re.compile(rf"@{re.escape(name)}(?!\w)", re.IGNORECASE)
            if pattern.search(text):
                key = f"@_user_{len(mentions) + 1}"
                text = pattern.sub(key, text)
                mentions.append(
                    {
                        "key": key,
                        "id": person_ids(person),
                        "mentioned_type": "user",
                        "name": person.shown,
                        "tenant_key": TENANT,
                    }
                )
                break
    return text, mentions


def message_event(side: FeishuSide, message: Message, person: Person) -> Json:
    """Make the event of im.message.receive_v1."""
    chat = side.space.chats[message.chat]
    body: Json = {
        "message_id": message.id,
        "create_time": millis(message.at),
        "update_time": millis(message.updated or message.at),
        "chat_id": message.chat,
        "chat_type": "p2p" if chat.kind == "direct" else "group",
        "message_type": message.msg_type,
        "content": message.content,
    }
    root = message.thread or message.extra.get("quote_root")
    if root:
        body["root_id"], body["parent_id"] = root, message.parent
    if message.topic:
        body["thread_id"] = message.topic
    if message.mentions:
        body["mentions"] = message.mentions
    return {
        "sender": {
            "sender_id": person_ids(person),
            "sender_type": "user",
            "tenant_key": TENANT,
        },
        "message": body,
    }


def action_event(side: FeishuSide, message: Message, person: Person, token: str, act: Json) -> Json:
    """Make the event of card.action.trigger."""
    return {
        "operator": {"tenant_key": TENANT, **person_ids(person)},
        "token": token,
        "host": "im_message",
        "context": {"open_message_id": message.id, "open_chat_id": message.chat},
        "action": act,
    }

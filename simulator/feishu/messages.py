"""Sending, replying, editing and recalling messages (FEISHU.md section 3)."""

import json
from typing import Any, cast
from urllib.parse import urlencode

from starlette.responses import Response

from simulator.feishu import content as contents
from simulator.feishu.call import Call, Route
from simulator.feishu.cardshelf import check_card
from simulator.feishu.errors import (
    FeishuError,
    bad_content,
    bad_field,
    card_refused,
    not_in_chat,
    recalled,
    too_fast,
)
from simulator.feishu.show import message_item
from simulator.feishu.side import CHAT_LIMIT
from simulator.state.workspace import BOT, Attachment, Chat, Message

Json = dict[str, Any]
UUID_LIFE_S = 3600.0
PATCH_LIFE_S = 14 * 86400.0
MOST_EDITS = 20


def _target(call: Call) -> Chat:
    kind, given = call.query.get("receive_id_type"), call.text("receive_id")
    if kind == "chat_id":
        chat = call.side.space.chats.get(given)
        if chat is None:
            raise bad_field(f"invalid receive_id {given!r}")
    elif kind in {"open_id", "union_id", "user_id", "email"}:
        person = call.side.person(given)
        if person is None:
            raise FeishuError(230013, "Bot has NO availability to this user.", 400)
        chat = call.side.space.direct_chat(person.login)
    else:
        raise bad_field("receive_id_type is required")
    if not call.side.space.may_see(call.caller, chat.id):
        raise not_in_chat()
    return chat


def _seen_uuid(call: Call, purpose: str) -> Json | None:
    uuid = str(call.body.get("uuid") or "")
    if len(uuid) > 50:
        raise bad_field("uuid is longer than 50 characters")
    then, message_id = call.side.sent.get(f"{purpose}:{uuid}", (0.0, ""))
    if uuid and then > call.now - UUID_LIFE_S:
        message = call.side.space.find(message_id)
        return message_item(call.side, message) if message else None
    return None


def _limit(call: Call, chat: Chat) -> None:
    wait = call.side.chat_limit.take(chat.id, call.now)
    if wait:
        raise too_fast(wait, CHAT_LIMIT)


def _card_of(call: Call, fields: Json) -> tuple[Json, str | None]:
    if fields.get("type") != "card":
        check_card(fields)
        return fields, None
    data = cast("Json", fields.get("data") or {})
    card = call.side.shelf.get(str(data.get("card_id")), call.now)
    if card.message_id is not None:
        raise card_refused(11313, "the card entity was sent already")
    check_card(card.json)
    return card.json, card.id


def _files(call: Call, msg_type: str, fields: Json) -> list[Attachment]:
    key = fields.get("image_key") if msg_type == "image" else fields.get("file_key")
    if msg_type not in {"image", "file", "audio", "media"}:
        return []
    file = call.side.world.files.get(str(key))
    if file is None or file.owner != call.caller:
        raise bad_content(f"{key!r} was not uploaded by this app")
    return [Attachment(file.key, file.name, file.media_type)]


def _compose(call: Call, chat: Chat) -> Message:
    msg_type = call.text("msg_type")
    raw = call.body.get("content")
    fields = contents.parse_content(msg_type, raw)
    card: Json | None = None
    card_id: str | None = None
    if msg_type == "interactive":
        card, card_id = _card_of(call, fields)
    message = Message(
        id=call.side.new_id("om_"),
        chat=chat.id,
        author=call.caller,
        at=call.now,
        kind="card" if card is not None else "text",
        text="\n".join(contents.card_texts(card)) if card else contents.plain(msg_type, fields),
        msg_type=msg_type,
        content=contents.unwrap_post(str(raw)) if msg_type == "post" else str(raw),
        card=card,
        card_id=card_id,
        files=_files(call, msg_type, fields),
    )
    if card_id is not None:
        entity = call.side.shelf.get(card_id, call.now)
        entity.message_id = message.id
        message.streaming = entity.streaming(call.now)
    return message


def _keep(call: Call, message: Message, purpose: str) -> Json:
    call.side.space.add(message)
    if call.body.get("uuid"):
        call.side.sent[f"{purpose}:{call.body['uuid']}"] = (call.now, message.id)
    return message_item(call.side, message)


def send(call: Call) -> Json:
    """POST /im/v1/messages."""
    chat = _target(call)
    before = _seen_uuid(call, "send")
    if before is not None:
        return before
    _limit(call, chat)
    message = _compose(call, chat)
    if chat.kind == "topic_group":
        call.side.topic_of(message)
    return _keep(call, message, "send")


def reply(call: Call) -> Json:
    """POST /im/v1/messages/:message_id/reply; a message in a topic is answered in the topic."""
    parent = call.message(call.path["message_id"])
    if parent.deleted:
        raise recalled()
    before = _seen_uuid(call, "reply")
    if before is not None:
        return before
    chat = call.side.space.chats[parent.chat]
    _limit(call, chat)
    message = _compose(call, chat)
    place_reply(call, message, parent, in_topic=bool(call.body.get("reply_in_thread")))
    return _keep(call, message, "reply")


def place_reply(call: Call, message: Message, parent: Message, *, in_topic: bool) -> None:
    """Set root, parent and topic of an answer to parent."""
    root = call.side.space.find(parent.thread) or parent
    if root.topic or in_topic:
        message.topic = call.side.topic_of(root)
        message.thread = message.parent = root.id
    else:
        message.parent = parent.id
        message.extra["quote_root"] = parent.extra.get("quote_root") or parent.id


def get(call: Call) -> Json:
    """GET /im/v1/messages/:message_id, with all children of a merged forward, flat."""
    message = call.message(call.path["message_id"])
    if message.deleted:
        raise recalled()
    raw = call.query.get("card_msg_content_type") == "raw_card_content"
    return {
        "items": [
            {**message_item(call.side, item, raw_card=raw), **_link(call, item)}
            for item in [message, *message.children]
        ]
    }


def _link(call: Call, message: Message) -> Json:
    """The address of a message for a person: the chat page as that person."""
    if call.caller == BOT:
        return {}
    view = {"platform": "feishu", "as": call.caller, "chat": message.chat}
    if message.topic:
        view["thread"] = message.thread or message.id
    return {"message_app_link": f"{call.side.world.origin}/#{urlencode(view)}"}


def mget(call: Call) -> Json:
    """GET /im/v1/messages/mget, message_ids once for each id; unseen ones are left out."""
    wanted = [value for name, value in call.incoming.repeated if name == "message_ids"]
    if not 0 < len(wanted) <= 50:
        raise bad_field("message_ids takes 1 to 50 ids")
    found = [call.side.space.find(one) for one in wanted]
    return {
        "items": [
            {**message_item(call.side, message), **_link(call, message)}
            for message in found
            if message and call.side.space.may_see(call.caller, message.chat)
        ]
    }


def history(call: Call) -> Json:
    """GET /im/v1/messages of a chat or a topic."""
    kind, container = call.query.get("container_id_type"), call.query.get("container_id", "")
    space = call.side.space
    if kind == "thread":
        root = next((m for m in space.everything(call.caller) if m.topic == container), None)
        messages = space.flow(root.chat, thread=root.thread or root.id) if root else []
    elif kind == "chat":
        if not space.may_see(call.caller, container):
            raise not_in_chat()
        messages = space.flow(container)
    else:
        raise bad_field("container_id_type is chat or thread")
    start, end = float(call.query.get("start_time") or 0), float(call.query.get("end_time") or 9e9)
    messages = [message for message in messages if start <= message.at <= end]
    if call.query.get("sort_type") == "ByCreateTimeDesc":
        messages.reverse()
    items, token = call.page(messages, 50, 20)
    return {
        "items": [{**message_item(call.side, m), **_link(call, m)} for m in items],
        "has_more": bool(token),
        "page_token": token,
    }


def _own(call: Call) -> Message:
    message = call.message(call.path["message_id"])
    if message.deleted:
        raise recalled()
    if message.author != call.caller:
        raise FeishuError(230071, "only the sender may change the message", 400)
    return message


def patch(call: Call) -> Json:
    """PATCH a card: whole new content, update_multi before and after, 5 a second a message."""
    message = _own(call)
    if message.msg_type != "interactive":
        raise bad_content("only cards are patched")
    if call.now > message.at + PATCH_LIFE_S:
        raise FeishuError(230031, "the card is older than 14 days", 400)
    if call.side.edit_limit.take(message.id, call.now):
        raise FeishuError(230020, "this message is changed too often", 400)
    fields = contents.parse_content("interactive", call.body.get("content"))
    card, _ = _card_of(call, fields)
    for version in (message.card or {}, card):
        shared = cast("Json", version.get("config") or {}).get("update_multi")
        if shared is not True and version.get("schema") != "2.0":
            raise card_refused(11246, "config.update_multi must be true")
    redraw(call, message, card)
    return {}


def redraw(call: Call, message: Message, card: Json) -> None:
    """Show another card in a message."""
    message.card, message.updated = card, call.now
    message.text = "\n".join(contents.card_texts(card))
    message.edits += 1
    call.side.space.touch(message)


def edit(call: Call) -> Json:
    """PUT a text or post: own messages, 20 times at most."""
    message = _own(call)
    msg_type = call.text("msg_type")
    if msg_type not in {"text", "post"} or message.msg_type not in {"text", "post"}:
        raise bad_content("only text and post are edited")
    if message.edits >= MOST_EDITS:
        raise FeishuError(230072, "the message was edited 20 times already", 400)
    fields = contents.parse_content(msg_type, call.body.get("content"))
    message.msg_type = msg_type
    message.content = str(call.body["content"])
    message.text = contents.plain(msg_type, fields)
    message.edits += 1
    message.updated = call.now
    call.side.space.touch(message)
    return message_item(call.side, message)


def recall(call: Call) -> Json:
    """DELETE a message of one's own."""
    message = _own(call)
    message.deleted, message.updated = True, call.now
    call.side.space.touch(message)
    return {}


def late_update(call: Call) -> Json | Response:
    """POST /interactive/v1/card/update with a callback's token: 30 min, 2 uses."""
    token = call.side.callbacks.get(call.text("token"))
    if token is None or token.left < 1 or call.now > token.made + 1800:
        raise FeishuError(300000, "the callback token is unknown, used up or too old", 400)
    given = call.body.get("card")
    card = cast("Json", json.loads(given) if isinstance(given, str) else given or {})
    check_card(card)
    message = call.message(token.message_id)
    token.left -= 1
    redraw(call, message, {key: value for key, value in card.items() if key != "open_ids"})
    return {}


def follow_up(call: Call) -> Json:
    """POST push_follow_up: bubbles with questions to ask next."""
    message = _own(call)
    rows = call.body.get("follow_ups")
    if not isinstance(rows, list):
        raise bad_field("follow_ups is required")
    message.extra["follow_ups"] = rows
    call.side.space.touch(message)
    return {}


_ONE = "/open-apis/im/v1/messages/:message_id"
ROUTES = [
    Route("POST", "/open-apis/im/v1/messages", send),
    Route("GET", "/open-apis/im/v1/messages", history),
    Route("GET", "/open-apis/im/v1/messages/mget", mget),
    Route("POST", f"{_ONE}/reply", reply),
    Route("POST", f"{_ONE}/push_follow_up", follow_up, "app"),
    Route("GET", _ONE, get),
    Route("PATCH", _ONE, patch),
    Route("PUT", _ONE, edit, "app"),
    Route("DELETE", _ONE, recall),
    Route("POST", "/open-apis/interactive/v1/card/update", late_update, "app"),
]

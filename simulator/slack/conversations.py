"""conversations.*: history, threads, members, and the bot's direct chats."""

from typing import Any

from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError, invalid
from simulator.slack.show import message_item
from simulator.slack.side import BOT_USER
from simulator.state.workspace import BOT, Chat, Message

Json = dict[str, Any]


def channel_item(call: Call, chat: Chat) -> Json:
    """Make a conversation object."""
    direct = chat.kind == "direct"
    item: Json = {
        "id": chat.id,
        "is_im": direct,
        "is_channel": not direct and not chat.private,
        "is_group": not direct and chat.private,
        "is_private": direct or chat.private,
        "is_mpim": False,
        "is_archived": False,
        "is_member": call.side.space.may_see(call.caller, chat.id),
        "is_ext_shared": False,
        "created": 0,
    }
    if direct:
        others = [one for one in chat.members if one != call.caller]
        item["user"] = call.side.user_id(others[0]) if others else BOT_USER
        return item
    return item | {
        "name": chat.name,
        "name_normalized": chat.name,
        "num_members": len(chat.members) + chat.with_bot,
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": chat.name_zh, "creator": "", "last_set": 0},
    }


def _between(call: Call, messages: list[Message]) -> list[Message]:
    inclusive = call.flag("inclusive")
    oldest, latest = call.text("oldest"), call.text("latest")
    try:
        low, high = float(oldest or 0), float(latest or 9e12)
    except ValueError as broken:
        raise SlackError("invalid_ts_latest" if latest else "invalid_ts_oldest") from broken
    return [
        message
        for message in messages
        if (low < float(message.id) < high) or (inclusive and message.id in (oldest, latest))
    ]


def _shown(call: Call, chat: Chat, thread: str | None = None) -> list[Message]:
    return [
        message
        for message in call.side.space.flow(chat.id, thread=thread)
        if not message.deleted and message.visible_to is None
    ]


def history(call: Call) -> Json:
    """conversations.history: main flow, newest first."""
    chat = call.channel()
    flow = [m for m in _shown(call, chat) if m.thread is None or m.extra.get("broadcast")]
    flow = _between(call, flow)[::-1]
    items, cursor = call.page(flow, 999, 100)
    return {
        "messages": [message_item(call.side, message) for message in items],
        "has_more": bool(cursor),
        "pin_count": 0,
        "response_metadata": {"next_cursor": cursor},
    }


def replies(call: Call) -> Json:
    """conversations.replies: the root and its replies, oldest first; each page has the root."""
    chat = call.channel()
    found = call.message_or(chat, call.need("ts"), "thread_not_found")
    root = call.side.space.find(found.thread) or found
    flow = [root, *_between(call, [m for m in _shown(call, chat, root.id) if m is not root])]
    items, cursor = call.page(flow, 1000, 1000)
    if root not in items:
        items = [root, *items]
    return {
        "messages": [message_item(call.side, message) for message in items],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }


def info(call: Call) -> Json:
    """conversations.info; a public channel may be looked at from outside."""
    chat = call.side.space.chats.get(call.need("channel", "channel_not_found"))
    inside = chat is not None and call.side.space.may_see(call.caller, chat.id)
    if chat is None or not (inside or (chat.kind == "group" and not chat.private)):
        raise SlackError("channel_not_found")
    return {"channel": channel_item(call, chat)}


def members(call: Call) -> Json:
    """conversations.members, the bot among them."""
    chat = call.channel()
    people = [call.side.user_id(login) for login in chat.members]
    items, cursor = call.page([*people, *([BOT_USER] if chat.with_bot else [])], 1000, 100)
    return {"members": items, "response_metadata": {"next_cursor": cursor}}


_TYPES = {"channel": "public_channel", "group": "private_channel", "im": "im"}


def listing(call: Call) -> Json:
    """conversations.list and users.conversations."""
    wanted = (call.text("types") or "public_channel").split(",")
    only_mine = call.method == "users.conversations"
    chats = [
        chat
        for chat in call.side.space.chats.values()
        if (kind := _TYPES[call.side.channel_type(chat)]) in wanted
        and (
            call.side.space.may_see(call.caller, chat.id)
            or (kind == "public_channel" and not only_mine)
        )
    ]
    items, cursor = call.page(chats, 1000, 100)
    return {
        "channels": [channel_item(call, chat) for chat in items],
        "response_metadata": {"next_cursor": cursor},
    }


def open_direct(call: Call) -> Json:
    """conversations.open: the bot's direct chat with one person."""
    user = call.need("users", "users_not_provided") if not call.text("channel") else ""
    if user:
        login = call.side.login_of_user(user)
        if login in (None, BOT):
            raise SlackError("user_not_found")
        chat = call.side.space.direct_chat(str(login))
    else:
        chat = call.channel()
        if chat.kind != "direct":
            raise invalid("channel is no direct chat")
    shown: Json = channel_item(call, chat) if call.flag("return_im") else {"id": chat.id}
    return {"channel": shown, "no_op": True, "already_open": True}


METHODS = {
    "conversations.history": Method(history),
    "conversations.replies": Method(replies),
    "conversations.info": Method(info),
    "conversations.members": Method(members),
    "conversations.list": Method(listing),
    "users.conversations": Method(listing),
    "conversations.open": Method(open_direct, "bot"),
}

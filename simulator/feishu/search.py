"""Message search as a person: only what that person may see (FEISHU.md section 6)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from simulator.feishu.call import Call, Route
from simulator.feishu.errors import bad_field
from simulator.state.matching import excerpt, highlight, score
from simulator.state.workspace import BOT, Message

Json = dict[str, Any]
LEAST = 0.34
MOST = 30


def moment(given: object, default: float) -> float:
    """Read an ISO 8601 time; nothing gives the default.

    Raises:
        FeishuError: 99992402 for anything else.
    """
    if not given:
        return default
    try:
        read = datetime.fromisoformat(str(given))
    except ValueError as broken:
        raise bad_field(f"{given!r} is no ISO 8601 time") from broken
    if read.tzinfo is None:
        raise bad_field(f"{given!r} lacks a time zone")
    return read.timestamp()


def time_range(given: object) -> tuple[float, float]:
    """Read {start_time, end_time}; open ends are far away."""
    fields = cast("Json", given) if isinstance(given, dict) else {}
    return moment(fields.get("start_time"), 0.0), moment(fields.get("end_time"), 9e9)


def names(given: object) -> frozenset[str]:
    """Read a list of ids; nothing gives an empty set."""
    return (
        frozenset(map(str, cast("list[object]", given))) if isinstance(given, list) else frozenset()
    )


def _fits(call: Call, message: Message, wanted: Json) -> bool:
    side = call.side
    chat = side.space.chats[message.chat]
    start, end = time_range(wanted.get("time_range"))
    kind = "p2p" if chat.kind == "direct" else "group"
    author = "bot" if message.author == BOT else "user"
    mentioned = {mention["id"]["open_id"] for mention in message.mentions}
    ats = names(wanted.get("at_chatter_ids"))
    if wanted.get("is_at_me"):
        ats |= {side.open_id(call.caller)}
    return (
        start <= message.at <= end
        and _any(names(wanted.get("chat_ids")), [message.chat])
        and _any(names(wanted.get("from_ids")), [side.open_id(message.author)])
        and _any(names(wanted.get("from_types")), [author])
        and author not in names(wanted.get("exclude_from_types"))
        and wanted.get("chat_type") in (None, "", kind)
        and _any(ats, mentioned)
    )


def _any(wanted: frozenset[str], there: Sequence[str] | set[str]) -> bool:
    return not wanted or bool(wanted.intersection(there))


def found(call: Call, query: str, wanted: Json) -> list[Message]:
    """Return the matching messages the caller may see, best first, then newest."""
    rated = [
        (score(query, message.text), message.at, message)
        for message in call.side.space.everything(call.caller)
        if _fits(call, message, wanted)
    ]
    rated = [row for row in rated if row[0] >= LEAST]
    rated.sort(key=lambda row: (-row[0], -row[1]))
    return [message for _, _, message in rated]


def _item(call: Call, query: str, message: Message) -> Json:
    side = call.side
    seconds = str(int(message.at))
    return {
        "id": message.id,
        "display_info": highlight(query, excerpt(query, message.text, 80)),
        "meta_data": {
            "message_id": message.id,
            "type": message.msg_type,
            "create_time": seconds,
            "update_time": str(int(message.updated or message.at)),
            "position": side.space.flow(message.chat).index(message) + 1,
            "chat_id": message.chat,
            "from_id": side.open_id(message.author),
            "thread_id": message.topic or "",
            "thread_position": 0,
            "is_p2p_chat": side.space.chats[message.chat].kind == "direct",
        },
    }


def search(call: Call) -> Json:
    """POST /im/v1/messages/search."""
    call.limit_searches("messages")
    query = str(call.body.get("query") or "")
    wanted = cast("Json", call.body.get("filter") or {})
    if not query and not wanted:
        raise bad_field("query or filter is required")
    hits = found(call, query, wanted)
    items, token = call.page(hits, MOST, 15)
    return {
        "items": [_item(call, query, message) for message in items],
        "total": len(hits),
        "has_more": bool(token),
        "page_token": token,
    }


def legacy(call: Call) -> Json:
    """POST /search/v2/message: ids only."""
    body = call.body
    chat_type = {"group_chat": "group", "p2p_chat": "p2p"}.get(str(body.get("chat_type") or ""), "")
    wanted: Json = {
        "from_ids": body.get("from_ids"),
        "chat_ids": body.get("chat_ids"),
        "at_chatter_ids": body.get("at_chatter_ids"),
        "chat_type": chat_type,
    }
    hits = found(call, call.text("query"), wanted)
    items, token = call.page(hits, 50, 20)
    return {
        "items": [message.id for message in items],
        "has_more": bool(token),
        "page_token": token,
    }


ROUTES = [
    Route("POST", "/open-apis/im/v1/messages/search", search, "user"),
    Route("POST", "/open-apis/search/v2/message", legacy, "user"),
]

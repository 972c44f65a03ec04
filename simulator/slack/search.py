"""Real-time Search and classic search, as far as the caller may see (SLACK.md section 5)."""

from typing import Any

from simulator.slack.call import Call, Method
from simulator.slack.canvases import Canvas, all_canvases
from simulator.slack.errors import SlackError, invalid
from simulator.slack.files import visible_file
from simulator.slack.show import file_item, message_item, permalink
from simulator.slack.side import TEAM, TEAM_DOMAIN
from simulator.state.matching import score
from simulator.state.workspace import BOT, Attachment, Message

Json = dict[str, Any]
LEAST = 0.34
_SCOPES = {
    "public_channel": "search:read.public",
    "private_channel": "search:read.private",
    "im": "search:read.im",
    "mpim": "search:read.mpim",
}
_BESIDE = 2
_TYPES = {"channel": "public_channel", "group": "private_channel", "im": "im"}


def _reader(call: Call) -> str:
    """Return whose eyes the search has; a bot needs the asker's action_token.

    Raises:
        SlackError: missing_action_token, invalid_action_token.
    """
    if call.caller != BOT:
        return call.caller
    token = call.text("action_token")
    if not token:
        raise SlackError("missing_action_token")
    login, end = call.side.action_tokens.get(token, ("", 0.0))
    if end <= call.now:
        raise SlackError("invalid_action_token")
    return login


def _visible(call: Call, login: str) -> list[Message]:
    return [m for m in call.side.space.everything(login) if m.visible_to is None]


def _public(call: Call) -> list[Message]:
    space = call.side.space
    return [
        message
        for chat in space.chats.values()
        if chat.kind == "group" and not chat.private
        for message in space.flow(chat.id)
        if not message.deleted and message.visible_to is None
    ]


def _hits(call: Call, query: str, login: str, types: list[str]) -> list[Message]:
    after, before = call.number("after", 0), call.number("before", 9 * 10**12)
    pool = {message.id: message for message in [*_visible(call, login), *_public(call)]}
    rated = [
        (score(query, message.text), message.at, message)
        for message in pool.values()
        if _TYPES[call.side.channel_type(call.side.space.chats[message.chat])] in types
        and after <= message.at <= before
        and (message.author != BOT or call.flag("include_bots"))
    ]
    rated = [row for row in rated if row[0] >= LEAST]
    newest = call.text("sort") == "timestamp"
    rated.sort(key=lambda row: (-row[1],) if newest else (-row[0], -row[1]))
    return [message for _, _, message in rated]


def _message(call: Call, message: Message) -> Json:
    side = call.side
    chat = side.space.chats[message.chat]
    return {
        "author_user_id": side.user_id(message.author),
        "author_name": side.world.company.shown(message.author),
        "team_id": TEAM,
        "channel_id": chat.id,
        "channel_name": chat.name,
        "message_ts": message.id,
        "content": message.text,
        "is_author_bot": message.author == BOT,
        "permalink": permalink(message),
        **(_context(call, message) if call.flag("include_context_messages") else {}),
    }


def _context(call: Call, message: Message) -> Json:
    """The messages of the channel right before and after a hit. The form is not documented."""
    flow = [m for m in call.side.space.flow(message.chat) if not m.deleted and not m.visible_to]
    place = flow.index(message)
    beside = {"before": flow[max(place - _BESIDE, 0) : place], "after": flow[place + 1 :][:_BESIDE]}
    shown = {
        name: [
            {
                "user_id": call.side.user_id(one.author),
                "author_name": call.side.world.company.shown(one.author),
                "ts": one.id,
                "text": one.text,
            }
            for one in messages
        ]
        for name, messages in beside.items()
    }
    return {"context_messages": shown}


def _stored(call: Call, query: str, login: str) -> list[Json]:
    """Uploaded files whose name or text fits and which the person may see."""
    found: list[tuple[float, Json]] = []
    for file in call.side.world.files.all():
        text = file.data[:4000].decode("utf-8", "replace") if "text/" in file.media_type else ""
        rate = score(query, f"{file.name} {text}")
        if rate < LEAST or not file.key.startswith("F0"):
            continue
        if visible_file(call.side, login, file.key) is None:
            continue
        item = file_item(call.side, Attachment(file.key, file.name, file.media_type))
        shown = {
            "author_user_id": item["user"],
            "team_id": TEAM,
            "file_id": file.key,
            "title": file.name,
            "file_type": item["filetype"],
            "date_created": item["created"],
            "date_updated": item["created"],
            "content": text[:300],
            "permalink": item["permalink"],
        }
        found.append((rate, shown))
    return [item for _, item in sorted(found, key=lambda row: -row[0])]


def _file(call: Call, canvas: Canvas) -> Json:
    return {
        "author_user_id": call.side.user_id(canvas.owner),
        "author_name": call.side.world.company.shown(canvas.owner),
        "team_id": TEAM,
        "file_id": canvas.id,
        "title": canvas.title,
        "file_type": "canvas",
        "date_created": int(canvas.updated),
        "date_updated": int(canvas.updated),
        "content": canvas.text[:300],
        "permalink": f"https://{TEAM_DOMAIN}.slack.com/docs/{TEAM}/{canvas.id}",
    }


def _canvases(call: Call, query: str, login: str) -> list[Canvas]:
    rated = [
        (score(query, canvas.text), canvas.updated, canvas)
        for canvas in all_canvases(call.side.world.company)
        if canvas.open_to(login)
    ]
    rated.sort(key=lambda row: (-row[0], -row[1]))
    return [canvas for rate, _, canvas in rated if rate >= LEAST]


def context(call: Call) -> Json:
    """assistant.search.context: messages by default, files and canvases with content_types files.

    Raises:
        SlackError: missing_scope for a kind of channel or content that the person did not agree to.
    """
    call.side.count(call.method, "")
    query = call.need("query")
    login = _reader(call)
    limit = call.number("limit", 20)
    if not 0 < limit <= 20:
        raise invalid("limit is 1 to 20")
    types = _list(call, "channel_types", "public_channel")
    contents = _list(call, "content_types", "messages")
    if call.caller == BOT:
        types = [kind for kind in types if kind == "public_channel"]
    call.require(*[_SCOPES[kind] for kind in types if kind in _SCOPES and "messages" in contents])
    call.require(*(["search:read.files"] if "files" in contents else []))
    hits: list[Message] = _hits(call, query, login, types) if "messages" in contents else []
    papers = _canvases(call, query, login) if "files" in contents else []
    if call.caller == BOT:
        papers = [canvas for canvas in papers if canvas.readers is None]
    found = [("messages", _message(call, one)) for one in hits]
    found += [("files", _file(call, one)) for one in papers]
    if "files" in contents and call.caller != BOT:
        found += [("files", item) for item in _stored(call, query, login)]
    items, cursor = call.page(found, 20, 20)
    results: Json = {"messages": [], "files": []}
    for name, item in items:
        results[name].append(item)
    return {"results": results, "response_metadata": {"next_cursor": cursor}}


def _list(call: Call, name: str, default: str) -> list[str]:
    given = call.json(name) if call.text(name).startswith("[") else call.arguments.get(name)
    if isinstance(given, list):
        return [str(one) for one in given]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
    return (call.text(name) or default).split(",")


def search_info(call: Call) -> Json:
    """assistant.search.info: semantic search is off here."""
    call.side.count(call.method, "")
    return {"is_ai_search_enabled": False}


def classic(call: Call) -> Json:
    """search.messages: user tokens only."""
    query = call.need("query", "no_query")
    hits = _hits(call, query, call.caller, ["public_channel", "private_channel", "im"])
    count, page = call.number("count", 20), max(1, call.number("page", 1))
    items = hits[(page - 1) * count : page * count]
    return {
        "query": query,
        "messages": {
            "total": len(hits),
            "matches": [_match(call, message) for message in items],
            "paging": {
                "count": count,
                "total": len(hits),
                "page": page,
                "pages": -(-len(hits) // count),
            },
        },
    }


def _match(call: Call, message: Message) -> Json:
    chat = call.side.space.chats[message.chat]
    return message_item(call.side, message) | {
        "channel": {
            "id": chat.id,
            "name": chat.name,
            "is_private": chat.private,
            "is_im": chat.kind == "direct",
        },
        "username": message.author,
        "permalink": permalink(message),
        "team": TEAM,
    }


METHODS = {
    "assistant.search.context": Method(context),
    "assistant.search.info": Method(search_info),
    "search.messages": Method(classic, "user", "search:read"),
}

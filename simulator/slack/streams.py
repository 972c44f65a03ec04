"""Streamed messages: start, append, stop, and the end after five minutes (section 3.1)."""

from typing import Any, cast

from simulator.slack.blocks import MARKDOWN, check_blocks
from simulator.slack.call import Call, Method
from simulator.slack.chat import clear_status, root_of
from simulator.slack.errors import SlackError, invalid
from simulator.slack.show import message_item
from simulator.slack.side import TEAM
from simulator.state.workspace import Chat, Message

Json = dict[str, Any]
CHUNKS = frozenset(["markdown_text", "task_update", "plan_update", "blocks"])


def _pieces(call: Call) -> tuple[str, list[Json]]:
    """Return (text to add, other chunks) of a call."""
    text = call.text("markdown_text")
    chunks = call.json("chunks")
    if chunks is None:
        chunks = []
    if not isinstance(chunks, list):
        raise invalid("chunks is no list")
    others: list[Json] = []
    for chunk in cast("list[Json]", chunks):
        kind = chunk.get("type")
        if kind not in CHUNKS:
            raise SlackError("invalid_chunks")
        if kind == "markdown_text":
            text += str(chunk.get("text", ""))
        else:
            others.append(chunk)
    if len(text) > MARKDOWN:
        raise SlackError("msg_too_long")
    return text, others


def _add(message: Message, text: str, others: list[Json]) -> None:
    message.text += text
    message.extra["raw_text"] = message.text
    tasks = cast("dict[str, Json]", message.extra.setdefault("tasks", {}))
    for chunk in others:
        if chunk["type"] == "task_update":
            tasks[str(chunk.get("id"))] = chunk
        else:
            cast("list[Json]", message.extra.setdefault("chunks", [])).append(chunk)
    if text or message.text:
        message.blocks = [{"type": "markdown", "text": message.text}]


def start(call: Call) -> Json:
    """chat.startStream: always a reply, with recipients in channels."""
    chat = call.channel()
    call.need("thread_ts")
    root = root_of(call, chat)
    if chat.kind != "direct":
        _check_recipient(call, chat)
    text, others = _pieces(call)
    call.side.count(call.method, chat.id)
    message = Message(
        id=call.side.new_ts(),
        chat=chat.id,
        author=call.caller,
        at=call.now,
        kind="stream",
        thread=root,
        streaming=True,
    )
    _add(message, text, others)
    call.side.streams[message.id] = call.now + call.side.stream_life
    call.side.space.add(message)
    clear_status(call.side, chat.id, root)
    return {"channel": chat.id, "ts": message.id}


def _check_recipient(call: Call, chat: Chat) -> None:
    if not call.text("recipient_user_id") or not call.text("recipient_team_id"):
        raise SlackError("missing_recipient")
    login = call.side.login_of_user(call.text("recipient_user_id"))
    if call.text("recipient_team_id") != TEAM or login not in chat.members:
        raise SlackError("invalid_recipient")


def _running(call: Call) -> Message:
    chat = call.channel()
    message = call.message(chat, call.need("ts", "message_not_found"))
    if message.author != call.caller:
        raise SlackError("message_not_owned_by_app")
    if call.now >= call.side.streams.get(message.id, 0.0):
        close(call, message)
        raise SlackError("message_not_in_streaming_state")
    return message


def close(call: Call, message: Message) -> None:
    """Show a stream as ended, as the platform does by itself after five minutes."""
    call.side.streams.pop(message.id, None)
    if message.streaming:
        message.streaming = False
        call.side.space.touch(message)


def append(call: Call) -> Json:
    """chat.appendStream."""
    message = _running(call)
    text, others = _pieces(call)
    if not text and not others:
        raise SlackError("no_text")
    call.side.count(call.method, message.chat)
    _add(message, text, others)
    call.side.space.touch(message)
    return {"channel": message.chat, "ts": message.id}


def stop(call: Call) -> Json:
    """chat.stopStream: last text, blocks below it, metadata."""
    message = _running(call)
    text, others = _pieces(call)
    blocks = check_blocks(call.json("blocks"))
    call.side.count(call.method, message.chat)
    _add(message, text, others)
    message.blocks = [*(message.blocks or []), *(blocks or [])] or None
    if call.arguments.get("metadata") is not None:
        message.extra["metadata"] = call.json("metadata")
    call.side.streams.pop(message.id, None)
    message.streaming = False
    call.side.space.touch(message)
    return {
        "channel": message.chat,
        "ts": message.id,
        "message": message_item(call.side, message),
    }


METHODS = {
    "chat.startStream": Method(start, "bot"),
    "chat.appendStream": Method(append, "bot"),
    "chat.stopStream": Method(stop, "bot"),
}

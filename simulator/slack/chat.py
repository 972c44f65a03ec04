"""chat.*: posting, updating, deleting, ephemeral messages and permalinks."""

from typing import Any

from simulator.slack.blocks import MARKDOWN, MOST_TEXT, check_blocks, texts
from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError
from simulator.slack.show import message_item, permalink
from simulator.slack.side import SlackSide
from simulator.state.workspace import BOT, Chat, Message

Json = dict[str, Any]


def _markdown(call: Call) -> str:
    text = call.text("markdown_text")
    if text and (call.text("text") or call.arguments.get("blocks")):
        raise SlackError("markdown_text_conflict")
    if len(text) > MARKDOWN:
        raise SlackError("msg_too_long")
    return text


def body(call: Call) -> tuple[str, list[Json] | None]:
    """Return the checked text and blocks of a posting call.

    Raises:
        SlackError: no_text, msg_too_long or what check_blocks raises.
    """
    markdown = _markdown(call)
    blocks = check_blocks(call.json("blocks"))
    text = markdown or call.text("text")
    if markdown:
        blocks = [{"type": "markdown", "text": markdown}]
    if not text and not blocks:
        raise SlackError("no_text")
    return text[:MOST_TEXT], blocks


def root_of(call: Call, chat: Chat) -> str | None:
    """Return the root ts for thread_ts; None without one.

    Raises:
        SlackError: thread_not_found.
    """
    ts = call.text("thread_ts")
    if not ts:
        return None
    root = call.side.space.find(ts)
    if root is None or root.chat != chat.id:
        raise SlackError("thread_not_found")
    return root.thread or root.id


def clear_status(side: SlackSide, chat_id: str, thread: str | None) -> None:
    """A reply of the app takes the assistant status line away."""
    key = f"{chat_id}:{thread}"
    if thread and side.statuses.pop(key, ""):
        root = side.space.find(thread)
        if root is not None:
            root.status = ""
            side.space.touch(root)


def post(call: Call) -> Json:
    """chat.postMessage."""
    chat = call.channel()
    text, blocks = body(call)
    root = root_of(call, chat)
    call.side.count(call.method, chat.id)
    message = Message(
        id=call.side.new_ts(),
        chat=chat.id,
        author=call.caller,
        at=call.now,
        text=text or "\n".join(texts(blocks)),
        blocks=blocks,
        thread=root,
        extra={"raw_text": text, "metadata": call.json("metadata"), "client": "api"},
    )
    if call.flag("reply_broadcast"):
        message.extra["broadcast"] = True
    call.side.space.add(message)
    if call.caller == BOT:
        clear_status(call.side, chat.id, root)
    return {"channel": chat.id, "ts": message.id, "message": message_item(call.side, message)}


def update(call: Call) -> Json:
    """chat.update: replaces text and blocks, ends a stream that is still shown as one."""
    chat = call.channel()
    message = call.message(chat, call.need("ts", "message_not_found"))
    if message.author != call.caller:
        raise SlackError("cant_update_message")
    call.side.count(call.method, chat.id)
    text, blocks = body(call)
    message.streaming = False
    call.side.streams.pop(message.id, None)
    message.text, message.blocks = text or "\n".join(texts(blocks)), blocks
    message.extra["raw_text"] = text
    if call.arguments.get("metadata") is not None:
        message.extra["metadata"] = call.json("metadata")
    message.edits += 1
    message.updated = call.now
    message.kind = "text"
    call.side.space.touch(message)
    return {
        "channel": chat.id,
        "ts": message.id,
        "text": text,
        "message": message_item(call.side, message),
    }


def delete(call: Call) -> Json:
    """chat.delete of an own message."""
    chat = call.channel()
    message = call.message(chat, call.need("ts", "message_not_found"))
    if message.author != call.caller:
        raise SlackError("cant_delete_message")
    message.deleted = True
    call.side.space.touch(message)
    return {"channel": chat.id, "ts": message.id}


def ephemeral(call: Call) -> Json:
    """chat.postEphemeral: seen by one person, not in the history."""
    chat = call.channel()
    login = call.side.login_of_user(call.need("user"))
    if login is None or login not in chat.members:
        raise SlackError("user_not_in_channel")
    text, blocks = body(call)
    message = Message(
        id=call.side.new_ts(),
        chat=chat.id,
        author=call.caller,
        at=call.now,
        kind="ephemeral",
        text=text or "\n".join(texts(blocks)),
        blocks=blocks,
        thread=root_of(call, chat),
        visible_to=login,
    )
    call.side.space.add(message)
    return {"message_ts": message.id}


def get_permalink(call: Call) -> Json:
    """chat.getPermalink."""
    chat = call.channel()
    message = call.message(chat, call.need("message_ts", "message_not_found"))
    return {"channel": chat.id, "permalink": permalink(message)}


METHODS = {
    "chat.postMessage": Method(post),
    "chat.update": Method(update),
    "chat.delete": Method(delete),
    "chat.postEphemeral": Method(ephemeral, "bot"),
    "chat.getPermalink": Method(get_permalink),
}

"""What a person does in a chat: say, edit, recall, forward; the events go to the bot."""

import base64
import binascii
import re
import struct
from typing import Any

from simulator.company import Person
from simulator.control.sim import ControlError, Sim
from simulator.feishu import events as feishu_events
from simulator.feishu.content import compact, plain, text_content
from simulator.slack import events as slack_events
from simulator.state.files import StoredFile
from simulator.state.workspace import Attachment, Chat, Message

Json = dict[str, Any]
BOT_AT = "@Plumbline"


def chat_of(sim: Sim, platform: str, login: str, chat_id: str) -> tuple[Person, Chat]:
    """Return the person and the chat of an action.

    Raises:
        ControlError: unknown person or chat, or the person is not in it.
    """
    person = sim.world.company.person(login)
    if person is None:
        raise ControlError(f"as: nobody here is called {login!r}")
    chat = sim.space(platform).chats.get(chat_id)
    if chat is None or login not in chat.members:
        raise ControlError(f"{login} is in no chat {chat_id!r}; see /sim/chats")
    return person, chat


def message_of(sim: Sim, platform: str, message_id: str) -> Message:
    """Return a standing message.

    Raises:
        ControlError: there is none.
    """
    message = sim.space(platform).find(message_id)
    if message is None or message.deleted:
        raise ControlError(f"no message {message_id!r}")
    return message


def keep_files(sim: Sim, login: str, platform: str, rows: list[Json]) -> list[Attachment]:
    """Store attached files and return them.

    Raises:
        ControlError: base64 is broken.
    """
    kept: list[Attachment] = []
    for row in rows:
        try:
            data = base64.b64decode(row["base64"], validate=True)
        except (binascii.Error, KeyError, ValueError) as broken:
            raise ControlError("files need name, media_type and base64") from broken
        media, name = str(row.get("media_type", "")), str(row.get("name") or "file")
        if platform == "slack":
            key = sim.slack.new_id("F")
        else:
            key = sim.feishu.new_id("img_v3_" if media.startswith("image/") else "file_v3_")
        sim.world.files.put(StoredFile(key, name, media, data, login, sim.world.clock.now()))
        kept.append(Attachment(key, name, media))
    return kept


def picture_size(data: bytes) -> tuple[int, int]:
    """Read width and height of a PNG; others count as 640 x 480."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return int(width), int(height)
    return 640, 480


def say(sim: Sim, body: Json) -> Json:
    """Say something as a person; the message ids are those of the first message made."""
    platform, login = str(body.get("platform")), str(body.get("as"))
    person, chat = chat_of(sim, platform, login, str(body.get("chat")))
    text = str(body.get("text") or "")
    if body.get("mention") and not re.search(rf"{BOT_AT}\b", text, re.IGNORECASE):
        text = f"{BOT_AT} {text}".strip()
    files = keep_files(sim, login, platform, list(body.get("files") or []))
    if not text and not files:
        raise ControlError("say needs text or files")
    root = message_of(sim, platform, str(body["thread"])) if body.get("thread") else None
    if platform == "feishu":
        return {"message": _say_feishu(sim, person, chat, text, files, root)}
    return {"message": _say_slack(sim, person, chat, text, files, root)}


def _feishu_shapes(
    sim: Sim, text: str, files: list[Attachment]
) -> list[tuple[str, Json, list[Attachment]]]:
    """Split what was said into (msg_type, content, files), as the client sends it."""
    pictures = [file for file in files if file.media_type.startswith("image/")]
    others = [file for file in files if file not in pictures]
    shapes: list[tuple[str, Json, list[Attachment]]] = []
    if pictures and (text or len(pictures) > 1):
        shapes.append(("post", _post(sim, text, pictures), pictures))
    else:
        if text:
            shapes.append(("text", {"text": text}, []))
        shapes += [("image", {"image_key": file.key}, [file]) for file in pictures]
    shapes += [("file", {"file_key": f.key, "file_name": f.name}, [f]) for f in others]
    return shapes


def _post(sim: Sim, text: str, pictures: list[Attachment]) -> Json:
    rows: list[list[Json]] = []
    for line in text.split("\n") if text else []:
        row: list[Json] = []
        for part in re.split(r"(@_user_\d+)", line):
            if part.startswith("@_user_"):
                row.append({"tag": "at", "user_id": part, "user_name": "", "style": []})
            elif part:
                row.append({"tag": "text", "text": part, "style": []})
        rows.append(row)
    for picture in pictures:
        stored = sim.world.files.get(picture.key)
        width, height = picture_size(stored.data if stored else b"")
        rows.append([{"tag": "img", "image_key": picture.key, "width": width, "height": height}])
    return {"title": "", "content": rows}


def _say_feishu(
    sim: Sim, person: Person, chat: Chat, text: str, files: list[Attachment], root: Message | None
) -> str:
    coded, mentions = feishu_events.encode_mentions(sim.feishu, text)
    first = ""
    for msg_type, content, own in _feishu_shapes(sim, coded, files):
        _name_mentions(content, mentions)
        message = Message(
            id=sim.feishu.new_id("om_"),
            chat=chat.id,
            author=person.login,
            at=sim.world.clock.now(),
            text=_readable(plain(msg_type, content), mentions),
            msg_type=msg_type,
            content=text_content(coded) if msg_type == "text" else compact(content),
            mentions=mentions if msg_type in {"text", "post"} else [],
            files=own,
        )
        _place_feishu(sim, message, chat, root)
        sim.feishu.space.add(message)
        first = first or message.id
        named = any(m["mentioned_type"] == "bot" for m in message.mentions)
        if chat.with_bot and (chat.kind == "direct" or named):
            event = feishu_events.message_event(sim.feishu, message, person)
            sim.courier.send(feishu_events.parcel(sim.feishu, "im.message.receive_v1", event))
    return first


def _name_mentions(content: Json, mentions: list[Json]) -> None:
    names = {mention["key"]: mention["name"] for mention in mentions}
    for row in content.get("content", []):
        for element in row:
            if element.get("tag") == "at":
                element["user_name"] = names.get(element["user_id"], "")


def _readable(text: str, mentions: list[Json]) -> str:
    names = {mention["key"]: mention["name"] for mention in mentions}
    return re.sub(r"@_user_\d+", lambda hit: f"@{names.get(hit.group(0), hit.group(0))}", text)


def _place_feishu(sim: Sim, message: Message, chat: Chat, answered: Message | None) -> None:
    if answered is None:
        if chat.kind == "topic_group":
            sim.feishu.topic_of(message)
        return
    root = sim.feishu.space.find(answered.thread) or answered
    if chat.kind == "direct" and root.topic is None:
        message.parent = answered.id
        message.extra["quote_root"] = answered.extra.get("quote_root") or answered.id
        return
    message.topic = sim.feishu.topic_of(root)
    message.thread = message.parent = root.id


def _say_slack(
    sim: Sim, person: Person, chat: Chat, text: str, files: list[Attachment], root: Message | None
) -> str:
    coded = slack_events.encode_text(sim.slack, text)
    message = Message(
        id=sim.slack.new_ts(),
        chat=chat.id,
        author=person.login,
        at=sim.world.clock.now(),
        text=text,
        blocks=slack_events.rich_text(coded) if coded else None,
        thread=(root.thread or root.id) if root else None,
        files=files,
        extra={"raw_text": coded},
    )
    sim.slack.space.add(message)
    if chat.with_bot:
        kinds = ["message"]
        if slack_events.BOT_USER in coded and chat.kind != "direct":
            kinds = ["app_mention", "message"]
        for kind in kinds:
            event = slack_events.message_event(sim.slack, message, chat, kind)
            sim.courier.send(slack_events.event_parcel(sim.slack, event))
    return message.id

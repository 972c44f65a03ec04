"""Messages as the asker reads them: their words, their chats, their links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

from agent.domain import Json
from agent.values import value
from connectors import wire
from connectors.feishu import reader
from connectors.feishu.personal.client import Data, path_part
from connectors.feishu.personal.days import seconds
from connectors.personal import evidence

WORDS: Final = 1_200
"""Characters kept of one message."""


@value
class Said:
    """One message: who said what when (seconds since the epoch), in which chat and topic.

    `link` is the platform's own address of the message, "" where it gives none.
    """

    ident: str
    chat: str
    author: str
    at: float
    text: str
    topic: str = ""
    link: str = ""


@dataclass(slots=True)
class Room:
    """What is known of a chat: its name, whether it has two people only, names by open_id."""

    name: str = ""
    direct: bool = False
    people: Mapping[str, str] = field(default_factory=dict[str, str])

    def name_for(self, asker: str) -> str:
        """The chat's name; the other person's in a chat of two."""
        others = [name for user, name in self.people.items() if user != asker and name]
        return others[0] if self.direct and len(others) == 1 else self.name


def read_all(page: Data) -> list[Said]:
    """The messages of an answer that have words; those of bots and recalled ones are left out."""
    found = (_read(item) for item in wire.objects(page.get("items"))[:100])
    return [said for said in found if said is not None]


def read_room(info: Data, members: Data) -> Room:
    """A chat of the answers about it and its members; either may be empty."""
    names: dict[str, str] = {}
    for member in wire.objects(members.get("items"))[:500]:
        names[wire.identifier(member.get("member_id"))] = evidence.line(
            wire.name(member.get("name")), 60
        )
    name = evidence.line(wire.name(info.get("name")), 80)
    return Room(name, info.get("chat_mode") == "p2p", names)


def chat_link(chat: str, base_url: str) -> str:
    """The address that opens a chat in the app, for a message that came without one of its own.

    Its form is the platform's public one for such links; our contract does not name it.
    """
    lark = (urlsplit(base_url).hostname or "").endswith("larksuite.com")
    host = "applink.larksuite.com" if lark else "applink.feishu.cn"
    return f"https://{host}/client/chat/open?openChatId={quote(chat, safe='')}"


def _read(item: Mapping[str, Json]) -> Said | None:
    ident, chat = path_part(item.get("message_id")), path_part(item.get("chat_id"))
    sender = wire.members(item.get("sender"))
    if not ident or not chat or item.get("deleted") is True or sender.get("sender_type") == "app":
        return None
    text = _words(item)
    if not text:
        return None
    return Said(
        ident,
        chat,
        wire.identifier(sender.get("id")),
        seconds(item.get("create_time")),
        evidence.clipped(text, WORDS),
        path_part(item.get("thread_id")),
        evidence.address(wire.text(item.get("message_app_link"))),
    )


def _words(item: Mapping[str, Json]) -> str:
    """The words of a message; names of files for one that has none."""
    content = wire.text(wire.members(item.get("body")).get("content"))
    mentions = reader.read_mentions(item.get("mentions"), "-")
    reading = reader.read(wire.text(item.get("msg_type")), content, mentions)
    files = " ".join(f"[{a.name}]" for a in reading.attachments if a.name)
    return evidence.plain(f"{reading.text} {files}")

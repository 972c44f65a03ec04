"""The chats and messages of one platform, and who may see them."""

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Platform = Literal["feishu", "slack"]
Json = dict[str, Any]
BOT = "bot"


@dataclass(slots=True)
class Attachment:
    """A file that hangs on a message: key in the file store, name and media type."""

    key: str
    name: str
    media_type: str


@dataclass(slots=True)
class Chat:
    """A direct chat, a group or a group of topics."""

    id: str
    platform: Platform
    kind: Literal["direct", "group", "topic_group"]
    name: str
    name_zh: str
    members: list[str]
    with_bot: bool = True
    private: bool = False
    read_at: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(slots=True)
class Message:
    """One message as it stands now.

    author is a login or BOT. thread is the root's id for a reply that lives in a thread, parent
    the message answered (Feishu quotes in the main flow have a parent and no thread).
    content is what Feishu's API shows (a JSON string), blocks what Slack's shows.
    """

    id: str
    chat: str
    author: str
    at: float
    kind: str = "text"
    text: str = ""
    thread: str | None = None
    parent: str | None = None
    topic: str | None = None
    msg_type: str = "text"
    content: str = ""
    card: Json | None = None
    card_id: str | None = None
    blocks: list[Json] | None = None
    mentions: list[Json] = field(default_factory=list[Json])
    streaming: bool = False
    status: str = ""
    edits: int = 0
    updated: float = 0.0
    deleted: bool = False
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: list[Attachment] = field(default_factory=list[Attachment])
    visible_to: str | None = None
    children: list["Message"] = field(default_factory=list["Message"])
    upper: str | None = None
    extra: Json = field(default_factory=dict[str, Any])

    @property
    def root(self) -> bool:
        """Whether the message stands in the chat's main flow."""
        return self.thread is None


class Workspace:
    """All chats of one platform; tells its listener about every visible change."""

    def __init__(self, platform: Platform, changed: Callable[["Workspace", Message], None]) -> None:
        self.platform: Platform = platform
        self.chats: dict[str, Chat] = {}
        self._messages: dict[str, list[Message]] = {}
        self._by_id: dict[str, Message] = {}
        self._changed = changed

    def add_chat(self, chat: Chat) -> Chat:
        """Open a chat."""
        self.chats[chat.id] = chat
        self._messages.setdefault(chat.id, [])
        return chat

    def chats_of(self, login: str) -> list[Chat]:
        """Return the chats a person is in, the direct chat with the bot first."""
        mine = [chat for chat in self.chats.values() if login in chat.members]
        return sorted(mine, key=lambda c: not (c.with_bot and c.kind == "direct"))

    def direct_chat(self, login: str) -> Chat:
        """Return a person's direct chat with the bot."""
        return next(
            chat
            for chat in self.chats.values()
            if chat.kind == "direct" and chat.with_bot and chat.members == [login]
        )

    def add(self, message: Message, *, quiet: bool = False) -> Message:
        """Put a message into its chat at the place its time asks for."""
        flow = self._messages[message.chat]
        flow.insert(bisect.bisect_right([m.at for m in flow], message.at), message)
        self._by_id[message.id] = message
        for child in message.children:
            self._by_id[child.id] = child
        if not quiet:
            self.touch(message)
        return message

    def touch(self, message: Message) -> None:
        """Tell the listener that a message looks different now."""
        self._changed(self, message)

    def has(self, message_id: str) -> bool:
        """Whether an id is taken."""
        return message_id in self._by_id

    def find(self, message_id: str | None) -> Message | None:
        """Return a message by id, deleted ones too; None when there is none."""
        return self._by_id.get(message_id or "")

    def flow(self, chat_id: str, *, reader: str = BOT, thread: str | None = None) -> list[Message]:
        """Return a chat's messages that a reader may see, oldest first, threads included.

        With thread only that root and its replies are returned.
        """
        return [
            message
            for message in self._messages.get(chat_id, [])
            if message.visible_to in (None, reader)
            and (thread is None or thread in (message.id, message.thread))
        ]

    def replies(self, message: Message) -> list[Message]:
        """Return the replies in a root's thread that still stand."""
        return [
            other
            for other in self._messages[message.chat]
            if other.thread == message.id and not other.deleted and other.visible_to is None
        ]

    def may_see(self, login: str, chat_id: str) -> bool:
        """Whether a person (or BOT) is in a chat."""
        chat = self.chats.get(chat_id)
        if chat is None:
            return False
        return chat.with_bot if login == BOT else login in chat.members

    def everything(self, login: str) -> list[Message]:
        """Return all standing messages of the chats a reader is in."""
        return [
            message
            for chat in self.chats.values()
            if self.may_see(login, chat.id)
            for message in self.flow(chat.id, reader=login)
            if not message.deleted
        ]

"""Reads what a Feishu event does not carry: forwards, quotations, topics, cards, later edits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from agent.domain import Json, Material, MaterialKind, Question
from agent.errors import PlatformRefused, PlumblineError
from agent.language import detect
from agent.material import bounded
from connectors import wire
from connectors.feishu import reader
from connectors.feishu.api import FeishuApi

log = logging.getLogger(__name__)

MOST_NAMES: Final = 10
"""Most people of one question whose names are asked for."""
OWN_QUOTED: Final = 300
"""Characters kept of an own answer that is quoted: the thread's memory has the whole."""
_NAMES_KEPT: Final = 1_000
_GONE: Final = frozenset(("230011", "231003"))
_NOT_FETCHED: Final = "[a forwarded conversation, not fetched]"
_NOBODY: Final = reader.Mentions({}, frozenset())

Fields = Mapping[str, Json]


class FeishuGatherer:
    """The reading side of Feishu, as the app.

    Args:
        api: the client.
        app_id: the app's id, by which its own messages are known.
    """

    def __init__(self, api: FeishuApi, app_id: str) -> None:
        self._api = api
        self._app_id = app_id
        self._bot = ""
        self._names: dict[str, str] = {}

    async def gather(self, question: Question, *, again: bool) -> Question | None:
        """The question with its material; None when its message was recalled."""
        if again:
            read = await self._reread(question)
            if read is None:
                return None
            question = read
        steps: Mapping[str, Callable[[Question], Awaitable[list[Material]]]] = {
            "merge_forward": self._forward,
            "card": self._card,
            "quote": self._quote,
            "thread": self._topic,
        }
        wanted = question.deferred.split()
        found: list[Material] = []
        for name in wanted:
            if name in steps:
                found += await steps[name](question)
        if "card" in wanted:
            question = replace(question, text="")
        pieces = bounded((*question.material, *await self._named(found, question)))
        words = question.text or " ".join(p.text for p in pieces if p.kind != "unread")
        language = question.language if question.text.strip() else detect(words, "zh")
        return replace(question, material=pieces, deferred="", language=language)

    # --- the message itself --------------------------------------------------------------------

    async def _reread(self, question: Question) -> Question | None:
        """The question as it reads now; unchanged when that can not be found out."""
        try:
            items = await self._items(question.chat.message)
            bot = await self._own_id()
        except PlatformRefused as error:
            return None if error.reason in _GONE else question
        except PlumblineError as error:
            log.info("question not read again: %s", error.code)
            return question
        item = _of(items, question.chat.message)
        if item.get("deleted") is True:
            return None
        kind = wire.text(item.get("msg_type"))
        if item.get("updated") is not True or kind not in ("text", "post"):
            return question
        mentions = reader.read_mentions(item.get("mentions"), bot)
        reading = reader.read(kind, _content(item), mentions)
        return replace(
            question,
            text=reading.text,
            attachments=reading.attachments,
            mentions=mentions.people,
            language=detect(reading.text, "zh"),
        )

    async def _own_id(self) -> str:
        if not self._bot:
            self._bot = await self._api.bot_open_id()
        return self._bot

    # --- what it points at ---------------------------------------------------------------------

    async def _forward(self, question: Question) -> list[Material]:
        """The messages of a merged forward in their order, nested ones below theirs."""
        root = question.chat.message
        async with _said("the forwarded messages") as unread:
            found = _nested(_by_upper(await self._items(root)), root)
            if found:
                return found
            unread.append(_unread("the forwarded messages", "the platform showed none of them"))
        return unread

    async def _card(self, question: Question) -> list[Material]:
        """The whole card; what the event showed of it when that is all there is."""
        text = ""
        async with _said("the whole card") as unread:
            text = await self._raw_card(question.chat.message)
        shown = text if len(text) >= len(question.text) else question.text
        return [*unread, Material("card", text=shown, at=question.asked_at)] if shown else unread

    async def _quote(self, question: Question) -> list[Material]:
        parent = question.platform_hints.get("parent", "")
        async with _said("the quoted message") as unread:
            items = await self._items(parent)
            item = _of(items, parent)
            if item.get("chat_id") not in (None, "", question.chat.chat):
                return []
            kind = wire.text(item.get("msg_type"))
            if kind == "merge_forward":
                return _nested(_by_upper(items), parent) or [_piece("quoted", item)]
            if kind == "interactive" and not self._is_own(item):
                return [_piece("quoted", item, await self._raw_card(parent))]
            piece = _piece("quoted", item)
            if self._is_own(item):
                piece = replace(piece, author="you, the bot", text=piece.text[:OWN_QUOTED])
            return [piece]
        return unread

    async def _topic(self, question: Question) -> list[Material]:
        """Root and newest messages of the topic, without our own and without the question."""
        thread = question.platform_hints.get("thread_id", "")
        root = question.chat.thread or ""
        async with _said("the earlier messages of this topic") as unread:
            items, more = await self._api.newest_of_topic(thread)
            found: list[Material] = []
            for item in reversed(wire.objects(items)):
                own = item.get("message_id")
                said = wire.whole(item.get("create_time")) / 1000
                if self._is_own(item) or own == question.chat.message or said > question.asked_at:
                    continue
                found.append(_piece("parent" if own == root else "thread", item))
            if more and not any(piece.kind == "parent" for piece in found):
                head = _of(await self._items(root), root)
                found.insert(0, _piece("parent", head))
            return found
        return unread

    async def _items(self, message: str) -> list[dict[str, Json]]:
        return wire.objects(await self._api.message(message))

    async def _raw_card(self, message: str) -> str:
        items = wire.objects(await self._api.raw_card(message))
        return _card_text(_content(_of(items, message)))

    def _is_own(self, item: Fields) -> bool:
        return wire.members(item.get("sender")).get("id") == self._app_id

    # --- names ---------------------------------------------------------------------------------

    async def _named(self, pieces: Sequence[Material], question: Question) -> list[Material]:
        """The pieces with names in place of ids, as far as names can be had."""
        known = {m.user: m.name for m in question.mentions if m.name}
        if question.asker.name:
            known[question.asker.user] = question.asker.name
        wanted = dict.fromkeys(p.author for p in pieces if p.author.startswith("ou_"))
        asked = [user for user in wanted if user not in known and user not in self._names]
        async with asyncio.TaskGroup() as group:
            for user in asked[:MOST_NAMES]:
                group.create_task(self._learn(user))
        known = self._names | known
        return [replace(p, author=known.get(p.author) or p.author) for p in pieces]

    async def _learn(self, user: str) -> None:
        try:
            name = wire.name(await self._api.person_name(user))
        except PlumblineError as error:
            log.info("a name was not found: %s", error.code)
            return
        if len(self._names) >= _NAMES_KEPT:
            self._names.clear()
        self._names[user] = name


@asynccontextmanager
async def _said(what: str) -> AsyncGenerator[list[Material]]:
    """A list that says what could not be read when the body meets a fault of the platform."""
    unread: list[Material] = []
    try:
        yield unread
    except PlumblineError as error:
        log.info("not read: %s: %s", what, error)
        reason = error.reason if isinstance(error, PlatformRefused) else error.code
        unread.append(_unread(what, f"the platform did not hand it out, code {reason}"))


def _unread(what: str, why: str) -> Material:
    return Material("unread", text=f"Not read: {what} ({why}).")


def _of(items: Sequence[Fields], message: str) -> Fields:
    """The item of a message; empty when it is not among them."""
    for item in items:
        if item.get("message_id") == message:
            return item
    return {}


def _content(item: Fields) -> str:
    return wire.text(wire.members(item.get("body")).get("content"))


def _by_upper(items: Sequence[Fields]) -> dict[str, list[Fields]]:
    """The flat list of a forward by the message that each one stands under, order kept."""
    children: dict[str, list[Fields]] = {}
    for item in items:
        children.setdefault(wire.identifier(item.get("upper_message_id")), []).append(item)
    return children


def _nested(children: Mapping[str, list[Fields]], root: str) -> list[Material]:
    """What was forwarded under a message, in order; a nested forward stands behind its head.

    Each message comes once, so that a list that bites its own tail has an end.
    """
    found: list[Material] = []
    waiting = [(item, 0) for item in reversed(children.get(root, ()))]
    seen = {root, ""}
    while waiting:
        item, depth = waiting.pop()
        own = wire.identifier(item.get("message_id"))
        if own in seen:
            continue
        seen.add(own)
        text = ""
        if item.get("msg_type") == "merge_forward":
            inner = children.get(own, ())
            waiting += [(one, depth + 1) for one in reversed(inner)]
            text = "[a forwarded conversation]" if inner else _NOT_FETCHED
        found.append(replace(_piece("forwarded", item, text), depth=depth))
    return found


def _piece(kind: MaterialKind, item: Fields, text: str = "") -> Material:
    sender = wire.members(item.get("sender"))
    author = wire.identifier(sender.get("id"))
    return Material(
        kind,
        f"{author} (a bot)" if sender.get("sender_type") == "app" else author,
        wire.whole(item.get("create_time")) / 1000,
        text or _words(item),
    )


def _words(item: Fields) -> str:
    """What a message says; pictures, files and what can not be read by name."""
    if item.get("deleted") is True:
        return "[a deleted message]"
    kind = wire.text(item.get("msg_type"))
    if kind == "merge_forward":
        return _NOT_FETCHED
    mentions = reader.read_mentions(item.get("mentions"), "-")
    reading = reader.read(kind, _content(item), mentions)
    parts = [reading.text]
    for a in reading.attachments:
        what = "picture" if a.kind == "image" else "file"
        parts.append(f"[{what} {a.name or a.key}, not read]")
    if reading.unsupported:
        parts.append(f"[{reading.unsupported}, not read]")
    return "\n".join(part for part in parts if part)


def _card_text(content: str) -> str:
    """The words of a whole card, which may stand inside a wrapper as text."""
    body = wire.parse(content) or {}
    inner = body.get("json_card")
    return reader.read("interactive", inner if isinstance(inner, str) else content, _NOBODY).text

"""Reads what a Slack event does not carry: the thread, files of other workspaces, later edits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.domain import Attachment, Json, Material, Mention, Question
from agent.errors import PlatformRefused, PlumblineError
from agent.language import detect
from agent.material import bounded
from connectors import wire
from connectors.slack import reader
from connectors.slack.api import SlackApi

log = logging.getLogger(__name__)

LAST: Final = 3_600.0
"""Seconds before the question that are read first of a thread longer than one page."""
STEP: Final = 8
"""By what factor that span becomes shorter or longer."""
MOST_SPANS: Final = 7
PAGES_OF_SPAN: Final = 3
ENOUGH: Final = 20
"""Messages before the question with which a longer span is not looked into."""
MOST_NAMES: Final = 10
"""Most people of one question whose names are asked for."""
MOST_FILES: Final = 10
_NAMES_KEPT: Final = 1_000

Fields = Mapping[str, Json]


class SlackGatherer:
    """The reading side of Slack, as the bot.

    Args:
        api: the client.
    """

    def __init__(self, api: SlackApi) -> None:
        self._api = api
        self._own: frozenset[str] = frozenset()
        self._names: dict[str, str] = {}

    async def gather(self, question: Question, *, again: bool) -> Question | None:
        """The question with its material; None when its message was deleted."""
        wanted = question.deferred.split()
        found: list[Material] = []
        own: Fields | None = None
        if "thread" in wanted:
            found, own = await self._thread(question)
        if again and "thread" not in wanted:
            try:
                messages = wire.objects(
                    await self._api.message(question.chat.chat, question.chat.message)
                )
            except PlumblineError as error:
                log.info("question not read again: %s", error)
            else:
                if not messages:
                    return None
                own = messages[0]
        if again and own is not None:
            if own.get("subtype") == "tombstone":
                return None
            question = await self._edited(question, own)
        if "files" in wanted:
            question = await self._with_files(question)
        pieces = bounded((*found, *question.material))
        words = question.text or " ".join(p.text for p in pieces if p.kind != "unread")
        language = question.language if question.text.strip() else detect(words, "en")
        return replace(question, material=pieces, deferred="", language=language)

    # --- the message itself --------------------------------------------------------------------

    async def _edited(self, question: Question, message: Fields) -> Question:
        """The question as it reads now, when the asker has edited it."""
        edited = wire.members(message.get("edited"))
        if not edited or message.get("user") != question.asker.user:
            return question
        own = await self._own_ids()
        said = reader.words(message, own)
        people = tuple(Mention(user, wire.name(name)) for user, name in said.people)
        hung = reader.shared(message, own)
        return replace(
            question,
            text=said.text,
            mentions=people[: reader.MAX_PARTS],
            attachments=reader.files(message.get("files")),
            language=detect(said.text or " ".join(piece.text for piece in hung), "en"),
            material=(*hung, *reader.lost_files(message.get("files"))),
        )

    async def _with_files(self, question: Question) -> Question:
        """The question with names and types of files that came as an id only (Slack Connect)."""
        bare = [a for a in question.attachments if not a.name][:MOST_FILES]
        async with asyncio.TaskGroup() as group:
            asked = {a.key: group.create_task(self._file(a)) for a in bare}
        known = {key: task.result() for key, task in asked.items()}
        found = tuple(known.get(a.key, a) for a in question.attachments)
        return replace(question, attachments=found)

    async def _file(self, attachment: Attachment) -> Attachment:
        try:
            info: Json = await self._api.file_info(attachment.key)
        except PlumblineError as error:
            log.info("a file was not found: %s", error)
            return attachment
        return next(iter(reader.files([info])), attachment)

    async def _own_ids(self) -> frozenset[str]:
        """The ids by which our own messages are known: user and bot."""
        if not self._own:
            who = await self._api.auth_test()
            ids = (wire.identifier(who.get("user_id")), wire.identifier(who.get("bot_id")))
            self._own = frozenset(ids) - {""}
        return self._own

    # --- the thread ----------------------------------------------------------------------------

    async def _thread(self, question: Question) -> tuple[list[Material], Fields | None]:
        """Root and replies before the question without our own, and the question's own message."""
        own: frozenset[str] = frozenset()
        messages: dict[str, Fields] = {}
        unread: list[Material] = []
        try:
            own = await self._own_ids()
            await self._read_thread(question, messages)
        except PlumblineError as error:
            log.info("thread not read: %s", error)
            reason = error.reason if isinstance(error, PlatformRefused) else error.code
            part = "the newest" if messages else "the earlier"
            text = f"Not read: {part} messages of this thread (the platform said {reason})."
            unread.append(Material("unread", text=text))
        before = [
            message
            for ts, message in sorted(messages.items(), key=lambda pair: wire.seconds(pair[0]))
            if wire.seconds(ts) < question.asked_at and ts != question.chat.message
        ]
        # A thread of ours in a direct chat is a private answer that no session remembers.
        root = messages.get(question.chat.reply_root, {})
        ours = question.chat.kind == "direct" and bool(_authors(root) & own)
        others = [m for m in before if ours or not _authors(m) & own]
        await self._learn_names(others)
        pieces = [self._piece(message, question, own) for message in others]
        shown = [piece for piece in pieces if piece.text]
        return [*shown, *unread], messages.get(question.chat.message)

    async def _read_thread(self, question: Question, messages: dict[str, Fields]) -> None:
        """Fill in the thread's messages by ts: its root and those just before the question.

        Slack hands a thread out from its beginning only. Of a long one the last span of time is
        read, which becomes shorter until its end is reached, or longer while it holds too little.
        """
        channel, root = question.chat.chat, question.chat.reply_root
        page, cursor = await self._api.thread_page(channel, root)
        messages |= _by_ts(page)
        span, shrunk = LAST, False
        for _ in range(MOST_SPANS):
            if not cursor or (question.chat.message in messages and len(messages) > ENOUGH):
                return
            before = len(messages)
            oldest = f"{max(question.asked_at - span, 0.0):.6f}"
            if not await self._read_span(question, oldest, messages):
                span, shrunk = span / STEP, True
            elif shrunk or len(messages) - before >= ENOUGH or question.asked_at <= span:
                return
            else:
                span *= STEP

    async def _read_span(
        self, question: Question, oldest: str, messages: dict[str, Fields]
    ) -> bool:
        """Whether the question was reached from this time on within a few pages."""
        cursor = ""
        for _ in range(PAGES_OF_SPAN):
            page, cursor = await self._api.thread_page(
                question.chat.chat, question.chat.reply_root, cursor, oldest=oldest
            )
            messages |= _by_ts(page)
            if not cursor or question.chat.message in messages:
                return True
        return False

    def _piece(self, message: Fields, question: Question, own: frozenset[str]) -> Material:
        is_root = message.get("ts") == question.chat.thread
        return Material(
            "parent" if is_root else "thread",
            self._author(message, question),
            wire.seconds(message.get("ts")),
            reader.spoken(message, own),
        )

    def _author(self, message: Fields, question: Question) -> str:
        user = wire.identifier(message.get("user"))
        if message.get("bot_id") or message.get("bot_profile"):
            profile = wire.members(message.get("bot_profile"))
            name = wire.name(message.get("username") or profile.get("name")) or user
            return f"{name or 'another bot'} (a bot)"
        if user == question.asker.user and question.asker.name:
            return question.asker.name
        return self._names.get(user) or user

    async def _learn_names(self, messages: Sequence[Fields]) -> None:
        """Ask for the names of the people who spoke last."""
        users = (wire.identifier(m.get("user")) for m in reversed(messages) if not m.get("bot_id"))
        unknown = [user for user in dict.fromkeys(users) if user and user not in self._names]
        async with asyncio.TaskGroup() as group:
            for user in unknown[:MOST_NAMES]:
                group.create_task(self._learn(user))

    async def _learn(self, user: str) -> None:
        try:
            name = wire.name(await self._api.person_name(user))
        except PlumblineError as error:
            log.info("a name was not found: %s", error.code)
            return
        if len(self._names) >= _NAMES_KEPT:
            self._names.clear()
        self._names[user] = name


def _authors(message: Fields) -> frozenset[str]:
    """The user and the bot that a message names as its author."""
    return frozenset(wire.identifier(message.get(key)) for key in ("user", "bot_id"))


def _by_ts(page: Sequence[object]) -> dict[str, Fields]:
    found = wire.objects(list(page))
    return {wire.text(message.get("ts")): message for message in found if message.get("ts")}

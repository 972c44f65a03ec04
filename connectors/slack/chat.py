"""The Chat port on Slack: reactions, notices and the streamed answer.

A stream only grows, and Slack closes it about five minutes after its start (SLACK.md §3.1): text
that does not go on from what was sent waits, and after four and a half minutes the message is
edited as a whole instead.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from agent.domain import ChatRef, Identity, Source
from agent.errors import PlatformRefused, PlumblineError, Unavailable
from agent.ports import Clock, Control, Frame, Sign
from connectors.markup.pages import split_exact
from connectors.markup.renderer import IncrementalRenderer
from connectors.private import PrivateAnswer, quote
from connectors.slack.api import SlackApi
from connectors.slack.blocks import (
    FALLBACK,
    PAGE,
    SECTION,
    Page,
    answer_pages,
    control_blocks,
    own_words,
    section,
)
from connectors.slack.markup import markdown_writer
from connectors.web import part

log = logging.getLogger(__name__)

PACE: Final = 1.25
"""Seconds between two shows: at most 48 edits a minute, of the 50 that Slack takes."""
LIFETIME: Final = 270.0
"""Seconds after which a stream is closed by us; Slack does so at about 300."""
SHORT: Final = 600
"""Characters of an answer that is shown beside the question: what is ephemeral is soon gone."""
_EVENT: Final = "plumbline_message"
_CLOCK_SKEW: Final = 120.0
_SIGNS: Final[dict[Sign, str]] = {"seen": "eyes", "failed": "warning"}
_NOT_STREAMING: Final = "message_not_in_streaming_state"
_TOO_BIG: Final = frozenset(
    ("msg_too_long", "msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format")
)
_SHUT: Final = frozenset(("is_archived", "channel_type_not_supported"))
_NOT_THERE: Final = _SHUT | {"not_in_channel", "channel_not_found", "user_not_in_channel"}
"""Nobody may write in the channel, or we or the person are not there."""

Mode = Literal["new", "stream", "edit"]
"""How the message stands: nothing posted, a stream that takes more, a message to edit."""


class SlackChat:
    """The conversation side of Slack.

    Args:
        api: the client.
        clock: time.
    """

    def __init__(self, api: SlackApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def react(self, chat: ChatRef, sign: Sign) -> None:
        """Put a sign on the question. A sign that is refused is only logged."""
        try:
            await self._api.react(chat.chat, chat.message, _SIGNS[sign])
        except PlumblineError as error:
            log.info("reaction not set: %s", error.code)

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> SlackAnswer:
        """An answer to a question; nothing is posted before its first words.

        `handle` lets a successor go on with the same message; a retry needs no `attempt` here.
        """
        del attempt
        return SlackAnswer(self._api, self._clock, chat, asker, turn, handle)

    def begin_privately(
        self, chat: ChatRef, asker: Identity, turn: str, about: str
    ) -> PrivateAnswer:
        """An answer that the asker alone sees: beside the question when it is short.

        A longer one streams in the direct chat, in the thread of a message that quotes the
        question, since a stream is always a reply.
        """

        async def opened() -> SlackAnswer:
            channel = await self._api.open_direct(asker.user)
            text = own_words(quote(about))
            ts = await self._api.post(channel, "", {"text": text})
            return SlackAnswer(self._api, self._clock, ChatRef(channel, "direct", ts), asker, turn)

        async def beside(frame: Frame) -> bool:
            return await self._show_beside(chat, asker, frame)

        return PrivateAnswer(opened, PACE, SHORT, beside)

    async def _show_beside(self, chat: ChatRef, asker: Identity, frame: Frame) -> bool:
        """Show a whole short answer to the asker alone; False when Slack does not take it."""
        page = answer_pages(frame)[0]
        for content in (page.rich(), page.sections(), page.bare()):
            try:
                await self._api.post_ephemeral(
                    chat.chat, asker.user, chat.thread or "", content["text"], content["blocks"]
                )
            except PlatformRefused as error:
                if error.reason not in _TOO_BIG:
                    log.info("no ephemeral message, so a direct one: %s", error.reason)
                    return False
            else:
                return True
        return False

    async def say(self, chat: ChatRef, text: str, key: str) -> None:
        """Post a notice as a reply; after a lost answer the thread is searched for it first."""
        await post_once(self._api, self._clock, chat, {"text": own_words(text)}, key)

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None:
        """Tell the asker alone: where the question stands, else in the direct chat.

        `key` is not needed for that.
        """
        del key
        root = "" if chat.thread is None else chat.thread
        words = own_words(text)
        blocks = [*map(section, split_exact(words, SECTION)), *control_blocks(controls)]
        shown = blocks if controls else []
        try:
            await self._api.post_ephemeral(chat.chat, asker.user, root, words, shown)
        except PlatformRefused as error:
            if error.reason not in _NOT_THERE:
                raise
            channel = await self._api.open_direct(asker.user)
            await self._api.post(channel, "", {"text": words, "blocks": shown})

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        """Post to the channel; returns the ts."""
        named = f"<@{person}> " if person.isalnum() else ""
        marked = {"metadata": {"event_type": _EVENT, "event_payload": {"key": key}}}
        return await self._api.post(chat, "", {"text": named + own_words(text), **marked})


async def post_once(
    api: SlackApi,
    clock: Clock,
    chat: ChatRef,
    content: dict[str, Any],
    key: str,
    *,
    uncertain: bool = False,
) -> str:
    """Post a reply that carries its key; returns its ts.

    `uncertain` says that an earlier try had no answer: the thread is searched for the key first.
    A try without an answer is looked up at once.
    """
    if uncertain and (found := await _find(api, clock, chat, key)):
        return found
    marked = content | {"metadata": {"event_type": _EVENT, "event_payload": {"key": key}}}
    try:
        return await api.post(chat.chat, chat.reply_root, marked)
    except Unavailable:
        if found := await _find(api, clock, chat, key):
            return found
        raise


async def _find(api: SlackApi, clock: Clock, chat: ChatRef, key: str) -> str:
    """The ts of the reply that carries the key; "" when there is none or it can not be seen."""
    oldest = f"{clock.now() - LIFETIME * 4 - _CLOCK_SKEW:.6f}"
    try:
        messages = await api.replies(chat.chat, chat.reply_root, oldest)
    except PlatformRefused as error:
        log.info("thread not searched: %s", error.reason)
        return ""
    for message in messages:
        if part(part(message, "metadata"), "event_payload").get("key") == key:
            return str(message.get("ts", ""))
    return ""


class SlackAnswer:
    """One streamed answer, edited as a whole once its stream is closed."""

    def __init__(
        self,
        api: SlackApi,
        clock: Clock,
        chat: ChatRef,
        asker: Identity,
        turn: str,
        handle: str = "",
    ) -> None:
        self._api = api
        self._clock = clock
        self._chat = chat
        self._asker = asker
        self._turn = turn
        known: dict[str, Any] = json.loads(handle) if handle else {}
        self._ts: str = known.get("ts", "")
        # A successor does not know how much was sent, so it edits the whole message.
        self._mode: Mode = "edit" if self._ts else "new"
        self._open_stream = bool(known.get("stream"))
        self._opened = 0.0
        self._sent = ""
        self._status = ""
        self._takes_status = True
        self._uncertain = False
        self._delivered = 0
        self._sources: Mapping[str, Source] = {}
        self._renderer = IncrementalRenderer(markdown_writer(), self._sources)

    @property
    def pace(self) -> float:
        """The least number of seconds between two shows."""
        return PACE

    @property
    def handle(self) -> str:
        """The message's ts and whether it is a stream, as JSON text."""
        if not self._ts:
            return ""
        return json.dumps({"ts": self._ts, "stream": self._mode == "stream"})

    async def show(self, frame: Frame) -> None:
        """Send what was added to the text; the progress line goes to the thread's status."""
        text = self._rendered(frame)
        if frame.progress or self._mode != "new":
            await self._set_status(frame.progress)
        if not text or len(text) > PAGE:
            return
        if self._mode == "stream" and self._clock.now() - self._opened >= LIFETIME:
            await self._close_stream({})
        if self._mode == "new":
            await self._start(text)
        elif self._mode == "stream":
            await self._append(text)
        elif text != self._sent:
            await self._close_inherited()
            content = {"text": text[:FALLBACK], "blocks": [{"type": "markdown", "text": text}]}
            await self._api.update(self._chat.chat, self._ts, content)
            self._sent = text

    async def finish(self, frame: Frame) -> None:
        """Deliver the whole answer: in the streamed message, the rest as replies."""
        pages = answer_pages(frame)
        if not self._delivered and self._mode != "new":
            if not await self._finish_message(pages[0]):
                self._ts, self._mode = "", "new"
            else:
                self._delivered = 1
        while self._delivered < len(pages):
            await self._post(pages[self._delivered], self._delivered)
            self._delivered += 1
        if self._status:
            await self._set_status("")

    # --- while it grows ------------------------------------------------------------------------

    def _rendered(self, frame: Frame) -> str:
        sources = frame.sources or {}
        if sources.keys() != self._sources.keys():
            self._sources = dict(sources)
            self._renderer = IncrementalRenderer(markdown_writer(), self._sources)
        return self._renderer.render(frame.text)

    async def _set_status(self, line: str) -> None:
        if line == self._status or not self._takes_status:
            return
        try:
            await self._api.set_status(self._chat.chat, self._chat.reply_root, line)
        except PlumblineError as error:
            log.info("status not set: %s", error.code)
            self._takes_status = not isinstance(error, PlatformRefused)
        else:
            self._status = line

    async def _start(self, text: str) -> None:
        if self._uncertain:
            return  # a stream may stand there already; the last frame settles it
        asker = self._asker
        try:
            self._ts = await self._api.start_stream(
                self._chat.chat, self._chat.reply_root, asker.tenant, asker.user, text
            )
        except Unavailable:
            self._uncertain = True
            raise
        except PlatformRefused as error:
            log.info("no stream, so a message that is edited: %s", error.reason)
            content = {"text": text[:FALLBACK], "blocks": [{"type": "markdown", "text": text}]}
            self._ts = await post_once(
                self._api, self._clock, self._chat, content, f"{self._turn} 0"
            )
            self._mode, self._sent = "edit", text
            return
        self._opened, self._mode, self._sent = self._clock.now(), "stream", text
        self._status = ""  # a reply takes the status away

    async def _append(self, text: str) -> None:
        if text == self._sent or not text.startswith(self._sent):
            return
        try:
            await self._api.append_stream(self._chat.chat, self._ts, text[len(self._sent) :])
        except PlatformRefused as error:
            if error.reason != _NOT_STREAMING:
                raise
            self._mode = "edit"
        except Unavailable:
            # Whether the words arrived is not known: from now on the whole message is edited.
            self._mode, self._open_stream = "edit", True
            raise
        else:
            self._sent = text

    async def _close_stream(self, content: dict[str, Any]) -> bool:
        """End the stream; False when it had ended already, so that `content` was not taken."""
        taken = True
        try:
            await self._api.stop_stream(self._chat.chat, self._ts, content)
        except PlatformRefused as error:
            log.info("stream not ended: %s", error.reason)
            taken = False
        self._mode, self._open_stream = "edit", False
        return taken

    async def _close_inherited(self) -> None:
        """End a stream whose state is not known before its message is edited."""
        if self._open_stream:
            await self._close_stream({})

    # --- the end -------------------------------------------------------------------------------

    async def _finish_message(self, page: Page) -> bool:
        """Put the first page into the message that stands; False when it can not be edited."""
        if self._mode == "stream":
            grows = page.markdown.startswith(self._sent)
            rest = page.markdown[len(self._sent) :] if grows else ""
            tail = page.tail_blocks if grows else []
            content: dict[str, Any] = {"blocks": tail} if tail else {}
            if rest:
                content["markdown_text"] = rest
            try:
                if await self._close_stream(content) and grows:
                    return True
            except Unavailable:
                self._mode, self._open_stream = "edit", True
                raise
        await self._close_inherited()
        return await self._edit(page)

    async def _edit(self, page: Page) -> bool:
        for content in (page.rich(), page.sections(), page.bare()):
            try:
                await self._api.update(self._chat.chat, self._ts, content)
            except PlatformRefused as error:
                log.info("message not edited: %s", error.reason)
                if error.reason not in _TOO_BIG:
                    return False  # it was deleted, or may not be edited any more
            else:
                return True
        return False

    async def _post(self, page: Page, number: int) -> None:
        key = f"{self._turn} {number}"
        for content in (page.rich(), page.sections(), page.bare()):
            try:
                ts = await post_once(
                    self._api, self._clock, self._chat, content, key, uncertain=self._uncertain
                )
            except PlatformRefused as error:
                if error.reason not in _TOO_BIG:
                    raise
            except Unavailable:
                self._uncertain = True
                raise
            else:
                self._ts = self._ts or ts
                return
        raise PlatformRefused("Slack takes the answer in no form", reason="msg_too_long")

"""The Chat port on Feishu: reactions, notices and the streaming answer card.

A card's operations carry a strictly rising sequence. The platform ends streaming about ten minutes
after it was switched on; from then on the card takes a whole new content at best, and if not that,
the answer goes out as a new message (FEISHU.md §4).
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.domain import ChatRef, Identity, Source
from agent.errors import PlatformRefused, PlumblineError
from agent.markers import is_refusal
from agent.ports import Clock, Control, Frame, Sign
from connectors import wording
from connectors.feishu import card as cards
from connectors.feishu.api import FeishuApi
from connectors.feishu.markup import TABLES, card_writer
from connectors.markup.renderer import IncrementalRenderer
from connectors.private import PrivateAnswer, quote

log = logging.getLogger(__name__)

PACE: Final = 0.5
"""Seconds between two shows; one may be two operations, and a card takes ten a second."""
LIFETIME: Final = 570.0
"""Seconds after which streaming is ended by us; the platform does so at about 600."""
SEQUENCES_PER_ATTEMPT: Final = 100_000
_JUMP: Final = 1_000
_EMOJI: Final[dict[Sign, str]] = {"seen": "OnIt", "failed": "CrossMark"}
_STREAM_ENDED: Final = frozenset(("200850", "300309"))
_OLD_SEQUENCE: Final = "300317"
_BAD_CARD: Final = frozenset(("230099", "230001", "230025", "300305"))
_TARGET_GONE: Final = frozenset(("230011", "231003"))


class FeishuChat:
    """The conversation side of Feishu.

    Args:
        api: the client.
        clock: time.
    """

    def __init__(self, api: FeishuApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def react(self, chat: ChatRef, sign: Sign) -> None:
        """Put a sign on the question. A sign that is refused is only logged."""
        try:
            await self._api.react(chat.message, _EMOJI[sign])
        except PlumblineError as error:
            log.info("reaction not set: %s", error.code)

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> FeishuAnswer:
        """An answer to a question; nothing is posted before its first show.

        `handle` and `attempt` (0 for the first) let a successor go on with the same card.
        """
        del asker
        return FeishuAnswer(self._api, self._clock, chat, turn, handle, attempt)

    def begin_privately(
        self, chat: ChatRef, asker: Identity, turn: str, about: str
    ) -> PrivateAnswer:
        """An answer in the asker's direct chat, under the question that it is about.

        The card that only one person of a group sees is not used: it reaches clients that are
        online, streams in none and is in no contract (ADR 0019).
        """
        del chat

        async def opened() -> FeishuAnswer:
            quoted = await self._api.send(
                asker.user, "open_id", "text", _text(quote(about)), short(f"{turn} about")
            )
            return FeishuAnswer(self._api, self._clock, ChatRef("", "direct", quoted), turn)

        return PrivateAnswer(opened, PACE)

    async def say(self, chat: ChatRef, text: str, key: str) -> None:
        """Post a notice as a reply; the same key posts once within an hour."""
        await reply(self._api, chat, "text", _text(text), key)

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None:
        """Tell the asker alone: in the direct chat with the bot."""
        del chat
        kind, content = "text", _text(text)
        if controls:
            kind = "interactive"
            content = json.dumps(cards.note_card(text, controls), ensure_ascii=False)
        await self._api.send(asker.user, "open_id", kind, content, short(key))

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        """Post to the chat; the same key posts once within an hour."""
        named = f'<at user_id="{person}"></at> ' if person.replace("_", "").isalnum() else ""
        content = json.dumps({"text": named + _safe(text)}, ensure_ascii=False)
        return await self._api.send(chat, "chat_id", "text", content, short(key))


def short(key: str) -> str:
    """A key in the at most 50 characters that the platform takes."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _text(text: str) -> str:
    """Plain words as message content; an angle bracket would be read as a mention's tag."""
    return json.dumps({"text": _safe(text)}, ensure_ascii=False)


def _safe(text: str) -> str:
    return text.replace("<", "＜").replace(">", "＞")


async def reply(api: FeishuApi, chat: ChatRef, msg_type: str, content: str, key: str) -> str:
    """Reply to the question, or post to its chat when the question is gone; returns the id."""
    try:
        return await api.reply(chat.message, msg_type, content, short(key), in_thread=chat.topic)
    except PlatformRefused as error:
        if error.reason not in _TARGET_GONE:
            raise
    return await api.send(chat.chat, "chat_id", msg_type, content, short(f"{key} anew"))


class FeishuAnswer:
    """One answer card, edited in place until it is done."""

    def __init__(
        self,
        api: FeishuApi,
        clock: Clock,
        chat: ChatRef,
        turn: str,
        handle: str = "",
        attempt: int = 0,
    ) -> None:
        self._api = api
        self._clock = clock
        self._chat = chat
        self._turn = turn
        known: dict[str, Any] = json.loads(handle) if handle else {}
        self._card: str = known.get("card", "")
        self._message: str = known.get("message", "")
        self._opened: float = known.get("opened", 0.0)
        self._sequence = max(known.get("sequence", 0), attempt * SEQUENCES_PER_ATTEMPT)
        self._streaming = bool(self._card)
        self._shown = {cards.ANSWER: "", cards.PROGRESS: ""}
        self._sources: Mapping[str, Source] = {}
        self._renderer = IncrementalRenderer(card_writer(), self._sources)
        self._delivered = 0
        self._tables = TABLES

    @property
    def pace(self) -> float:
        """The least number of seconds between two shows."""
        return PACE

    @property
    def handle(self) -> str:
        """Card, message and sequence as JSON text."""
        if not self._message:
            return ""
        return json.dumps(
            {
                "card": self._card,
                "message": self._message,
                "opened": self._opened,
                "sequence": self._sequence,
            }
        )

    async def show(self, frame: Frame) -> None:
        """Show what is certain of the text, and the progress line."""
        text, progress = self._rendered(frame), cards.plain(frame.progress)
        if not self._message:
            await self._open(frame, text, progress)
        elif self._streaming and self._clock.now() - self._opened >= LIFETIME:
            await self._end_streaming(frame)
        elif self._streaming:
            await self._set(cards.ANSWER, text)
            await self._set(cards.PROGRESS, progress)

    async def finish(self, frame: Frame) -> None:
        """Deliver the whole answer: on the card, else as new messages."""
        if not self._delivered and self._message and await self._finish_card(frame):
            self._delivered = 1
        while self._delivered < len(self._pages(frame)):
            await self._post(frame, self._delivered)

    def _pages(self, frame: Frame) -> tuple[cards.CardText, ...]:
        return cards.card_texts(frame, self._tables)

    # --- streaming -----------------------------------------------------------------------------

    def _rendered(self, frame: Frame) -> str:
        sources = frame.sources or {}
        if sources.keys() != self._sources.keys():
            self._sources = dict(sources)
            self._renderer = IncrementalRenderer(card_writer(), self._sources)
        text = self._renderer.render(frame.text)
        # A longer answer waits for its second card, which is made when it is whole.
        return text if cards.size(text) <= cards.TEXT_LIMIT else self._shown[cards.ANSWER]

    async def _open(self, frame: Frame, text: str, progress: str) -> None:
        if not self._card:
            card = cards.streaming_card(frame.language, text, progress)
            self._card = await self._api.create_card(card)
            self._opened = self._clock.now()
            self._shown = {cards.ANSWER: text, cards.PROGRESS: progress}
        content = json.dumps({"type": "card", "data": {"card_id": self._card}})
        key = f"{self._turn} answer 0"
        self._message = await reply(self._api, self._chat, "interactive", content, key)
        self._streaming = True

    def _next(self) -> tuple[int, str]:
        self._sequence += 1
        return self._sequence, short(f"{self._turn} {self._card} {self._sequence}")

    async def _set(self, element: str, text: str) -> None:
        if text == self._shown[element] or not self._streaming:
            return
        for again in (False, True):
            sequence, uuid = self._next()
            try:
                # An empty text is refused by some clients' renderers; a blank shows nothing.
                await self._api.card_element(self._card, element, text or " ", sequence, uuid)
            except PlatformRefused as error:
                if error.reason in _STREAM_ENDED:
                    self._streaming = False
                    return
                if error.reason != _OLD_SEQUENCE or again:
                    raise
                self._sequence += _JUMP
            else:
                self._shown[element] = text
                return

    async def _end_streaming(self, frame: Frame) -> None:
        """Switch streaming off so that the chat list stops saying that text is generated."""
        state = _state(frame) if frame.done else "working"
        title = cards.summary(frame.language, state, frame.text)
        config = {"streaming_mode": False, "summary": {"content": title}}
        try:
            await self._api.card_settings(self._card, {"config": config}, *self._next())
        except PlatformRefused as error:
            log.info("streaming not switched off: %s", error.reason)
        self._streaming = False

    # --- the end -------------------------------------------------------------------------------

    async def _finish_card(self, frame: Frame) -> bool:
        """Put the final card in place of the streaming one; False when it takes none."""
        jumps = 0
        while True:
            card = cards.final_card(frame.language, _state(frame), self._pages(frame)[0])
            try:
                await self._api.update_card(self._card, card, *self._next())
            except PlatformRefused as error:
                if error.reason == _OLD_SEQUENCE and jumps < 2:
                    jumps += 1
                    self._sequence += _JUMP
                elif error.reason in _BAD_CARD and self._tables:
                    self._tables = 0
                else:
                    log.info("card takes no final text: %s", error.reason)
                    if self._streaming and error.reason not in _STREAM_ENDED:
                        await self._end_streaming(frame)
                    return False
            else:
                break
        if self._streaming:
            await self._end_streaming(frame)
        return True

    async def _post(self, frame: Frame, part: int) -> None:
        """Post a page as a card of its own, or all of the answer as a text when it is refused."""
        pages = self._pages(frame)
        card = cards.final_card(frame.language, _state(frame), pages[part])
        content = json.dumps(card, ensure_ascii=False)
        key = f"{self._turn} final {part} {self._tables}"
        try:
            message = await reply(self._api, self._chat, "interactive", content, key)
        except PlatformRefused as error:
            if error.reason not in _BAD_CARD:
                raise
            if self._tables and part == 0:
                self._tables = 0
                return
            text = _text(cards.plain_text(frame))
            message = await reply(self._api, self._chat, "text", text, f"{self._turn} text")
            self._delivered = len(pages)
        else:
            self._delivered += 1
        self._message = self._message or message


def _state(frame: Frame) -> wording.CardState | None:
    """What the card is headed with; None for our own words: no source and no button is theirs."""
    if is_refusal(frame.text):
        return "refused"
    if not frame.text.strip():
        return "failed"
    return "done" if frame.sources or frame.controls else None

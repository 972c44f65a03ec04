"""Where an answer appears: in its chat, or before the asker alone with a neutral line there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Self

from agent import phrases
from agent.audience import ORGANISATION, Audience, narrowed
from agent.desk import Desk
from agent.dialogue import Capability, ModelEvent, ModelRequest, TextDelta
from agent.domain import Answer, Source
from agent.durable.records import TurnRecord
from agent.errors import PlatformRefused, PlumblineError
from agent.loop import Voice
from agent.ports import Model
from agent.stream import AnswerStream, Posted

log = logging.getLogger(__name__)


class Delivery:
    """The way of one turn's words to those who may read them.

    In a group it stands between the loop and both its model and its voice: who may read the words
    of a step is known when the step's request is made, and is found out while the model begins.
    Words that the chat may not read go to the asker's direct chat. `handle` is that of the message
    which an attempt before this one has posted in the chat.
    """

    def __init__(
        self, desk: Desk, record: TurnRecord, key: str, posted: Posted, handle: str = ""
    ) -> None:
        self._desk, self._record, self._key = desk, record, key
        self._handle = handle
        self._grouped = record.question.chat.kind == "group"
        self.room = self._target = self._stream(key, posted)
        self._audience = Audience(desk.rooms, desk.directory, record.question)
        self._sources: Mapping[str, Source] = {}
        self._start = ORGANISATION
        self._asked: frozenset[str] | None = None
        self._check: asyncio.Task[bool] | None = None
        self._alone: AnswerStream | None = None

    def _stream(self, key: str, posted: Posted | None) -> AnswerStream:
        asker, chat = self._record.question.asker, self._record.question.chat
        message = (
            self._desk.chat.begin_privately(chat, asker, key, self._record.question.text)
            if posted is None
            else self._desk.chat.begin(chat, asker, key, self._handle, self._record.attempt - 1)
        )
        language = self._record.question.language
        return AnswerStream(
            message, self._desk.clock, turn=self._record.turn, language=language, posted=posted
        )

    @property
    def model(self) -> Model:
        """What the loop asks."""
        return self if self._grouped else self._desk.model

    @property
    def voice(self) -> Voice:
        """What the loop speaks with."""
        return self if self._grouped else self.room

    @property
    def label(self) -> frozenset[str]:
        """Who may read what the model's next words rest on."""
        return narrowed(self._start, (s.readers for s in self._sources.values()))

    @property
    def private(self) -> bool:
        """Whether the words go to the asker alone."""
        return self._target is not self.room

    def rests_on(self, history: Iterable[frozenset[str]], sources: Mapping[str, Source]) -> None:
        """Say what the words rest on: labels of the history, and a table that goes on growing."""
        self._start, self._sources = narrowed(ORGANISATION, history), sources

    async def finish(self, answer: Answer, notice: str, sources: Mapping[str, Source]) -> None:
        """Deliver the whole answer to those who may read it.

        Raises what AnswerStream.finish raises; a direct chat that can not be opened is told in the
        group.
        """
        turn, language = self._record.turn, self._record.question.language
        controls = self._desk.manners.buttons(turn, language, answer, private=self.private)
        try:
            await self._target.finish(
                answer.text, notice=notice, sources=sources, controls=controls
            )
        except PlatformRefused as error:
            if not self.private:
                raise
            await self.room.finish("", notice=phrases.error(language, error.code), sources={})
        else:
            if self.private:
                await self.room.finish(phrases.kept_private(language), sources={})

    # --- as the loop's voice -------------------------------------------------------------------

    def progress(self, line: str) -> None:
        """Show in the chat what kind of source is looked at; that is all a room hears."""
        self.room.progress(line)

    def delta(self, text: str) -> None:
        """Add words where this step's words go."""
        self._target.delta(text)

    def replace(self, text: str) -> None:
        """Put other words in place of all so far."""
        self._target.replace(text)

    def sources(self, table: Mapping[str, Source]) -> None:
        """What was found is shown nowhere before it is known who may read it (aim)."""
        del table

    # --- as the loop's model -------------------------------------------------------------------

    def capability(self) -> Capability:
        """The model's own."""
        return self._desk.model.capability()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The model's reply; its first word waits until it is known who may read it."""
        self._ask()
        aimed = False
        async for event in self._desk.model.stream(request):
            if not aimed and isinstance(event, TextDelta):
                await self.aim()
                aimed = True
            yield event

    def _ask(self) -> asyncio.Task[bool]:
        """Find out beside the model whether the chat may read what it will say."""
        label = self.label
        if self._check is None or label != self._asked:
            if self._check is not None:
                self._check.cancel()
            self._asked, self._check = label, asyncio.create_task(self._may_read(label))
        return self._check

    async def _may_read(self, label: frozenset[str]) -> bool:
        try:
            return await self._audience.may_read(label)
        except PlumblineError as error:
            log.warning("readers of turn %s are not known: %s", self._record.turn, error.code)
            return False

    async def aim(self) -> None:
        """Choose where the words go; those that went elsewhere were provisional."""
        if not self._grouped:
            return
        target = self.room
        if not await self._ask():
            if self._alone is None:
                self._alone = self._stream(f"{self._key} private", None)
                self._alone.open()
            target = self._alone
        target.sources(dict(self._sources))
        if target is not self._target:
            self._target.replace("")
            self._target = target

    async def __aenter__(self) -> Self:
        self.room.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._check is not None:
            # A question about readers that nobody waits for any more.
            self._check.cancel()
            await asyncio.wait((self._check,))
        try:
            if self._alone is not None:
                await self._alone.close()
        finally:
            await self.room.close()

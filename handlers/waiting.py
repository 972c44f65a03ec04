"""Tells a person alone what became of a question that waits, was asked twice or got lost."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent import phrases
from agent.durable import inbox
from agent.durable.lock import Lease
from agent.durable.records import TurnRecord
from agent.errors import PlumblineError
from handlers.surface import feedback, forgetting, replies
from handlers.surface.places import pressed_at

if TYPE_CHECKING:
    from handlers.wiring import Workplace

log = logging.getLogger(__name__)

_NOBODY_WAITS: Final = frozenset((forgetting.FORGET, "welcome"))
"""Acts that no person has asked for."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that this worker has just ended, and when, in seconds since the epoch."""

    record: TurnRecord
    at: float


async def tell_place(workplace: Workplace, record: TurnRecord) -> None:
    """Tell the asker of a waiting question what it waits for, once and privately."""
    if record.question.act or record.state != "RECEIVED":
        return
    ahead = await inbox.ahead(workplace.table, record)
    if not ahead:
        return
    language = record.question.language
    if any(_same(record, other) for other in ahead):
        await _tell(workplace, record, replies.doubled(language))
    else:
        await _tell(workplace, record, replies.queued(language, len(ahead)))


def repeats(record: TurnRecord, before: Ended | None) -> bool:
    """Whether the question came while the very same one of this person was being answered."""
    return before is not None and record.received_at <= before.at and _same(record, before.record)


async def end_repeated(workplace: Workplace, record: TurnRecord, lease: Lease) -> None:
    """End the second of two equal questions: the first one's answer is for both."""
    await _tell(workplace, record, replies.doubled(record.question.language))
    await inbox.finish(workplace.table, workplace.clock, record, lease, "CANCELLED")


async def tell_lost(workplace: Workplace, record: TurnRecord, fault: Exception) -> None:
    """Tell the person whose turn could not be delivered where it was asked; nobody waits for some.

    What can not be told in any place is logged.
    """
    question = record.question
    if question.act in _NOBODY_WAITS:
        return
    code = fault.code if isinstance(fault, PlumblineError) else PlumblineError.code
    text = phrases.error(question.language, code)
    try:
        chat = workplace.chat(question.asker.platform)
        await chat.whisper(pressed_at(question), question.asker, text, f"{record.turn} lost")
    except PlumblineError as error:
        log.warning("turn %s: nobody was told that it is lost: %s", record.turn, error.code)


def _same(record: TurnRecord, other: TurnRecord) -> bool:
    one, two = record.question, other.question
    words = one.text.split()
    return (
        bool(words)
        and not (one.act or two.act)
        and words == two.text.split()
        and one.asker.user == two.asker.user
        and one.attachments == two.attachments
    )


async def _tell(workplace: Workplace, record: TurnRecord, text: str) -> None:
    """Whisper once for each turn, however often its ring comes."""
    by = workplace.ids.new()
    if not await feedback.claim(
        workplace.table, workplace.clock, record.org, record.turn, "waits", by
    ):
        return
    question = record.question
    try:
        chat = workplace.chat(question.asker.platform)
        await chat.whisper(question.chat, question.asker, text, f"{record.turn} waits")
    except PlumblineError as error:
        log.warning("turn %s: nobody was told that it waits: %s", record.turn, error.code)

"""What the model hears of a thread: its earlier turns, then the question with its context."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent import material, phrases
from agent.dialogue import Message, Text
from agent.domain import Question
from agent.durable import keys, snapshot
from agent.durable.private_context import Context
from agent.durable.records import TurnRecord
from agent.durable.snapshot import Exchange, Snapshot
from agent.ports import Table

_MARKERS = re.compile(r"\s*\[src:[^\]\n]*\]|^\s*\[no-answer\]\s*")
_NOT_IN_A_NAME = re.compile(r"[<>\x00-\x1f]+")
_DEFAULT_ZONE = "UTC"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


async def recall(table: Table, record: TurnRecord) -> Snapshot:
    """The memory of the question's session.

    A thread that is opened under a message of a direct chat starts with that message's exchange, so
    that a follow-up in the thread understands the turn it stands under. A retry does not hear the
    answer that it replaces.
    """
    own = await snapshot.load(table, record.session)
    chat = record.question.chat
    if record.question.act == "retry":
        own = replace(own, exchanges=tuple(e for e in own.exchanges if e.message != chat.message))
    if own.version or chat.kind != "direct" or chat.thread is None:
        return own
    top = keys.session_id(record.question.asker, replace(chat, thread=None))
    above = await snapshot.load(table, top)
    return replace(own, exchanges=tuple(e for e in above.exchanges if e.message == chat.thread))


def heard(thread: Snapshot, own: Context) -> tuple[Exchange, ...]:
    """The exchanges as the asker knows them: with what they alone were answered."""
    if not own:
        return thread.exchanges
    return tuple(
        replace(e, answer=own[e.message][0], readers=own[e.message][1]) if e.message in own else e
        for e in thread.exchanges
    )


def labels(question: Question, history: tuple[Exchange, ...]) -> tuple[frozenset[str], ...]:
    """The readers of each piece that a turn's first request holds.

    What comes along in a direct chat is the asker's own; in a group it stands there already.
    """
    asker = question.asker
    mine = frozenset((f"person:{asker.platform}:{asker.user}",))
    brought = (mine,) if question.material and question.chat.kind == "direct" else ()
    return (*brought, *(e.readers for e in history))


def conversation(exchanges: tuple[Exchange, ...], question: str) -> tuple[Message, ...]:
    """The messages of a turn's first request.

    Earlier answers come without their markers: a source may be cited only when this turn's tools
    have shown it to this asker.
    """
    messages: list[Message] = []
    for exchange in exchanges:
        messages.append(Message("user", (Text(exchange.question),)))
        messages.append(Message("assistant", (Text(_MARKERS.sub("", exchange.answer)),)))
    messages.append(Message("user", (Text(question),)))
    return tuple(messages)


def with_context(question: Question, default_zone: str) -> str:
    """The question as the model reads it: date, time zone and name stand before the words.

    They are part of the message, not of the policy, so that the prompt's prefix stays the same from
    turn to turn and can be cached; the date is the question's own, so a later turn repeats it.
    What came along as material stands inside the context, as data.
    """
    zone = _zone(question.time_zone or default_zone)
    asked = datetime.fromtimestamp(question.asked_at, zone)
    at = f"{asked.date()} ({_DAYS[asked.weekday()]}) {asked.hour:02}:{asked.minute:02}"
    name = question.asker.name and _NOT_IN_A_NAME.sub(" ", question.asker.name).strip()
    who = f" Asker: {name}." if name else ""
    context = f"Asked on {at} {zone.key}.{who}"
    if not question.material:
        return f"<context>{context}</context>\n\n{question.text}"
    block = material.block(question.material, zone)
    if question.text.strip():
        return f"<context>{context}\n{block}</context>\n\n{question.text}"
    # Without words of the asker's own the material is what there is to search for.
    task = phrases.summarise(question.language)
    return f"<context>{context}\n{task}</context>\n\n{block}"


def unheard(question: Question, thread: Snapshot) -> Question:
    """The question without what the thread's memory has already: replies before its last turn."""
    last = max((exchange.at for exchange in thread.exchanges), default=0.0)
    new = tuple(
        piece
        for piece in question.material
        if piece.kind not in ("parent", "thread") or piece.at > last
    )
    return question if len(new) == len(question.material) else replace(question, material=new)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder's name, one too long
        return ZoneInfo(_DEFAULT_ZONE)

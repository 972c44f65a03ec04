"""What the worker does about a press or another act that is no question: each tells one person."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from agent import phrases
from agent.desk import Desk
from agent.domain import EVERYONE, Language
from agent.durable import answers, keys, pauses, snapshot
from agent.durable.answers import StoredAnswer
from agent.durable.intake import take
from agent.durable.outbox import Outbox
from agent.durable.records import TurnRecord
from agent.durable.snapshot import Snapshot
from agent.language import detect
from agent.ports import Control
from handlers.surface import commands, connect, forgetting, manual, presses, replies, share
from handlers.surface.commands import Command
from handlers.surface.places import direct_chat, pressed_at
from handlers.surface.replies import Note

SHOWN: Final = 3_500
"""Characters of the passages that the sources button shows in all."""
QUOTED: Final = 800
"""Characters of our answer in a question that is passed on to colleagues."""
_QUESTIONS: Final = frozenset(("", "retry"))
"""The acts of turns that answer a question."""
_LOOKED_BACK: Final = 20
"""Turns among which a person's newest question is looked for."""
_MARKERS: Final = re.compile(r"\s*\[(?:src:[^\]\n]*|no-answer)\]")

Act = Callable[[Desk, TurnRecord], Awaitable[str]]


async def perform(desk: Desk, record: TurnRecord) -> tuple[str, Snapshot | None]:
    """Do what the record's act asks for: the words that were told, and what the thread remembers.

    The memory is None when it stays as it was. Raises what the chat platform or the table raise
    when they can not be reached.
    """
    question = record.question
    if question.act == forgetting.FORGET:
        return await forgetting.forget(desk, record)
    if question.act in share.ACTS:
        return await share.perform(desk, record)
    if question.act == "command":
        return await _command(desk, record, commands.parse_slash(question.text))
    return await _TELLING[question.act](desk, record), None


async def keeps_quiet(desk: Desk, record: TurnRecord) -> str | None:
    """What a paused place is told: one sentence once, "" after that; None where we answer.

    An administrator's commands are obeyed all the same.
    """
    question = record.question
    held = await pauses.holding(desk.table, question)
    if held is None or (desk.house.admin and commands.parse(question.text) is not None):
        return None
    if not await pauses.first_here(desk.table, held, question):
        return ""
    text = manual.line(desk.preferences.language_or(question.language), "quiet")
    await desk.chat.say(question.chat, text, f"{record.turn} paused")
    return text


async def _command(desk: Desk, record: TurnRecord, command: Command) -> tuple[str, Snapshot | None]:
    """Do what stands behind /plumb or a menu's entry, and tell the person alone."""
    question = record.question
    language = desk.preferences.language_or(question.language)
    if question.asker.external:
        return await _whisper(desk, record, phrases.external(language)), None
    if command.name == "ask" and command.rest:
        return await _ask(desk, record, command.rest), None
    if command.name == "new" and question.chat.kind == "group":
        return await _whisper(desk, record, manual.line(language, "new_in_channel")), None
    if command.name == "new" and not question.about:
        return await _clear_direct(desk, record), None
    reply = await commands.run(desk, record, command)
    memory = (await snapshot.load(desk.table, record.session)).cleared() if reply.clear else None
    return await _whisper(desk, record, reply.text), memory


async def _clear_direct(desk: Desk, record: TurnRecord) -> str:
    """Let a turn of the person's direct chat clear it: a menu's entry names no chat."""
    question = record.question
    chat = await direct_chat(desk.table, question.asker)
    if chat is None:
        language = desk.preferences.language_or(question.language)
        return await _whisper(desk, record, phrases.cleared(language))
    work = replace(question, chat=chat, about="menu")
    turn = keys.action_turn_id("menu new", question.asker.user, record.turn)
    await take(work, record.event, desk, turn)
    return ""


async def _ask(desk: Desk, record: TurnRecord, text: str) -> str:
    """Post the question for all to see, and let its turn answer in its thread."""
    question = record.question
    outbox = Outbox(desk.table, desk.clock, record)
    earlier = await outbox.intend("question")
    message = "" if earlier is None else earlier.handle or ""
    if not message:
        person, chat = question.asker.user, question.chat.chat
        message = await desk.chat.announce(chat, text, f"{record.turn} question", person)
        await outbox.sent("question", message)
    asked = replace(
        question,
        text=text,
        chat=replace(question.chat, message=message),
        language=detect(text, question.language),
        act="",
        about="",
    )
    await take(asked, record.event, desk)
    return text


async def _welcome(desk: Desk, record: TurnRecord) -> str:
    """Say who we are, once, where a person or a group meets us first."""
    language = desk.preferences.language_or(record.question.language)
    text = manual.welcome(language, desk.house.welcome.get(language))
    await desk.chat.announce(record.question.chat.chat, text, f"{record.turn} welcome")
    return text


async def _whisper(
    desk: Desk, record: TurnRecord, text: str, controls: tuple[Control, ...] = ()
) -> str:
    """Tell the person alone, beside the answer that was pressed."""
    question = record.question
    where = pressed_at(question)
    await desk.chat.whisper(where, question.asker, text, f"{record.turn} told", controls)
    return text


async def _tell(desk: Desk, record: TurnRecord) -> str:
    """Bring the private words that the receiving function chose."""
    return await _whisper(desk, record, record.question.text)


async def _connected(desk: Desk, record: TurnRecord) -> str:
    """Say that the sign-in went well, and offer to answer the newest question again."""
    about = await _newest(desk, record) if record.question.about else ""
    asked = replace(record, question=replace(record.question, about=about))
    text, controls = await connect.connected(desk, asked)
    return await _whisper(desk, record, text, controls)


async def _newest(desk: Desk, record: TurnRecord) -> str:
    """The person's newest question where the connection was offered, which may be hours ago."""
    session = keys.session(record.session)
    page = await desk.table.query(session, keys.TURNS, limit=_LOOKED_BACK, reverse=True)
    for turn in map(TurnRecord.from_item, page.items):
        asked = turn.question
        mine = turn.owner == record.owner and asked.act in _QUESTIONS
        if mine and commands.parse(asked.text) is None:
            return turn.turn
    return record.question.about


async def _why(desk: Desk, record: TurnRecord) -> str:
    """Ask what was wrong with the answer."""
    language = record.question.language
    controls = presses.reasons(record.question.about, language)
    return await _whisper(desk, record, replies.note(language, "why"), controls)


async def _sources(desk: Desk, record: TurnRecord) -> str:
    """Show the passages to whoever may read every source of the answer."""
    language = record.question.language
    stored = await _answer(desk, record)
    if stored is None or not stored.passages:
        return await _note(desk, record, "no_sources")
    # The chat's own label counts for whoever presses in it: they read along there.
    chat = record.question.chat
    here = f"chat:{record.question.asker.platform}:{chat.chat}" if chat.kind == "group" else ""
    carried = desk.labels | {here}
    if any(not c.source.readers & carried for c in stored.answer.citations):
        return await _note(desk, record, "hidden_sources")
    return await _whisper(desk, record, passages(language, stored))


async def _human(desk: Desk, record: TurnRecord) -> str:
    """Post the question with its context to the colleagues in charge, and say so."""
    stored = await _answer(desk, record)
    asked = await answers.question_of(desk.table, record.question.about)
    choose = desk.house.escalation
    sources = [] if stored is None else [c.source.source for c in stored.answer.citations]
    searched = () if stored is None else stored.searched
    chat = await choose((*sources, *searched)) if choose else ""
    if not chat or asked is None:
        await desk.table.delete_if(keys.claim(record.question.about, "human"))
        return await _note(desk, record, "nobody" if asked else "gone")
    language = asked.question.language
    answer, titles = "", ""
    if stored is not None and EVERYONE in stored.readers:
        answer = _MARKERS.sub("", stored.answer.text).strip()[:QUOTED] or "-"
        titles = "; ".join(c.source.title for c in stored.answer.citations)
    text = replies.escalation(language, asked.question.text, answer, titles)
    await desk.chat.announce(chat, text, f"{record.turn} human", record.question.asker.user)
    return await _note(desk, record, "passed_on")


async def _note(desk: Desk, record: TurnRecord, name: Note) -> str:
    return await _whisper(desk, record, replies.note(record.question.language, name))


async def _answer(desk: Desk, record: TurnRecord) -> StoredAnswer | None:
    asked = await answers.question_of(desk.table, record.question.about)
    if asked is None:
        return None
    return await answers.load(desk.table, desk.cipher, asked.turn, asked.owner)


def passages(language: Language, stored: StoredAnswer) -> str:
    """The passages of an answer under the numbers that its claims carry."""
    numbers = {c.source.source: c.n for c in stored.answer.citations}
    room = max(SHOWN // max(len(stored.passages), 1), 200)
    parts = [replies.passages_title(language)]
    for p in stored.passages:
        place = f" · {p.place}" if p.place else ""
        text = " ".join(p.text.split())
        cut = text if len(text) <= room else text[:room] + "…"
        parts.append(f"[{numbers[p.source]}] {p.title}{place}\n{cut}")
    return "\n\n".join(parts)


_TELLING: Final[Mapping[str, Act]] = {
    "tell": _tell,
    "why": _why,
    "sources": _sources,
    "human": _human,
    "welcome": _welcome,
    connect.CONNECTED: _connected,
}
ACTS: Final = frozenset((*_TELLING, *share.ACTS, forgetting.FORGET, "command"))
"""The acts that are no question to a model."""

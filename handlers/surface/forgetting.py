"""Forgets the words of a question whose message was recalled after its turn had begun."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.durable import amend, keys, private_context, snapshot
from agent.durable.intake import take
from agent.durable.journal import Journal
from agent.durable.records import TurnRecord
from agent.durable.snapshot import Snapshot

if TYPE_CHECKING:  # the receiving function reads the name here and loads no loop
    from agent.desk import Desk

FORGET: Final = "forget"
"""The act of a recall: it stands in the session of the recalled message, and tells nobody."""


async def forget(desk: Desk, record: TurnRecord) -> tuple[str, Snapshot | None]:
    """Delete the words from turns and journal; what the thread remembers without them.

    The thread under a message of a direct chat began with its exchange: it forgets it as well.
    """
    question = record.question
    message = question.chat.message
    for told in await amend.forget(desk.table, desk.clock, record.session, message):
        await Journal(desk.table, desk.clock, told).start_over()
    if question.chat.kind == "direct" and question.chat.thread is None:
        await _forget_below(desk, record)
    if question.chat.kind == "group":
        await private_context.forget(desk.table, desk.cipher, desk.clock, record, message)
    memory = await snapshot.load(desk.table, record.session)
    kept = tuple(e for e in memory.exchanges if e.message != message)
    return "", None if kept == memory.exchanges else replace(memory, exchanges=kept)


async def _forget_below(desk: Desk, record: TurnRecord) -> None:
    question = record.question
    below = replace(question, chat=replace(question.chat, thread=question.chat.message))
    session = keys.session_id(below.asker, below.chat)
    if await desk.table.get(keys.snapshot(session)) is not None:
        turn = keys.action_turn_id(FORGET, question.about, "thread")
        await take(below, record.event, desk, turn)

"""The worker: a ring names a session, and its turns are answered one after the other.

    lock → oldest pending turn → reaction → run → save and release → look once more

A session whose lock is held is left to its holder, who looks for further turns after each one; the
question that rang is marked as seen all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from agent.durable import inbox, lock
from agent.durable.lock import Lease
from agent.durable.records import TurnRecord
from agent.errors import (
    ConditionFailed,
    ForPerson,
    Misconfigured,
    PlumblineError,
)
from agent.stopwatch import Stopwatch
from handlers import loop, waiting, wiring
from handlers.settings import Settings

if TYPE_CHECKING:
    from agent.domain import Question
    from handlers.wiring import Workplace

log = logging.getLogger(__name__)

READ_AGAIN_AFTER = 2.0
"""Seconds of waiting after which a question is read once more: it may be edited or deleted."""
MOST_ATTEMPTS = 5
"""A turn that could not be delivered so often is given up (DURABILITY.md, section 4)."""


def handler(event: Mapping[str, object], context: object) -> dict[str, list[dict[str, str]]]:
    """Answer the sessions that an SQS batch rings for; failed records come again."""
    records = cast(list[Mapping[str, str]], event.get("Records") or [])
    failed = loop.run(_work_through(records))
    return {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}


async def _work_through(records: list[Mapping[str, str]]) -> list[str]:
    workplace = await wiring.worker(Settings.from_environment())
    failed: list[str] = []
    for record in records:
        try:
            await drain(workplace, record["body"])
        except Exception:  # one session's fault is not the batch's; its ring comes again
            log.exception("session %s is left for the next ring", record["body"])
            failed.append(record["messageId"])
    return failed


async def drain(workplace: Workplace, session: str) -> bool:
    """Answer the session's pending turns in order; False: its holder was left to answer them.

    Raises what the table or the chat platform raise when they can not be reached: the ring then
    comes again.
    """
    before: waiting.Ended | None = None
    while True:
        lease = await lock.acquire(
            workplace.table,
            workplace.clock,
            workplace.ids,
            session,
            workplace.name,
            workplace.org,
        )
        if lease is None:
            newest = await inbox.newest_pending(workplace.table, session)
            if newest is not None:
                workplace = await workplace.of(newest.question.asker)
                await _notice(workplace, newest)
                await waiting.tell_place(workplace, newest)
            return newest is None
        record = await inbox.oldest_pending(workplace.table, session)
        if record is None:
            await lock.release(workplace.table, workplace.clock, lease)
            return True
        workplace = await workplace.of(record.question.asker)
        try:
            if waiting.repeats(record, before):
                await waiting.end_repeated(workplace, record, lease)
            else:
                await _answer(workplace, record, lease)
                before = waiting.Ended(record, workplace.clock.now())
        except ConditionFailed:
            await lock.release(workplace.table, workplace.clock, lease)
            if not await inbox.is_cancelled(workplace.table, record):
                raise
            continue  # its message was recalled while we took it up
        except BaseException:  # cancelling too: the lock is given back whatever it was
            await lock.release(workplace.table, workplace.clock, lease)
            raise
        # The end of a turn gives the lock back; who rang meanwhile found it held and left.
        if await inbox.oldest_pending(workplace.table, session) is None:
            return True


async def _answer(workplace: Workplace, record: TurnRecord, lease: Lease) -> None:
    watch = Stopwatch(workplace.clock)
    async with workplace.keeper.keeping(lease):
        await _notice(workplace, record)
        watch.once("reaction")
        try:
            gathered = await _gathered(workplace, record)
            if gathered is None:
                await inbox.cancel_pending(workplace.table, workplace.clock, record, lease)
                return
            fresh = None if gathered is record.question else gathered
            if fresh is not None:
                record = replace(record, question=fresh)
            desk, versions = await workplace.desk(record)
        except Exception as fault:  # noqa: BLE001  what can not even begin is told as well
            await _give_up(workplace, record, lease, fault)
            return
        from agent.turn import lost_turn, run_turn, said, save_turn
        from handlers.surface.actions import ACTS, keeps_quiet, perform
        from handlers.surface.connect import offer_after

        record = await inbox.start(
            workplace.table, workplace.clock, record, lease.fence, versions, fresh
        )
        try:
            if record.question.act in ACTS:
                outcome = said(*await perform(desk, record))
            elif (quiet := await keeps_quiet(desk, record)) is not None:
                outcome = said(quiet, None)
            else:
                outcome = await run_turn(desk, record, watch)
                await offer_after(desk, record)
        except Exception as error:  # no turn may block its session for ever, whatever is wrong
            if not isinstance(error, ForPerson) and record.attempt < MOST_ATTEMPTS:
                raise
            log.exception("turn %s can not be delivered", record.turn)
            await waiting.tell_lost(workplace, record, error)
            outcome = lost_turn()
        await save_turn(desk, record, lease, outcome)


async def _gathered(workplace: Workplace, record: TurnRecord) -> Question | None:
    """The question with what its event did not carry; None when it was taken back meanwhile.

    It is read once: an attempt after the first finds it stored.
    """
    question = record.question
    if question.act or question.asker.external or record.attempt:
        return question
    waited = workplace.clock.now() - record.received_at > READ_AGAIN_AFTER
    if not question.deferred and not waited:
        return question
    try:
        gatherer = workplace.gatherer(question.asker.platform)
    except Misconfigured as error:
        log.warning("turn %s is read as it came: %s", record.turn, error)
        return question
    return await gatherer.gather(question, again=waited)


async def _give_up(
    workplace: Workplace, record: TurnRecord, lease: Lease, fault: Exception
) -> None:
    """End a turn for which no desk can be made, and say so; a fault that may pass is raised."""
    from agent.turn import save_turn, told

    record = await inbox.start(workplace.table, workplace.clock, record, lease.fence)
    if not isinstance(fault, ForPerson) and record.attempt < MOST_ATTEMPTS:
        raise fault
    ours = isinstance(fault, ForPerson)
    log.error("turn %s can not begin: %s", record.turn, fault, exc_info=None if ours else fault)
    question = record.question
    outcome = told(question, fault)
    try:
        chat = workplace.chat(question.asker.platform)
        await chat.say(question.chat, outcome.notice, record.turn)
    except PlumblineError as error:
        log.warning("turn %s: nobody could be told: %s", record.turn, error.code)
    await save_turn(workplace, record, lease, outcome)


async def _notice(workplace: Workplace, record: TurnRecord) -> None:
    """Show that a question was seen, before anything heavy is loaded; a press has its answer."""
    question = record.question
    if question.act:
        return
    try:
        await workplace.chat(question.asker.platform).react(question.chat, "seen")
    except PlumblineError as error:
        log.warning("turn %s has no reaction: %s", record.turn, error.code)

"""What becomes of a stored question whose message is recalled or edited."""

from __future__ import annotations

from dataclasses import replace

from agent.domain import Question
from agent.durable import inbox, keys
from agent.durable.records import TurnRecord, new_item, number_of, question_to_json, text_of
from agent.errors import ConditionFailed
from agent.jsontext import packed
from agent.ports import (
    NEW,
    Absent,
    Change,
    Clock,
    Compare,
    Condition,
    Delete,
    Exists,
    Table,
    Update,
)

_EDITED = "edited"

_WAITS = Compare("state", "=", "RECEIVED")


async def withdraw(table: Table, clock: Clock, org: str, turn: str) -> TurnRecord | None:
    """Cancel a waiting turn whose message was recalled, and delete its words.

    A message that has not come yet is not taken in any more: no platform promises an order.

    Returns:
        The turn when it was begun already and its words are still to be forgotten, else None.
    """
    while True:
        arrival = await table.get(keys.arrival(turn))
        if arrival is None:
            barred = new_item(keys.arrival(turn), "arrival", org, clock.now())
            try:
                await table.put_if(barred, NEW)
            except ConditionFailed:
                continue  # the message came at this moment
            return None
        record = await _record(table, turn, text_of(arrival, "session"), text_of(arrival, "order"))
        if record is None or inbox.is_recalled(record.question):
            return None
        if record.state != "RECEIVED":
            return record
        if await _cancelled(table, clock, record):
            return None


async def amend(table: Table, edited: Question, turn: str, at: float) -> bool:
    """Give a waiting turn the words that its message has since `at`; False when none waits.

    Words under another person's name are not taken: they would be asked with the asker's rights.
    """
    arrival = await table.get(keys.arrival(turn))
    if arrival is None:
        return False
    key = keys.turn(text_of(arrival, "session"), text_of(arrival, "order"), turn)
    while True:
        item = await table.get(key)
        if item is None or item["state"] != "RECEIVED":
            return False
        known = TurnRecord.from_item(item).question
        if edited.asker.user != known.asker.user:
            return False
        if float(known.platform_hints.get(_EDITED, "0")) >= at:
            return True
        question = replace(
            known,
            text=edited.text,
            language=edited.language,
            attachments=edited.attachments,
            mentions=edited.mentions,
            deferred=edited.deferred,
            material=edited.material,
            platform_hints={**known.platform_hints, _EDITED: str(at)},
        )
        count = number_of(item, inbox.EDITS)
        unchanged: Condition = Compare(inbox.EDITS, "=", count) if count else Absent(inbox.EDITS)
        words = {"question": packed(question_to_json(question))}
        try:
            await table.update_if(key, Change(set=words, add={inbox.EDITS: 1}), (_WAITS, unchanged))
        except ConditionFailed:
            continue
        return True


async def forget(table: Table, clock: Clock, session: str, message: str) -> tuple[TurnRecord, ...]:
    """Delete the words of a message from every turn of the session that it made, retries as well.

    Returns:
        The turns, as they were.
    """
    found: list[TurnRecord] = []
    after = None
    while True:
        page = await table.query(keys.session(session), keys.TURNS, after=after)
        records = [TurnRecord.from_item(item) for item in page.items]
        for record in records:
            question = record.question
            own = question.chat.message == message and question.act in ("", "retry")
            if not own or inbox.is_recalled(question):
                continue
            if record.state != "RECEIVED" or not await _cancelled(table, clock, record):
                await table.update_if(record.key, Change(set=_emptied(record)), (Exists(),))
            found.append(record)
        after = page.after
        if after is None:
            return tuple(found)


async def _cancelled(table: Table, clock: Clock, record: TurnRecord) -> bool:
    """Whether the turn waited until now and is at its end; False when it was begun meanwhile."""
    ended = {"state": "CANCELLED", "finished_at": clock.now(), **_emptied(record)}
    try:
        await table.transact(
            (Update(record.key, Change(set=ended), (_WAITS,)), Delete(record.marker))
        )
    except ConditionFailed:
        return False
    return True


def _emptied(record: TurnRecord) -> dict[str, str]:
    """The turn's question without all that its author wrote or sent along."""
    bare = inbox.without_words(record.question)
    return {"question": packed(question_to_json(bare))}


async def _record(table: Table, turn: str, session: str, order: str) -> TurnRecord | None:
    item = await table.get(keys.turn(session, order, turn)) if session else None
    return None if item is None else TurnRecord.from_item(item)

"""The inbox: takes each message in once, keeps their order, begins turns and ends them."""

from __future__ import annotations

from dataclasses import replace

from agent.domain import Question
from agent.durable import keys
from agent.durable.lock import Lease, release_write
from agent.durable.records import (
    OPEN_STATES,
    State,
    TurnRecord,
    Versions,
    new_item,
    question_from_json,
    question_to_json,
    text_of,
    versions_to_json,
)
from agent.errors import ConditionFailed, Unavailable
from agent.jsontext import packed, unpacked
from agent.ports import (
    NEW,
    AnyOf,
    Change,
    Clock,
    Compare,
    Condition,
    Delete,
    Exists,
    Key,
    Put,
    Table,
    Update,
    Value,
    Write,
)
from agent.values import value

UNRUNG_AFTER = 60.0
"""Seconds after which the sweeper rings for a turn whose ring was not noted."""

EDITS = "edits"
"""The attribute of a turn that counts how often its waiting question was edited."""

_RECALLED = "recalled"

_STILL_OPEN = AnyOf(tuple(Compare("state", "=", state) for state in OPEN_STATES))


@value
class Accepted:
    """A message in the inbox; `fresh` is False when it was there before.

    `session` is "" when the message was recalled before it came: nothing waits then.
    """

    session: str
    turn: str
    order: str
    fresh: bool


async def accept(
    table: Table, clock: Clock, question: Question, event: str, turn: str = ""
) -> Accepted:
    """Take a message in: one transaction, whether it is new or delivered again.

    The arrival, under the turn's id alone, is what makes a second delivery a duplicate: it may name
    another time, and a slash command or a press has none of its own.

    Args:
        table: Where the inbox stands.
        clock: Gives the time of receipt.
        question: The message; its identity makes the turn.
        event: The platform's id of the event that brought it.
        turn: The turn of what is no message of its own, such as a press; "" makes the message's.

    Raises:
        Unavailable: the table gave no answer; the platform has to deliver again.
    """
    asker, chat = question.asker, question.chat
    now = clock.now()
    record = TurnRecord(
        session=keys.session_id(asker, chat),
        turn=turn or keys.turn_id(asker.app, chat.chat, chat.message),
        order=keys.order(question.asked_at),
        question=question,
        event=event,
        received_at=now,
    )
    marker = new_item(record.marker, "marker", record.org, now)
    marker["due_pk"], marker["due_sk"] = keys.due(record.turn, now + UNRUNG_AFTER)
    arrival = new_item(keys.arrival(record.turn), "arrival", record.org, now)
    arrival["session"], arrival["order"] = record.session, record.order
    try:
        await table.transact((Put(arrival, NEW), Put(record.to_item(), NEW), Put(marker)))
    except ConditionFailed:
        first = await table.get(keys.arrival(record.turn))
        if first is None:  # it was taken in before arrivals were noted
            return Accepted(record.session, record.turn, record.order, fresh=False)
        session, order = text_of(first, "session"), text_of(first, "order")
        return Accepted(session, record.turn, order, fresh=False)
    return Accepted(record.session, record.turn, record.order, fresh=True)


async def mark_rung(table: Table, accepted: Accepted) -> None:
    """Note that the doorbell was rung, so that the sweeper does not ring again."""
    key = keys.marker(accepted.session, accepted.order, accepted.turn)
    try:
        await table.update_if(key, Change(remove=("due_pk", "due_sk")), (Exists(),))
    except ConditionFailed:
        return  # the turn has ended already, and its marker with it


async def oldest_pending(table: Table, session: str) -> TurnRecord | None:
    """The session's next turn in the order of the messages, None when nothing waits.

    A marker whose turn was erased is taken away.
    """
    return await _pending(table, session, newest=False)


async def newest_pending(table: Table, session: str) -> TurnRecord | None:
    """The turn that came last and has not ended, None when nothing waits or runs."""
    return await _pending(table, session, newest=True)


async def _pending(table: Table, session: str, *, newest: bool) -> TurnRecord | None:
    while True:
        page = await table.query(keys.session(session), keys.PENDING, limit=1, reverse=newest)
        if not page.items:
            return None
        place, turn = str(page.items[0]["sk"]).removeprefix(keys.PENDING).split("#")
        item = await table.get(keys.turn(session, place, turn))
        if item is not None:
            return TurnRecord.from_item(item)
        await table.delete_if(keys.marker(session, place, turn))


async def place_in_queue(table: Table, accepted: Accepted) -> int:
    """How many turns of the session come before this one; 0 when it is next or has ended."""
    own = keys.marker(accepted.session, accepted.order, accepted.turn)
    before = 0
    after: Key | None = None
    while True:
        page = await table.query(own.pk, keys.PENDING, after=after)
        for item in page.items:
            if str(item["sk"]) >= own.sk:
                return before if item["sk"] == own.sk else 0
            before += 1
        after = page.after
        if after is None:
            return 0


async def ahead(table: Table, record: TurnRecord) -> tuple[TurnRecord, ...]:
    """The session's turns that wait or run before this one, at most the hundred oldest."""
    page = await table.query(keys.session(record.session), keys.PENDING)
    found: list[TurnRecord] = []
    for item in page.items:
        if str(item["sk"]) >= record.marker.sk:
            break
        place, turn = str(item["sk"]).removeprefix(keys.PENDING).split("#")
        stored = await table.get(keys.turn(record.session, place, turn))
        if stored is not None:
            found.append(TurnRecord.from_item(stored))
    return tuple(found)


async def start(
    table: Table,
    clock: Clock,
    record: TurnRecord,
    fence: int,
    versions: Versions = Versions(),  # noqa: B008  # a frozen value
    gathered: Question | None = None,
) -> TurnRecord:
    """Begin the turn, or begin it anew after a crash, under the lease with this fence.

    Repeating it after a lost answer counts no further attempt. `gathered` is the question with what
    its event did not carry: it takes the place of the stored one, so that no attempt fetches twice.
    Else the question is as it was edited last.

    Raises:
        ConditionFailed: a later holder has it, or it has ended.
    """
    started = replace(
        record,
        question=gathered or record.question,
        state="RUNNING",
        fence=fence,
        attempt=record.attempt + 1,
        versions=versions,
    )
    attributes: dict[str, Value] = {
        "state": started.state,
        "fence": fence,
        "attempt": started.attempt,
        "versions": versions_to_json(versions),
        "started_at": clock.now(),
    }
    if gathered is not None:
        attributes["question"] = packed(question_to_json(gathered))
    change = Change(set=attributes)
    stored = await table.update_if(record.key, change, (_not_later_than(fence), _STILL_OPEN))
    if gathered is None and EDITS in stored:
        return replace(started, question=question_from_json(unpacked(stored["question"])))
    return started


async def finish(
    table: Table,
    clock: Clock,
    record: TurnRecord,
    lease: Lease,
    state: State,
    *,
    answer: Put | None = None,
    snapshot: Put | None = None,
    private: Put | None = None,
    question: Question | None = None,
) -> TurnRecord:
    """End the turn and give the lock back: all in one transaction, or nothing.

    Args:
        table: Where it all stands.
        clock: Gives the time of the end.
        record: The running turn.
        lease: The lease it runs under.
        state: How it ended.
        answer: What agent/durable/answers.py sealed.
        snapshot: What agent/durable/snapshot.py prepared.
        private: What agent/durable/private_context.py sealed.
        question: What is kept of the question when it is not the whole.

    Raises:
        ConditionFailed: the lease was lost, the turn has ended, or the snapshot was changed.
        Unavailable: no answer, and a look at the turn shows that it did not end.
    """
    attributes: dict[str, Value] = {
        "state": state,
        "finished_at": clock.now(),
        "fence": lease.fence,
    }
    if question is not None:
        attributes["question"] = packed(question_to_json(question))
    change = Change(set=attributes)
    writes: list[Write] = [
        Update(record.key, change, (_not_later_than(lease.fence), _STILL_OPEN)),
        Delete(record.marker),
        release_write(clock, lease),
        *(put for put in (answer, snapshot, private) if put is not None),
    ]
    try:
        await table.transact(writes)
    except (ConditionFailed, Unavailable):
        item = await table.get(record.key)
        if item is None or (item["state"], item["fence"]) != (state, lease.fence):
            raise
    return replace(record, state=state, fence=lease.fence)


async def is_cancelled(table: Table, record: TurnRecord) -> bool:
    """Whether the turn was cancelled meanwhile, since its message was recalled."""
    item = await table.get(record.key)
    return item is not None and item["state"] == "CANCELLED"


async def cancel_pending(
    table: Table, clock: Clock, record: TurnRecord, lease: Lease
) -> TurnRecord:
    """End a turn that was not begun because its message was taken back: no answer, no words kept.

    Raises:
        ConditionFailed: the lease was lost, or the turn has ended.
        Unavailable: no answer, and a look at the turn shows that it did not end.
    """
    bare = without_words(record.question)
    return await finish(table, clock, record, lease, "CANCELLED", question=bare)


def without_words(question: Question) -> Question:
    """A recalled question: nothing of what its author wrote or sent along."""
    return replace(
        question,
        text="",
        attachments=(),
        mentions=(),
        material=(),
        deferred="",
        platform_hints={_RECALLED: "1"},
    )


def is_recalled(question: Question) -> bool:
    """Whether the words of the question went with its message."""
    return _RECALLED in question.platform_hints


def _not_later_than(fence: int) -> Condition:
    return Compare("fence", "<=", fence)

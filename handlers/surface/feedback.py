"""What persons think of an answer, one record for each person, and who pressed what first."""

from __future__ import annotations

from typing import Literal

from agent.domain import Identity
from agent.durable import keys
from agent.durable.records import TurnRecord, new_item, text_of
from agent.errors import ConditionFailed
from agent.ports import Absent, AnyOf, Clock, Compare, Table

Verdict = Literal["helpful", "unhelpful", "said"]
"""An opinion of an answer; `said` is a person's own words, which stand as the reason."""


async def give(
    table: Table,
    clock: Clock,
    record: TurnRecord,
    person: Identity,
    verdict: Verdict,
    reason: str = "",
) -> bool:
    """Store a person's opinion of the turn's answer; False when just that was stored before.

    A person has one opinion of an answer: another one takes the place of the first.
    """
    key = keys.feedback(record.turn, person.principal)
    item = new_item(key, "feedback", record.org, clock.now(), person.principal)
    item["verdict"], item["reason"] = verdict, reason
    item["session"], item["order"], item["at"] = record.session, record.order, clock.now()
    other = (Compare("verdict", "!=", verdict), Compare("reason", "!=", reason))
    try:
        await table.put_if(item, (AnyOf((Absent(), *other)),))
    except ConditionFailed:
        return False
    return True


async def opinion(table: Table, turn: str, person: Identity) -> tuple[str, str]:
    """Verdict and reason that the person gave; empty texts for none."""
    item = await table.get(keys.feedback(turn, person.principal)) or {}
    return text_of(item, "verdict"), text_of(item, "reason")


async def claim(
    table: Table, clock: Clock, org: str, turn: str, action: str, by: str, again: float = 0.0
) -> bool:
    """Whether the press `by` may have the action's effect on the turn; the first one may, for ever.

    Args:
        table: Where claims stand.
        clock: The time.
        org: The organisation.
        turn: The turn whose answer was pressed.
        action: The effect that happens once.
        by: The turn id of the press; repeating the same press after a crash is allowed.
        again: Seconds after which another press may have it again; 0 for never.
    """
    now = clock.now()
    item = new_item(keys.claim(turn, action), "claim", org, now)
    item["by"], item["until"] = by, now + again if again else float("9e15")
    free = AnyOf((Absent(), Compare("by", "=", by), Compare("until", "<=", now)))
    try:
        await table.put_if(item, (free,))
    except ConditionFailed:
        return False
    return True

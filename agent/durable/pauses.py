"""Where the bot keeps quiet because an administrator paused it: a chat, or all of them."""

from __future__ import annotations

from agent.domain import Question
from agent.durable import keys
from agent.durable.records import new_item
from agent.errors import ConditionFailed
from agent.ports import Absent, Change, Clock, Exists, Key, Table

EVERYWHERE = "all"
"""The place that stands for the whole organisation."""


def place_of(question: Question) -> str:
    """The place of a question's chat."""
    return keys.short(f"{question.asker.platform} {question.chat.chat}")


async def pause(table: Table, clock: Clock, org: str, place: str, by: str) -> None:
    """Let the bot keep quiet in a place from now on; `by` is the administrator's principal."""
    item = new_item(keys.pause(org, place), "pause", org, clock.now())
    item["by"], item["at"] = by, clock.now()
    await table.put(item)


async def resume(table: Table, org: str, place: str) -> None:
    """Let the bot answer again."""
    await table.delete_if(keys.pause(org, place))


async def holding(table: Table, question: Question) -> Key | None:
    """The pause that holds where the question stands; None when the bot answers."""
    org = question.asker.org
    page = await table.query(keys.organisation(org).pk, keys.PAUSES)
    if not page.items:
        return None
    places = {str(item["sk"]).removeprefix(keys.PAUSES) for item in page.items}
    for place in (EVERYWHERE, place_of(question)):
        if place in places:
            return keys.pause(org, place)
    return None


async def first_here(table: Table, pause_: Key, question: Question) -> bool:
    """Whether nobody was told of this pause where the question stands; from now on one was."""
    told = f"told_{place_of(question)}"
    try:
        await table.update_if(pause_, Change(set={told: True}), (Exists(), Absent(told)))
    except ConditionFailed:
        return False
    return True

"""The way into the inbox: a question is stored once and the doorbell rung for it."""

from __future__ import annotations

from typing import Protocol

from agent.domain import Question
from agent.durable import inbox, keys
from agent.ports import Clock, Queue, Table


class Counter(Protocol):
    """A place to write, a bell to ring, the time."""

    @property
    def table(self) -> Table:
        """The items."""
        ...

    @property
    def queue(self) -> Queue | None:
        """The doorbell; None when somebody else rings it."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


async def take(question: Question, event: str, store: Counter, turn: str = "") -> str:
    """Take a question in and ring for it once; what became of it in one word.

    A message that comes again rings only when the first delivery did not get that far, and one that
    was recalled before it came is left. `turn` is the id of what is no message of its own.

    Raises:
        Unavailable: table or queue gave no answer; the platform has to deliver again.
    """
    taken = await inbox.accept(store.table, store.clock, question, event, turn)
    if not taken.session:
        return "recalled"
    if not taken.fresh:
        marker = await store.table.get(keys.marker(taken.session, taken.order, taken.turn))
        if marker is None or "due_pk" not in marker:
            return "duplicate"
    if store.queue is not None:
        await store.queue.ring(taken.session)
        await inbox.mark_rung(store.table, taken)
    return "accepted" if taken.fresh else "rung_again"

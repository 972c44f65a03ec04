"""The outbox: a message of ours is announced before it is posted, and known by its handle after."""

from __future__ import annotations

from agent.durable import keys
from agent.durable.records import TurnRecord, check_format, new_item
from agent.errors import ConditionFailed
from agent.jsontext import packed, unpacked
from agent.ports import Absent, Change, Clock, Compare, Item, Table
from agent.values import value


@value
class Entry:
    """One message of ours. `handle` is what a successor needs to go on editing it.

    None means that it may or may not have been posted: the intent is all that is known.
    """

    part: str
    handle: str | None = None


class Outbox:
    """The messages of one running turn; `part` names each ("answer")."""

    __slots__ = ("_clock", "_record", "_table")

    def __init__(self, table: Table, clock: Clock, record: TurnRecord) -> None:
        self._table = table
        self._clock = clock
        self._record = record

    async def intend(self, part: str) -> Entry | None:
        """Announce a post. None: go ahead; an entry: an earlier attempt announced it already.

        Raises:
            UnknownFormat: the entry was written in a format that is not read any more.
        """
        key = keys.outbox(self._record.turn, part)
        item = new_item(key, "outbox", self._record.org, self._clock.now(), self._record.owner)
        item["state"] = "INTENT"
        item["fence"] = self._record.fence
        try:
            await self._table.put_if(item, (Absent(),))
        except ConditionFailed:
            return await self.load(part)
        return None

    async def sent(self, part: str, handle: str) -> None:
        """Note what the platform made of the post; again whenever the handle changes.

        Raises:
            ConditionFailed: it was never announced, or a later holder of the turn has written.
        """
        change = Change(
            set={"state": "SENT", "handle": packed(handle), "fence": self._record.fence}
        )
        key = keys.outbox(self._record.turn, part)
        await self._table.update_if(key, change, (Compare("fence", "<=", self._record.fence),))

    async def load(self, part: str) -> Entry | None:
        """The entry of a message, None when it was never announced."""
        item: Item | None = await self._table.get(keys.outbox(self._record.turn, part))
        if item is None:
            return None
        check_format(item, "outbox")
        return Entry(part, str(unpacked(item["handle"])) if "handle" in item else None)

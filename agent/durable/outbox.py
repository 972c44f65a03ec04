"""The outbox: what became of a message of ours; that a turn runs announces its posts."""

from __future__ import annotations

from agent.durable import keys
from agent.durable.records import TurnRecord, check_format, new_item
from agent.jsontext import packed, unpacked
from agent.ports import NEW, AnyOf, Clock, Compare, Item, Table
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

    __slots__ = ("_clock", "_noted", "_record", "_table")

    def __init__(self, table: Table, clock: Clock, record: TurnRecord) -> None:
        self._table = table
        self._clock = clock
        self._record = record
        self._noted: dict[str, str] = {}

    async def intend(self, part: str) -> Entry | None:
        """Look what is known of a post before it is made.

        None: go ahead, this is the turn's first attempt. An entry: an earlier attempt may have made
        the post. That a turn is RUNNING announces all its posts, so that nothing is written here.

        Raises:
            UnknownFormat: the entry was written in a format that is not read any more.
        """
        if self._record.attempt <= 1:
            return None
        return await self.load(part) or Entry(part)

    async def sent(self, part: str, handle: str) -> None:
        """Note what the platform made of the post; again whenever the handle has changed.

        Raises:
            ConditionFailed: a later holder of the turn has written.
        """
        if self._noted.get(part) == handle:
            return
        record = self._record
        key = keys.outbox(record.turn, part)
        item = new_item(key, "outbox", record.org, self._clock.now(), record.owner)
        item["handle"] = packed(handle)
        item["fence"] = record.fence
        await self._table.put_if(item, (AnyOf((*NEW, Compare("fence", "<=", record.fence))),))
        self._noted[part] = handle

    async def load(self, part: str) -> Entry | None:
        """The entry of a message, None when nothing is known of a post."""
        item: Item | None = await self._table.get(keys.outbox(self._record.turn, part))
        if item is None:
            return None
        check_format(item, "outbox")
        return Entry(part, str(unpacked(item["handle"])))

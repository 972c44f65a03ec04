"""A table in memory that counts what it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent.ports import Change, Condition, Item, Key, Page, Write
from agent.stores.memory_table import MemoryTable


class CountingTable(MemoryTable):
    """A MemoryTable whose `calls` counts by verb; a transaction is one call.

    `writes` holds verb and head of the sort key of every write, one text for a transaction.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.writes: list[str] = []

    async def get(self, key: Key) -> Item | None:
        self.calls["get"] += 1
        return await super().get(key)

    async def put(self, item: Item) -> None:
        self.calls["put"] += 1
        await super().put(item)

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None:
        self._write("put_if", str(item["sk"]))
        await super().put_if(item, when)

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item:
        self._write("update_if", key.sk)
        return await super().update_if(key, change, when)

    async def query(
        self,
        pk: str,
        prefix: str = "",
        *,
        limit: int = 100,
        reverse: bool = False,
        after: Key | None = None,
    ) -> Page:
        self.calls["query"] += 1
        return await super().query(pk, prefix, limit=limit, reverse=reverse, after=after)

    async def transact(self, writes: Sequence[Write]) -> None:
        self._write("transact", "all")
        await super().transact(writes)

    def _write(self, verb: str, place: str) -> None:
        self.calls[verb] += 1
        self.writes.append(f"{verb} {place.split('#')[0]}")

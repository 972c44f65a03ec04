"""A table whose next write loses its answer: before it arrives, or after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent.errors import ConditionFailed, Unavailable
from agent.ports import Change, Condition, Item, Key, Write
from agent.stores.memory_table import MemoryTable

Fault = Literal["lost request", "lost answer", "repeated"]
"""`repeated`: the answer was lost and the client sent the write again, which was refused."""


class FaultyTable(MemoryTable):
    """A MemoryTable that spoils the next conditional write as `fault` says, once.

    `calls` counts every call that reached the store.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fault: Fault | None = None
        self.calls = 0

    async def get(self, key: Key) -> Item | None:
        self.calls += 1
        return await super().get(key)

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None:
        self._before()
        await super().put_if(item, when)
        self._after()

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item:
        self._before()
        item = await super().update_if(key, change, when)
        self._after()
        return item

    async def transact(self, writes: Sequence[Write]) -> None:
        self._before()
        await super().transact(writes)
        self._after()

    def _before(self) -> None:
        self.calls += 1
        if self.fault == "lost request":
            self.fault = None
            raise Unavailable("the request was lost")

    def _after(self) -> None:
        fault, self.fault = self.fault, None
        if fault == "lost answer":
            raise Unavailable("the answer was lost")
        if fault == "repeated":
            raise ConditionFailed("the repeated request met its own first try")

"""Table in memory: for simulation, benchmarks and tests, under DynamoDB's rules.

Which operation becomes which DynamoDB call (the adapter comes with the AWS issue):

    get             GetItem, ConsistentRead
    put             PutItem
    put_if          PutItem with ConditionExpression
    update_if       UpdateItem with ConditionExpression, ReturnValues=ALL_NEW
    delete_if       DeleteItem with ConditionExpression
    query           Query, ConsistentRead, begins_with(sk), ScanIndexForward, ExclusiveStartKey
    query_index     Query on the keys-only index `due` (due_pk, due_sk) or `own` (own_pk, pk)
    transact        TransactWriteItems (Put, Update, Delete, ConditionCheck), ClientRequestToken

ConditionalCheckFailedException, alone or as a cancellation reason, is ConditionFailed;
TransactionConflict, throttling and time-outs are Unavailable; ValidationException is BadItem.
Compare("!=") needs `attribute_exists(name) AND name <> value`: a missing attribute never matches.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import Literal

from agent.ports import Change, Condition, Delete, Item, Key, Page, Put, Update, Value, Write
from agent.stores import limits
from agent.stores.conditions import changed, check_change, holds, keys_of, outcome, refused

_Row = tuple[Item, bool]
"""A stored item, and whether any of its values is a list or a map."""


def _copied(value: Value) -> Value:
    if isinstance(value, list):
        return [_copied(part) for part in value]
    if isinstance(value, dict):
        return {name: _copied(part) for name, part in value.items()}
    return value


def _has_nested(item: Item) -> bool:
    return any(type(value) is list or type(value) is dict for value in item.values())


def _own(item: Item, nested: bool) -> Item:
    """A copy that shares no list or map with the original."""
    return {name: _copied(value) for name, value in item.items()} if nested else item.copy()


class _Partition:
    """The rows of one pk and their sort keys in order.

    Python orders texts by code point, which is also the order of their UTF-8 bytes.
    """

    __slots__ = ("order", "rows")

    def __init__(self) -> None:
        self.rows: dict[str, _Row] = {}
        self.order: list[str] = []


class MemoryTable:
    """A Table that lives as long as the object. Each operation is atomic within its event loop."""

    __slots__ = ("_due", "_own", "_parts")

    def __init__(self) -> None:
        self._parts: dict[str, _Partition] = {}
        self._due: dict[str, set[tuple[str, str, str]]] = {}
        self._own: dict[str, set[tuple[str, str]]] = {}

    async def get(self, key: Key) -> Item | None:
        """The item at the key, None when there is none."""
        limits.check_key(key.pk, key.sk)
        row = self._row(key.pk, key.sk)
        return None if row is None else _own(*row)

    async def put(self, item: Item) -> None:
        """Write the item, replacing what was there."""
        nested = limits.admit(item)[1]
        self._store(str(item["pk"]), str(item["sk"]), _own(item, nested), nested)

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None:
        """Write the item if every condition holds of what is there."""
        nested = limits.admit(item)[1]
        pk, sk = str(item["pk"]), str(item["sk"])
        row = self._row(pk, sk)
        if not holds(None if row is None else row[0], when):
            raise refused(Key(pk, sk))
        self._store(pk, sk, _own(item, nested), nested)

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item:
        """Change the item if every condition holds; the answer is the whole new item."""
        limits.check_key(key.pk, key.sk)
        check_change(change)
        row = self._row(key.pk, key.sk)
        stored = None if row is None else row[0]
        if not holds(stored, when):
            raise refused(key)
        item = changed(key, stored, change)
        nested = limits.admit(item)[1]
        self._store(key.pk, key.sk, _own(item, nested) if nested else item, nested)
        return _own(item, nested)

    async def delete_if(self, key: Key, when: Sequence[Condition] = ()) -> None:
        """Remove the item if every condition holds; removing what is absent succeeds."""
        await self.transact((Delete(key, when),))

    async def query(
        self,
        pk: str,
        prefix: str = "",
        *,
        limit: int = 100,
        reverse: bool = False,
        after: Key | None = None,
    ) -> Page:
        """Items of one partition whose sk starts with `prefix`, in the order of sk."""
        limits.check_page(pk, limit, after)
        part = self._parts.get(pk)
        if part is None:
            return Page(())
        end = limits.prefix_end(prefix)
        low = bisect_left(part.order, prefix)
        high = len(part.order) if end is None else bisect_left(part.order, end)
        if after is not None and reverse:
            high = min(high, bisect_left(part.order, after.sk))
        elif after is not None:
            low = max(low, bisect_right(part.order, after.sk))
        if reverse:
            found = part.order[max(low, high - limit) : high][::-1]
        else:
            found = part.order[low : min(high, low + limit)]
        more = high - low > limit
        return Page(
            tuple(_own(*part.rows[sk]) for sk in found), Key(pk, found[-1]) if more else None
        )

    async def query_index(
        self,
        index: Literal["due", "own"],
        pk: str,
        *,
        up_to: str = "",
        limit: int = 100,
        after: Key | None = None,
    ) -> tuple[Key, ...]:
        """Keys of one index partition: `due` by due_sk up to and with `up_to`, `own` by key.

        When the item of `after` has left the index `due` meanwhile, its place is unknown and the
        answer starts from the beginning.
        """
        limits.check_index_page(index, pk, up_to, limit)
        if index == "own":
            own = sorted(self._own.get(pk, ()))
            place = 0 if after is None else bisect_right(own, (after.pk, after.sk))
            return tuple(Key(*key) for key in own[place : place + limit])
        due = sorted(e for e in self._due.get(pk, ()) if not up_to or e[0] <= up_to)
        place = 0 if after is None else self._due_place(due, pk, after)
        return tuple(Key(*entry[1:]) for entry in due[place : place + limit])

    async def transact(self, writes: Sequence[Write]) -> None:
        """All writes, or none when a condition does not hold."""
        keys = keys_of(writes)
        results: list[tuple[Key, Item | None, bool]] = []
        for write, key in zip(writes, keys, strict=True):
            row = self._row(key.pk, key.sk)
            item = outcome(write, key, None if row is None else row[0])
            if isinstance(write, Delete):
                results.append((key, None, False))
            elif isinstance(write, Put | Update) and item is not None:
                # keys_of has checked what is put; what an update makes is known only here.
                put = isinstance(write, Put)
                nested = _has_nested(item) if put else limits.admit(item)[1]
                results.append((key, _own(item, nested), nested))
        for key, item, nested in results:
            if item is None:
                self._remove(key.pk, key.sk)
            else:
                self._store(key.pk, key.sk, item, nested)

    def _row(self, pk: str, sk: str) -> _Row | None:
        part = self._parts.get(pk)
        return None if part is None else part.rows.get(sk)

    def _store(self, pk: str, sk: str, item: Item, nested: bool) -> None:
        part = self._parts.get(pk)
        if part is None:
            part = self._parts[pk] = _Partition()
        old = part.rows.get(sk)
        if old is None:
            insort(part.order, sk)
        else:
            self._leave_indexes(pk, sk, old[0])
        part.rows[sk] = (item, nested)
        if "due_pk" in item and "due_sk" in item:
            self._due.setdefault(str(item["due_pk"]), set()).add((str(item["due_sk"]), pk, sk))
        if "own_pk" in item:
            self._own.setdefault(str(item["own_pk"]), set()).add((pk, sk))

    def _remove(self, pk: str, sk: str) -> None:
        part = self._parts.get(pk)
        if part is None or sk not in part.rows:
            return
        self._leave_indexes(pk, sk, part.rows.pop(sk)[0])
        part.order.pop(bisect_left(part.order, sk))
        if not part.rows:
            del self._parts[pk]

    def _leave_indexes(self, pk: str, sk: str, item: Item) -> None:
        if "due_pk" in item and "due_sk" in item:
            self._due[str(item["due_pk"])].discard((str(item["due_sk"]), pk, sk))
        if "own_pk" in item:
            self._own[str(item["own_pk"])].discard((pk, sk))

    def _due_place(self, due: Sequence[tuple[str, str, str]], pk: str, after: Key) -> int:
        row = self._row(after.pk, after.sk)
        if row is None or row[0].get("due_pk") != pk or "due_sk" not in row[0]:
            return 0
        return bisect_right(due, (str(row[0]["due_sk"]), after.pk, after.sk))

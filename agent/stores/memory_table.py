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

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
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
    """The rows of one pk, and their sort keys in order as soon as somebody asks for them.

    Python orders texts by code point, which is also the order of their UTF-8 bytes.
    """

    __slots__ = ("_order", "rows")

    def __init__(self) -> None:
        self.rows: dict[str, _Row] = {}
        self._order: list[str] = []

    def order(self) -> list[str]:
        """The sort keys in order; a key that came or went makes another number of them."""
        if len(self._order) != len(self.rows):
            self._order = sorted(self.rows)
        return self._order

    def remove(self, sk: str) -> None:
        """Forget a row; without its key another of the same number would go unnoticed."""
        del self.rows[sk]
        self._order = []


class _Indexes:
    """The keys-only indexes, brought up to date when they are asked."""

    __slots__ = ("_due", "_own", "_stale", "_where")

    def __init__(self) -> None:
        self._stale: dict[tuple[str, str], None] = {}
        self._where: dict[tuple[str, str], tuple[str, str, str]] = {}
        self._due: dict[str, set[tuple[str, str, str]]] = {}
        self._own: dict[str, set[tuple[str, str]]] = {}

    def touch(self, pk: str, sk: str) -> None:
        """Note that an item was written or removed."""
        self._stale[pk, sk] = None

    def due(self, pk: str, parts: Mapping[str, _Partition]) -> list[tuple[str, str, str]]:
        """The entries (due_sk, pk, sk) of one partition of `due` in order."""
        self._settle(parts)
        return sorted(self._due.get(pk, ()))

    def own(self, pk: str, parts: Mapping[str, _Partition]) -> list[tuple[str, str]]:
        """The keys of one partition of `own` in order."""
        self._settle(parts)
        return sorted(self._own.get(pk, ()))

    def _settle(self, parts: Mapping[str, _Partition]) -> None:
        for key in self._stale:
            due_pk, due_sk, own_pk = self._where.pop(key, ("", "", ""))
            self._due.get(due_pk, set()).discard((due_sk, *key))
            self._own.get(own_pk, set()).discard(key)
            part = parts.get(key[0])
            row = None if part is None else part.rows.get(key[1])
            if row is None:
                continue
            has_due = "due_pk" in row[0] and "due_sk" in row[0]
            due_pk, due_sk = (str(row[0][n]) if has_due else "" for n in ("due_pk", "due_sk"))
            own_pk = str(row[0].get("own_pk") or "")
            self._where[key] = due_pk, due_sk, own_pk
            if has_due:
                self._due.setdefault(due_pk, set()).add((due_sk, *key))
            if own_pk:
                self._own.setdefault(own_pk, set()).add(key)
        self._stale.clear()


class MemoryTable:
    """A Table that lives as long as the object. Each operation is atomic within its event loop."""

    __slots__ = ("_indexes", "_parts")

    def __init__(self) -> None:
        self._parts: dict[str, _Partition] = {}
        self._indexes = _Indexes()

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
        order = part.order()
        low = bisect_left(order, prefix)
        high = len(order) if end is None else bisect_left(order, end)
        if after is not None and reverse:
            high = min(high, bisect_left(order, after.sk))
        elif after is not None:
            low = max(low, bisect_right(order, after.sk))
        if reverse:
            found = order[max(low, high - limit) : high][::-1]
        else:
            found = order[low : min(high, low + limit)]
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
            own = self._indexes.own(pk, self._parts)
            place = 0 if after is None else bisect_right(own, (after.pk, after.sk))
            return tuple(Key(*key) for key in own[place : place + limit])
        due = [e for e in self._indexes.due(pk, self._parts) if not up_to or e[0] <= up_to]
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
        part.rows[sk] = (item, nested)
        self._indexes.touch(pk, sk)

    def _remove(self, pk: str, sk: str) -> None:
        part = self._parts.get(pk)
        if part is None or sk not in part.rows:
            return
        self._indexes.touch(pk, sk)
        part.remove(sk)
        if not part.rows:
            del self._parts[pk]

    def _due_place(self, due: Sequence[tuple[str, str, str]], pk: str, after: Key) -> int:
        row = self._row(after.pk, after.sk)
        if row is None or row[0].get("due_pk") != pk or "due_sk" not in row[0]:
            return 0
        return bisect_right(due, (str(row[0]["due_sk"]), after.pk, after.sk))

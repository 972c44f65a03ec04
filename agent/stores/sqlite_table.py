"""Table in one SQLite file: the store of a single machine, safe with several processes."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, cast

from agent.ports import Change, Condition, Delete, Item, Key, Page, Put, Update, Value, Write
from agent.stores import limits
from agent.stores.conditions import keys_of, outcome
from agent.stores.sqlite_file import SqliteFile

_VERSION = 1
_SCHEMA = """
CREATE TABLE items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, body TEXT NOT NULL,
    due_pk TEXT, due_sk TEXT, own_pk TEXT,
    PRIMARY KEY (pk, sk)
);
CREATE INDEX due ON items (due_pk, due_sk, pk, sk) WHERE due_pk IS NOT NULL;
CREATE INDEX own ON items (own_pk, pk, sk) WHERE own_pk IS NOT NULL
"""
_PUT = "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?)"
_BYTES = "\0b"
"""The name that marks bytes in the JSON text; no attribute has NUL in its name."""


def _bytes_to_json(value: object) -> dict[str, str]:
    return {_BYTES: b64encode(cast(bytes, value)).decode("ascii")}


def _bytes_from_json(value: dict[str, Value]) -> dict[str, Value] | bytes:
    if _BYTES in value:
        return b64decode(str(value[_BYTES]))
    return value


def _encoded(item: Item) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"), default=_bytes_to_json)


def _decoded(body: str) -> Item:
    return cast(Item, json.loads(body, object_hook=_bytes_from_json))


class SqliteTable:
    """A Table in the file `path`. `aclose` ends its thread and closes the file."""

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path, _SCHEMA, _VERSION)

    async def aclose(self) -> None:
        """Close the file; the table can not be used afterwards."""
        await self._file.aclose()

    async def owners(self) -> tuple[str, ...]:
        """Every partition of the index `own`: the people and groups of records that there are."""
        statement = "SELECT DISTINCT own_pk FROM items WHERE own_pk IS NOT NULL ORDER BY own_pk"
        return await self._file.read(lambda c: tuple(r[0] for r in c.execute(statement).fetchall()))

    async def compact(self) -> None:
        """Leave nothing of deleted items in the file."""
        await self._file.compact()

    async def get(self, key: Key) -> Item | None:
        """The item at the key, None when there is none."""
        limits.check_key(key.pk, key.sk)
        return await self._file.read(lambda connection: _load(connection, key))

    async def put(self, item: Item) -> None:
        """Write the item, replacing what was there."""
        await self.transact((Put(item),))

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None:
        """Write the item if every condition holds of what is there."""
        await self.transact((Put(item, when),))

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item:
        """Change the item if every condition holds; the answer is the whole new item."""
        (item,) = await self._write((Update(key, change, when),))
        return item or {}

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
        where, values = ["pk = ?", "sk >= ?"], [pk, prefix]
        end = limits.prefix_end(prefix)
        if end is not None:
            where.append("sk < ?")
            values.append(end)
        if after is not None:
            where.append("sk < ?" if reverse else "sk > ?")
            values.append(after.sk)
        rows = await self._rows(
            "SELECT body, sk FROM items", where, "sk DESC" if reverse else "sk", values, limit + 1
        )
        more = Key(pk, rows[limit - 1][1]) if len(rows) > limit else None
        return Page(tuple(_decoded(row[0]) for row in rows[:limit]), more)

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
        where, values = [f"{index}_pk = ?"], [pk]
        if up_to:
            where.append("due_sk <= ?")
            values.append(up_to)
        place = () if after is None else await self._place(index, pk, after)
        if place:
            where.append("(due_sk, pk, sk) > (?, ?, ?)" if index == "due" else "(pk, sk) > (?, ?)")
            values.extend(place)
        order = "due_sk, pk, sk" if index == "due" else "pk, sk"
        rows = await self._rows("SELECT pk, sk FROM items", where, order, values, limit)
        return tuple(Key(*row) for row in rows)

    async def transact(self, writes: Sequence[Write]) -> None:
        """All writes, or none when a condition does not hold."""
        await self._write(writes)

    async def _write(self, writes: Sequence[Write]) -> list[Item | None]:
        keys = keys_of(writes)

        def work(connection: sqlite3.Connection) -> list[Item | None]:
            items: list[Item | None] = []
            for write, key in zip(writes, keys, strict=True):
                item = outcome(write, key, _load(connection, key))
                if isinstance(write, Update) and item is not None:
                    limits.admit(item)
                items.append(item)
            for write, key, item in zip(writes, keys, items, strict=True):
                if isinstance(write, Put | Update) and item is not None:
                    _save(connection, key, item)
                elif isinstance(write, Delete):
                    connection.execute("DELETE FROM items WHERE pk = ? AND sk = ?", _pair(key))
            return items

        return await self._file.write(work)

    async def _rows(
        self, select: str, where: Sequence[str], order: str, values: Sequence[str], limit: int
    ) -> list[tuple[str, str]]:
        statement = f"{select} WHERE {' AND '.join(where)} ORDER BY {order} LIMIT {limit:d}"
        return await self._file.read(lambda c: c.execute(statement, values).fetchall())

    async def _place(self, index: Literal["due", "own"], pk: str, after: Key) -> tuple[str, ...]:
        if index == "own":
            return _pair(after)
        statement = "SELECT due_sk FROM items WHERE pk = ? AND sk = ? AND due_pk = ?"
        row = await self._file.read(
            lambda c: cast(tuple[str] | None, c.execute(statement, (*_pair(after), pk)).fetchone())
        )
        return () if row is None else (row[0], *_pair(after))


def _pair(key: Key) -> tuple[str, str]:
    return key.pk, key.sk


def _load(connection: sqlite3.Connection, key: Key) -> Item | None:
    row = cast(
        tuple[str] | None,
        connection.execute("SELECT body FROM items WHERE pk = ? AND sk = ?", _pair(key)).fetchone(),
    )
    return None if row is None else _decoded(row[0])


def _save(connection: sqlite3.Connection, key: Key, item: Item) -> None:
    due = (item["due_pk"], item["due_sk"]) if "due_pk" in item and "due_sk" in item else (None,) * 2
    connection.execute(_PUT, (*_pair(key), _encoded(item), *due, item.get("own_pk")))

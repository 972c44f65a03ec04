"""Doorbell in one SQLite file: several processes may ring and receive."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import cast

from agent.ports import Clock, Ids, Ring
from agent.stores.sqlite_file import SqliteFile

_VERSION = 1
_SCHEMA = """
CREATE TABLE rings (
    id INTEGER PRIMARY KEY, session TEXT NOT NULL, visible_at REAL NOT NULL, receipt TEXT
);
CREATE INDEX visible ON rings (visible_at);
CREATE INDEX receipt ON rings (receipt) WHERE receipt IS NOT NULL
"""


class SqliteQueue:
    """A Queue in the file `path`.

    A ring that was received and not acknowledged within `visibility` seconds comes again under a
    new receipt; the old one then does nothing.
    """

    def __init__(self, path: Path, clock: Clock, ids: Ids, visibility: float = 60.0) -> None:
        self._file = SqliteFile(path, _SCHEMA, _VERSION)
        self._clock = clock
        self._ids = ids
        self._visibility = visibility

    async def aclose(self) -> None:
        """Close the file; the queue can not be used afterwards."""
        await self._file.aclose()

    async def ring(self, session: str, delay: float = 0.0) -> None:
        """Announce work in the session, to be received after `delay` seconds."""
        statement = "INSERT INTO rings (session, visible_at) VALUES (?, ?)"
        values = (session, self._clock.now() + delay)
        await self._file.write(lambda c: c.execute(statement, values) and None)

    async def receive(self, limit: int = 1) -> tuple[Ring, ...]:
        """Up to `limit` rings whose time has come, oldest first; none is no reason to wait."""
        now = self._clock.now()

        def work(connection: sqlite3.Connection) -> tuple[Ring, ...]:
            rows = cast(
                list[tuple[int, str]],
                connection.execute(
                    "SELECT id, session FROM rings WHERE visible_at <= ?"
                    " ORDER BY visible_at, id LIMIT ?",
                    (now, limit),
                ).fetchall(),
            )
            rings = tuple(Ring(session, self._ids.new()) for _, session in rows)
            for (row, _), ring in zip(rows, rings, strict=True):
                connection.execute(
                    "UPDATE rings SET visible_at = ?, receipt = ? WHERE id = ?",
                    (now + self._visibility, ring.receipt, row),
                )
            return rings

        return await self._file.write(work)

    async def ack(self, receipt: str) -> None:
        """Take the ring off the queue; a receipt that is no longer valid does nothing."""
        statement = "DELETE FROM rings WHERE receipt = ?"
        await self._file.write(lambda c: c.execute(statement, (receipt,)) and None)

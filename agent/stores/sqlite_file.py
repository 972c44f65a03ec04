"""One SQLite file, used by several processes, whose work never blocks the event loop."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from agent.errors import Misconfigured, Unavailable
from agent.stores.private_file import private_file

_T = TypeVar("_T")
_BUSY_SECONDS = 10
_OPEN_TRIES = 200
_OPEN_PAUSE = 0.05
"""Both together are as long as _BUSY_SECONDS."""


class SqliteFile:
    """A file with a schema, opened at first use in a thread of its own.

    WAL, so that readers never wait; every write begins with BEGIN IMMEDIATE, so that a conditional
    write sees what it decides on; synchronous=FULL, since a platform that got its 200 never sends
    the event again. `version` is kept in user_version.
    """

    def __init__(self, path: Path, schema: str, version: int) -> None:
        self._path = path
        self._schema = schema
        self._version = version
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sqlite-{path.stem}")

    async def read(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` outside a transaction of ours: for single statements that only read."""
        return await self._run(lambda: work(self._open()))

    async def write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in one transaction; an exception undoes all of it.

        Raises:
            Unavailable: the file stayed locked for 10 s, the disk is full or not readable.
        """
        return await self._run(lambda: self._transaction(work))

    async def compact(self) -> None:
        """Leave nothing of what was deleted in the file or its log.

        Raises:
            Unavailable: somebody reads all the time; the deleted parts may still be there.
        """
        await self._run(self._compact)

    async def aclose(self) -> None:
        """Close the file; the object can not be used afterwards."""
        await self._run(self._close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], _T]) -> _T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except sqlite3.OperationalError as error:
            raise Unavailable(f"{self._path.name}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Misconfigured(f"{self._path.name} is damaged: restore it from a copy") from error

    def _transaction(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        connection = self._open()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:  # whatever it is goes on, cancelling too; nothing half is written
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            private_file(self._path)
            connection = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            try:
                self._prepare(connection)
            except BaseException:  # whatever it is goes on; the connection is not left open
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        _to_wal(connection)
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        with closing(connection.execute("PRAGMA user_version")) as rows:
            found = int(rows.fetchone()[0])
        if found == 0:
            for statement in self._schema.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self._version}")
        connection.execute("COMMIT")
        if found not in {0, self._version}:
            raise Misconfigured(
                f"{self._path.name} has format {found}, this version reads {self._version}: "
                "run the version that wrote it, or set PLUMBLINE_HOME to a new folder"
            )

    def _compact(self) -> None:
        connection = self._open()
        connection.execute("PRAGMA temp_store = MEMORY")  # no copy of the file elsewhere
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("VACUUM")
        with closing(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")) as rows:
            busy = bool(rows.fetchone()[0])
        if busy:
            raise Unavailable(f"{self._path.name} is in use: try again, or stop the bot for it")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _to_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite does not wait by itself while another process does the same."""
    pause = threading.Event()
    for _ in range(_OPEN_TRIES):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            pause.wait(_OPEN_PAUSE)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")

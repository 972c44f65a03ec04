"""Collects what was shown, sent or stored, with those who could read it, and looks for canaries."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from agent.ports import Change, Condition, Item, Key, Put, Update, Value, Write
from agent.stores.sqlite_table import SqliteTable
from handlers.leakcheck.tenant import Person, Secret

Search = Callable[[str], Collection[Secret]]
"""The secrets of which a text holds the canary."""

OPERATORS: Final = "operators"
"""Who reads logs, and rows that belong to nobody: no canary may be there."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary in sight of somebody who may not read it; no text of it is kept."""

    where: str
    who: str
    source: str


@dataclass(slots=True)
class Witness:
    """Looks at each text as it comes.

    `texts` counts them by kind, `leaks` holds each leak once, `shown` by turn the canaries and
    sources that its model was shown.
    """

    search: Search
    people: dict[str, Person]
    leaks: dict[Leak, None] = field(default_factory=dict[Leak, None])
    texts: dict[str, int] = field(default_factory=dict[str, int])
    shown: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def saw(self, where: str, text: str, readers: Collection[str]) -> Collection[Secret]:
        """Note a text that these principals can read; OPERATORS stands for all the others.

        Args:
            where: What kind of place it is.
            text: The text.
            readers: Principals; nobody at all means the operators.
        """
        self.texts[where] = self.texts.get(where, 0) + 1
        found = self.search(text)
        for secret in found:
            for who in readers or (OPERATORS,):
                person = self.people.get(who)
                if person is None or not secret.is_for(person):
                    self.leaks[Leak(where, who, secret.source)] = None
        return found


class WatchedTable(SqliteTable):
    """A table that tells a witness of every row that is written, in the words that stand there.

    `members` says who may read a session's memory. A row with an owner is read for the owner
    alone; any other is nobody's.
    """

    def __init__(
        self, table: SqliteTable, witness: Witness, sessions: dict[str, Sequence[str]]
    ) -> None:
        self._file = table._file  # pyright: ignore[reportPrivateUsage]  the same file
        self._witness = witness
        self._sessions = sessions
        self._owners: dict[Key, str] = {}

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item:
        """Note what changes, then change it."""
        self._note(key, change.set)
        return await super().update_if(key, change, when)

    async def transact(self, writes: Sequence[Write]) -> None:
        """Note what is written, then write it."""
        for write in writes:
            if isinstance(write, Put):
                self._note(Key(str(write.item["pk"]), str(write.item["sk"])), write.item)
            elif isinstance(write, Update):
                self._note(write.key, write.change.set)
        await super().transact(writes)

    def _note(self, key: Key, values: object) -> None:
        if not isinstance(values, dict):
            return
        owner = str(values.get("own_pk") or self._owners.get(key, ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  any item
        self._owners[key] = owner
        readers = (owner,) if owner else self._sessions.get(key.pk.removeprefix("S#"), ())
        kind = str(values.get("k", "row"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  any item
        self._witness.saw(f"stored {kind}", words_of(values), readers)  # pyright: ignore[reportUnknownArgumentType]  any item


def words_of(value: Value) -> str:
    """All that a stored value says in clear or merely packed; what is sealed stays shut."""
    if isinstance(value, dict):
        return "\n".join(words_of(part) for part in value.values())
    if isinstance(value, list):
        return "\n".join(map(words_of, value))
    if isinstance(value, bytes):
        with suppress(zlib.error):
            value = zlib.decompress(value)
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


class LogWitness(logging.Handler):
    """Tells a witness of every line of the logs, whatever its level."""

    def __init__(self, witness: Witness) -> None:
        super().__init__(logging.DEBUG)
        self._witness = witness
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one line, with its traceback if it has one."""
        self._witness.saw("log", self.format(record), ())

"""What a session remembers: its last exchanges as they were posted, under an optimistic version."""

from __future__ import annotations

import zlib
from typing import cast

from agent.domain import EVERYONE, Json
from agent.durable import keys
from agent.durable.records import check_format, new_item, number_of
from agent.jsontext import packed, unpacked
from agent.ports import NEW, Compare, Condition, Put, Table
from agent.values import value

KEPT_EXCHANGES = 20
_SHORT = 1024
"""Bytes up to which a memory is stored as it is; a deflated one never starts with `[`."""
MAX_BYTES = 300 * 1024
"""The compressed text stays below DynamoDB's 400 KB for an item, with room for the rest."""

_EVERYBODY = frozenset((EVERYONE,))


@value
class Exchange:
    """One question and its answer, as both stood in the chat.

    `message` is the question's message id, `asker` a principal, `at` seconds since the epoch,
    `readers` the label of the answer.
    """

    message: str
    asker: str
    question: str
    answer: str
    at: float
    readers: frozenset[str] = _EVERYBODY


@value
class Snapshot:
    """A session's memory, oldest exchange first. `version` is what was read, 0 for none yet."""

    exchanges: tuple[Exchange, ...] = ()
    version: int = 0

    def after(self, exchange: Exchange) -> Snapshot:
        """With one more exchange; the oldest beyond KEPT_EXCHANGES are forgotten."""
        return Snapshot((*self.exchanges, exchange)[-KEPT_EXCHANGES:], self.version)

    def cleared(self) -> Snapshot:
        """With nothing remembered."""
        return Snapshot((), self.version)


async def load(table: Table, session: str) -> Snapshot:
    """The session's memory; empty when there is none.

    Raises:
        UnknownFormat: it was written in a format that is not read any more.
    """
    item = await table.get(keys.snapshot(session))
    if item is None:
        return Snapshot()
    check_format(item, "snapshot")
    return Snapshot(_unpacked(cast(bytes, item["data"])), number_of(item, "version"))


def save(snapshot: Snapshot, session: str, org: str, fence: int, now: float) -> Put:
    """The write that stores a memory, for the transaction at the end of the turn.

    It is refused when another turn has saved since this one read, or under a later fence. Above
    MAX_BYTES the oldest exchanges are forgotten.

    Args:
        snapshot: What is to be remembered, with the version it was read under.
        session: Whose memory it is.
        org: The organisation the session belongs to.
        fence: The fence of the lease that is held.
        now: Wall time in seconds.
    """
    item = new_item(keys.snapshot(session), "snapshot", org, now)
    item["version"] = snapshot.version + 1
    item["fence"] = fence
    item["data"] = _packed(snapshot.exchanges)
    when: tuple[Condition, ...] = NEW
    if snapshot.version:
        when = (Compare("version", "=", snapshot.version), Compare("fence", "<=", fence))
    return Put(item, when)


def _packed(exchanges: tuple[Exchange, ...]) -> bytes:
    """Canonical JSON, compressed when it is long: equal memories are equal bytes."""
    rows: list[Json] = [_row(e) for e in exchanges]
    while True:
        data = _compressed(packed(rows).encode())
        if len(data) <= MAX_BYTES:
            return data
        rows.pop(0)


def _row(e: Exchange) -> list[Json]:
    """An exchange as plain values; its label stands there only when it is a narrow one."""
    row: list[Json] = [e.message, e.asker, e.question, e.answer, e.at]
    return row if EVERYONE in e.readers else [*row, [*sorted(e.readers)]]


def _compressed(text: bytes) -> bytes:
    """Deflated, unless it is short: DynamoDB bills whole kilobytes, and deflating costs as much."""
    return zlib.compress(text) if len(text) > _SHORT else text


def _unpacked(data: bytes) -> tuple[Exchange, ...]:
    text = data if data.startswith(b"[") else zlib.decompress(data)
    rows = cast(list[list[str]], unpacked(text.decode()))
    return tuple(Exchange(*row[:5], *map(frozenset, row[5:])) for row in rows)  # pyright: ignore[reportArgumentType]  what _row wrote

"""What one person was answered in private in a group's thread: sealed, and theirs alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from agent.durable import keys
from agent.durable.records import TurnRecord, check_format, new_item
from agent.jsontext import packed, unpacked
from agent.ports import Cipher, Clock, Put, Table

KEPT = 24 * 3_600
"""Seconds after which a private answer is no longer part of a follow-up."""

Context = Mapping[str, tuple[str, frozenset[str], float]]
"""By the question's message: the answer, its label, when it was asked (s since the epoch)."""


async def load(table: Table, cipher: Cipher, clock: Clock, record: TurnRecord) -> Context:
    """The asker's private answers in the session of this turn, none older than KEPT.

    Raises:
        UnknownFormat: it was written in a format that is not read any more.
        Misconfigured: the key is another one.
    """
    item = await table.get(keys.private_context(record.session, record.owner))
    if item is None:
        return {}
    box = cast(bytes, check_format(item, "private")["box"])
    plain = unpacked((await cipher.open(box, _context(record))).decode())
    stored = cast(dict[str, tuple[str, list[str], float]], plain)
    oldest = clock.now() - KEPT
    return {m: (text, frozenset(to), at) for m, (text, to, at) in stored.items() if at > oldest}


async def forget(
    table: Table, cipher: Cipher, clock: Clock, record: TurnRecord, message: str
) -> None:
    """Delete the private answer to a message of the asker, for whoever holds the session."""
    context = await load(table, cipher, clock, record)
    if message in context:
        kept = {m: answer for m, answer in context.items() if m != message}
        await table.put((await seal(cipher, clock, record, kept)).item)


async def seal(cipher: Cipher, clock: Clock, record: TurnRecord, context: Context) -> Put:
    """The write that stores them, for the transaction at the end of the turn."""
    key = keys.private_context(record.session, record.owner)
    item = new_item(key, "private", record.org, clock.now(), record.owner)
    rows = {m: [text, sorted(label), at] for m, (text, label, at) in context.items()}
    item["box"] = await cipher.seal(packed(rows).encode(), _context(record))  # pyright: ignore[reportArgumentType]  rows are plain values
    return Put(item)


def _context(record: TurnRecord) -> dict[str, str]:
    return {"purpose": "private", "session": record.session, "principal": record.owner}

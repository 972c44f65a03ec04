"""What is known of every document that was ever offered, taken in or refused, in the Table."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from agent.domain import DocumentStatus
from agent.durable import keys, rights
from agent.ports import Clock, Item, Key, Page, Table, Value
from rag.documents import Document
from rag.near_duplicates import near_duplicates

State = Literal["indexing", "indexed", "refused", "removed"]
"""`indexing`: begun and not complete; the next run does it again."""

_FORMAT = 1
_TOMBSTONE_SECONDS = 30 * 86_400
"""How long a removed document is remembered (DATA_MODEL.md)."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One document of a space. `reason` says why it was refused, "" otherwise.

    `hash` is the SHA-256 of the file's bytes. `inherited` says that the readers are the space's; in
    entries of older versions, that they are the same as the space's. `updated_at` is when this
    entry was written, in seconds since the epoch. `sketch` tells texts that are nearly the same
    (rag.near_duplicates); "" in entries of older versions.
    """

    source: str
    space: str
    external: str
    state: State
    title: str = ""
    reason: str = ""
    hash: str = ""
    fingerprint: str = ""
    readers: frozenset[str] = frozenset()
    inherited: bool = False
    version: str = ""
    status: DocumentStatus = "current"
    group: str = ""
    obsolete_by: str = ""
    chunks: int = 0
    updated_at: float = 0.0
    sketch: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """A space and who reads what does not say otherwise.

    `by_hand` means that an operator set the readers, so that no folder's `_space.yaml` changes
    them.
    """

    name: str
    readers: frozenset[str]
    by_hand: bool = False


class Catalog:
    """The document records of one organisation's knowledge base."""

    def __init__(self, table: Table, org: str, clock: Clock) -> None:
        self._table = table
        self._org = org
        self._clock = clock

    async def put(self, entry: CatalogEntry) -> None:
        """Write an entry in place of the one before."""
        item = self._item(keys.document(self._org, entry.space, entry.source), "document")
        for field in dataclasses.fields(entry):
            item[field.name] = cast(Value, getattr(entry, field.name))
        item["readers"] = list[Value](sorted(entry.readers))
        item["updated_at"] = self._clock.now()
        if entry.state == "removed":
            item["exp"] = int(self._clock.now()) + _TOMBSTONE_SECONDS
        await self._table.put(item)

    async def entries(self, space: str) -> tuple[CatalogEntry, ...]:
        """Every document of a space by id, removed ones left out."""
        pk = keys.document(self._org, space, "-").pk  # the part that all share
        opened = await self.space(space)
        found = [_entry(item, opened) async for item in self._all(pk, "D#")]
        return tuple(entry for entry in found if entry.state != "removed")

    async def space_of(self, source: str, spaces: Iterable[str]) -> str:
        """Which of these spaces a document is in; "" for none of them."""
        for space in spaces:
            if await self._table.get(keys.document(self._org, space, source)) is not None:
                return space
        return ""

    async def readable(self, labels: frozenset[str]) -> int:
        """How many documents there are for somebody who carries these reader labels."""
        entries = [e for space in await self.spaces() for e in await self.entries(space)]
        return sum(e.state == "indexed" and not labels.isdisjoint(e.readers) for e in entries)

    async def set_readers(self, space: Space) -> None:
        """Note a space and its readers, for it and for the documents that inherit them."""
        before = await self.space(space.name)
        item = self._item(keys.space(self._org, space.name), "space")
        item |= {"name": space.name, "by_hand": space.by_hand}
        await self._table.put({**item, "readers": list[Value](sorted(space.readers))})
        for entry in await self.entries(space.name):
            if entry.inherited and entry.readers != space.readers and entry.state == "indexed":
                await self.put(dataclasses.replace(entry, readers=space.readers))
        if before is None or before.readers != space.readers:
            await rights.changed(self._table, self._org)

    async def space(self, name: str) -> Space | None:
        """A space; None when there is none of this name."""
        item = await self._table.get(keys.space(self._org, name))
        if item is None:
            return None
        readers = cast("Sequence[str]", item["readers"])
        return Space(name, frozenset(readers), item.get("by_hand") is True)

    async def spaces(self) -> tuple[str, ...]:
        """The names of all spaces, in order."""
        pk = keys.space(self._org, "-").pk
        return tuple(sorted([str(item["name"]) async for item in self._all(pk, "SPACE#")]))

    async def _all(self, pk: str, prefix: str) -> AsyncIterator[Item]:
        page = Page(())
        while True:
            page = await self._table.query(pk, prefix, after=page.after)
            for item in page.items:
                yield item
            if page.after is None:
                return

    def _item(self, key: Key, kind: str) -> Item:
        return {
            "pk": key.pk,
            "sk": key.sk,
            "k": kind,
            "v": _FORMAT,
            "org": self._org,
            "cls": "kb",
        }


def copies(entries: Iterable[CatalogEntry]) -> dict[str, str]:
    """Paths of documents that say nearly the same as another one, and that one's path.

    Versions that are marked as such are none. The one that was named first by path is the original.
    """
    current = sorted(
        (e for e in entries if e.state == "indexed" and e.status == "current"),
        key=lambda e: e.external,
    )
    groups = {e.external: e.group for e in current}
    found = near_duplicates({e.external: e.sketch for e in current if e.sketch})
    return {
        one: original
        for one, original in found.items()
        if not groups[one] or groups[one] != groups[original]
    }


def complete(document: Document, content_hash: str, chunks: int, sketch: str = "") -> CatalogEntry:
    """The entry of a document whose every chunk is in the index."""
    return CatalogEntry(
        source=document.source,
        space=document.space,
        external=document.external,
        state="indexed",
        title=document.title,
        hash=content_hash,
        fingerprint=document.fingerprint,
        readers=document.readers,
        inherited=document.inherited,
        version=document.version,
        status=document.status,
        group=document.group,
        obsolete_by=document.obsolete_by,
        chunks=chunks,
        sketch=sketch,
    )


def _entry(item: Item, space: Space | None) -> CatalogEntry:
    names = {field.name for field in dataclasses.fields(CatalogEntry)}
    values = {name: value for name, value in item.items() if name in names}
    readers = frozenset(cast("Sequence[str]", item["readers"]))
    values["readers"] = cast(Value, readers)
    values.setdefault("inherited", space is not None and readers == space.readers)
    return CatalogEntry(**values)  # pyright: ignore[reportArgumentType]  written by `put` above

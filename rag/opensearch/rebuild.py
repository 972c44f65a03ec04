"""A new index beside the old one, from what the old one holds; then the alias is moved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np

from rag.documents import IndexedChunk, Vectors, searched_text
from rag.opensearch import generations
from rag.opensearch.bulk import Write, send
from rag.opensearch.entries import (
    DOCUMENT,
    chunk_entry,
    chunk_of,
    document_entry,
    document_of,
)
from rag.opensearch.index import OpenSearchIndex
from rag.opensearch.mapping import Generation
from rag.ports import Embedder

_BATCH = 64
_GRACE = 30.0
"""Seconds that the old index stays after the swap: longer than any search may take."""

_Hit = dict[str, Any]


async def rebuild(index: OpenSearchIndex, embedder: Embedder, grace: float = _GRACE) -> int:
    """Write everything anew in today's format, with this embedder's vectors; how many chunks.

    Searches go on in the old index until the last moment. Whoever writes meanwhile gets Unavailable
    on a domain; a collection knows no such lock, so nothing may be added there meanwhile. A run
    that breaks off leaves the old index as it was. `grace` is how many seconds the old one stays
    for searches under way.
    """
    old = await generations.current(index.server, index.alias)
    if old is None:
        return 0
    new = generations.next_generation(old, embedder.name, embedder.dimensions)
    await _lock(index, old, locked=True)
    swapped = False
    try:
        await generations.create(index.server, new, serverless=index.serverless)
        count = await _copy(index, old, new, embedder)
        await generations.swap(index.server, index.alias, old, new)
        swapped = True
    finally:
        if not swapped:
            await _lock(index, old, locked=False)
    await index.clock.sleep(grace)
    await generations.drop(index.server, old)
    return count


async def _copy(
    index: OpenSearchIndex, old: Generation, new: Generation, embedder: Embedder
) -> int:
    count = 0
    shown = ["part", "record", *(["vector"] if old.embedder == embedder.name else [])]
    entries = generations.scan(index.server, old.name, [{"match_all": {}}], shown)
    async for batch in _batches(entries):
        chunks = [hit for hit in batch if hit["_source"]["part"] != DOCUMENT]
        heads = [hit for hit in batch if hit["_source"]["part"] == DOCUMENT]
        writes = [
            Write("index", hit["_id"], document_entry(document_of(hit["_source"]), embedder.name))
            for hit in heads
        ]
        found = [chunk_of(hit["_source"]) for hit in chunks]
        vectors = await _vectors(chunks, found, embedder, kept=old.embedder == embedder.name)
        for hit, chunk, vector in zip(chunks, found, vectors, strict=True):
            entry = chunk_entry(chunk.document, chunk.chunk, vector, embedder.name)
            writes.append(Write("index", hit["_id"], entry))
        count += len(chunks)
        await send(index.server, new.name, [_for(index, write) for write in writes], index.clock)
    if not index.serverless:
        await index.server.call("POST", f"/{new.name}/_refresh")
    return count


async def _vectors(
    hits: Sequence[_Hit], found: Sequence[IndexedChunk], embedder: Embedder, *, kept: bool
) -> Vectors:
    if not kept:
        texts = [searched_text(each.document, each.chunk) for each in found]
        return await asyncio.to_thread(embedder.embed_passages, texts)
    none = [0.0] * embedder.dimensions
    rows = [hit["_source"].get("vector", none) for hit in hits]
    return np.array(rows, dtype=np.float32).reshape(len(rows), embedder.dimensions)


async def _batches(entries: AsyncIterator[_Hit]) -> AsyncIterator[list[_Hit]]:
    batch: list[_Hit] = []
    async for hit in entries:
        batch.append(hit)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _lock(index: OpenSearchIndex, generation: Generation, *, locked: bool) -> None:
    if not index.serverless:
        body = {"index": {"blocks": {"write": locked}}}
        await index.server.call("PUT", f"/{generation.name}/_settings", body)


def _for(index: OpenSearchIndex, write: Write) -> Write:
    return Write(write.verb, "" if index.serverless else write.id, write.entry)

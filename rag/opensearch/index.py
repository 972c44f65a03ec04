"""The SearchIndex over OpenSearch: writes that end with a refresh, searches by search.py."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from agent.ports import Clock
from rag.documents import Chunk, Document, IndexedChunk, Vectors
from rag.opensearch import generations, queries
from rag.opensearch.bulk import Write, send
from rag.opensearch.entries import (
    DOCUMENT,
    chunk_entry,
    chunk_id,
    chunk_of,
    document_entry,
    document_id,
    document_of,
    readers_change,
)
from rag.opensearch.mapping import alias_of
from rag.opensearch.search import Question, find
from rag.opensearch.server import OpenSearchServer, Server
from rag.opensearch.target import Target
from rag.ports import EVERYTHING, Channels, Filters


class OpenSearchIndex:
    """A SearchIndex behind one alias of an OpenSearch domain or collection.

    On a domain a change is seen whole with the end of its call; a collection shows it within its
    own refresh time, about a minute. An index is made with the first document.
    """

    def __init__(self, server: Server, org: str, clock: Clock, *, serverless: bool = False) -> None:
        self.server = server
        self.alias = alias_of(org)
        self.clock = clock
        self.serverless = serverless
        self._claims = asyncio.Lock()

    # --- writing ---------------------------------------------------------------------------------

    async def upsert(
        self, document: Document, chunks: Sequence[Chunk], vectors: Vectors, embedder: str
    ) -> None:
        """Replace a document; its own entry goes first and comes last, so half a one shows as such.

        Raises:
            IndexRefused: the server refused some of it; the document counts as incomplete.
        """
        if vectors.shape[0] != len(chunks):
            raise ValueError("one vector a chunk")
        async with self._claims:
            await generations.claim(
                self.server, self.alias, embedder, vectors.shape[1], serverless=self.serverless
            )
        before = await self._entries([document.source])
        own = {self._id(chunk_id(document.source, chunk.position)) for chunk in chunks}
        gone = [Write("delete", i) for i, part in before if part == DOCUMENT]
        stale = [Write("delete", i) for i, part in before if part != DOCUMENT and i not in own]
        written = [
            Write(
                "index",
                self._id(chunk_id(document.source, chunk.position)),
                chunk_entry(document, chunk, vector, embedder),
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        head = self._id(document_id(document.source))
        last = Write("index", head, document_entry(document, embedder))
        await self._send([*gone, *written])
        await self._send([*stale, last])
        await self._refresh()

    async def delete(self, sources: Sequence[str]) -> None:
        """Remove all entries of these documents."""
        stale = [Write("delete", i) for i, _ in await self._entries(sources)]
        if stale:
            await self._send(stale)
            await self._refresh()

    async def set_readers(
        self, space: str, readers: frozenset[str], before: frozenset[str]
    ) -> frozenset[str]:
        """Other readers for a space's own documents; each says by itself whether it inherits."""
        heads = generations.scan(self.server, self.alias, queries.documents(space), ["record"])
        stored = [document_of(hit["_source"]) async for hit in heads]
        others = [d.source for d in stored if d.inherited and d.readers != readers]
        if others:
            entry = readers_change(readers)
            found = await self._entries(others)
            await self._send([Write("update", i, entry) for i, _ in found])
            await self._refresh()
        return frozenset(others)

    # --- reading ---------------------------------------------------------------------------------

    async def search(
        self,
        text: str,
        vector: Vectors | None,
        readers: frozenset[str],
        filters: Filters = EVERYTHING,
        *,
        limit: int = 20,
        embedder: str = "",
    ) -> Channels:
        """Both legs in a few requests; they may meet two states of an index that changes meanwhile.

        Raises:
            IndexMismatch: the index was built by another embedder.
        """
        question = Question(text, vector, readers, filters, limit, embedder)
        return await find(self.server, self.alias, question)

    async def read(self, source: str, readers: frozenset[str]) -> tuple[IndexedChunk, ...]:
        """A document's chunks in order."""
        conditions = queries.document_chunks(source, readers)
        found = generations.scan(self.server, self.alias, conditions, ["record"])
        return tuple([chunk_of(hit["_source"]) async for hit in found])

    async def fingerprints(self, space: str) -> Mapping[str, str]:
        """What the documents' own entries say."""
        shown = ["source", "fingerprint"]
        found = generations.scan(self.server, self.alias, queries.documents(space), shown)
        entries = [hit["_source"] async for hit in found]
        return {entry["source"]: entry["fingerprint"] for entry in entries}

    async def aclose(self) -> None:
        """Close the connections."""
        await self.server.aclose()

    # --- requests --------------------------------------------------------------------------------

    async def _entries(self, sources: Sequence[str]) -> list[tuple[str, str]]:
        """Id and part of all entries of these documents."""
        conditions = [{"terms": {"source": sorted(set(sources))}}]
        found = generations.scan(self.server, self.alias, conditions, ["part"])
        return [(hit["_id"], hit["_source"]["part"]) async for hit in found]

    def _id(self, wanted: str) -> str:
        """The id to write under; a collection gives its own."""
        return "" if self.serverless else wanted

    async def _send(self, writes: Sequence[Write]) -> None:
        await send(self.server, self.alias, writes, self.clock)

    async def _refresh(self) -> None:
        if not self.serverless:
            await self.server.call("POST", f"/{self.alias}/_refresh")


def open_index(target: Target, org: str, clock: Clock) -> OpenSearchIndex:
    """The index of an organisation at an address; nothing is asked before it is used."""
    return OpenSearchIndex(OpenSearchServer(target), org, clock, serverless=target.serverless)

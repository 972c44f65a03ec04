"""A knowledge base for tests: an embedder whose vectors are known, and documents in one line."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.domain import EVERYONE
from agent.stores.memory_table import MemoryTable
from rag.catalog import Catalog
from rag.documents import Chunk, Document, Vectors
from rag.embedded_index import EmbeddedIndex
from rag.ingest import Ingestion
from rag.text import passage_terms
from tests.fakes.clock import FakeClock

ALL = frozenset((EVERYONE,))


class CountingEmbedder:
    """Hashes terms into 64 dimensions: texts that share words are close. Counts its passages."""

    dimensions = 64

    def __init__(self, name: str = "counting") -> None:
        self.name = name
        self.passages: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += texts
        return self._vectors(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for term in passage_terms(text):
                vectors[row, zlib.crc32(term.encode()) % self.dimensions] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


class KnowledgeBase:
    """Index, catalog and ingestion under one folder, with a clock that stands still."""

    def __init__(self, folder: Path, embedder: CountingEmbedder | None = None) -> None:
        self.index = EmbeddedIndex(folder / "index" / "kb.sqlite")
        self.embedder = embedder or CountingEmbedder()
        self.table = MemoryTable()
        self.catalog = Catalog(self.table, "demo", FakeClock())
        self.ingestion = Ingestion(self.index, self.embedder, self.catalog)

    async def put(
        self, source: str, *texts: str, readers: frozenset[str] = ALL, **fields: str
    ) -> None:
        """Index a document with one chunk a text."""
        document = Document(
            source,
            "space",
            f"{source}.md",
            source,
            readers=readers,
            **fields,  # pyright: ignore[reportArgumentType]  test shorthand
        )
        chunks = [Chunk(n, text) for n, text in enumerate(texts)]
        vectors = self.embedder.embed_passages(texts)
        await self.index.upsert(document, chunks, vectors, self.embedder.name)

"""The ports of the knowledge base: index and embedder. Adapters stand in files beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.domain import DocumentStatus, Language
from rag.documents import Chunk, Document, IndexedChunk, Vectors


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is narrowed to; an empty set does not narrow."""

    spaces: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    languages: frozenset[Language] = frozenset()
    statuses: frozenset[DocumentStatus] = frozenset()


EVERYTHING = Filters()
"""Narrows nothing."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that one leg found, with what both legs say of it.

    `similarity` is the cosine with the question (0.0 when no vector was asked with), `words` the
    BM25 score, 0.0 when no term is shared.
    """

    found: IndexedChunk
    similarity: float
    words: float


@dataclass(frozen=True, slots=True)
class Channels:
    """The two ranked lists of one search, best first, and what is needed to weigh them.

    `term_weights` is the inverse document frequency of every term of the question; a term that no
    document has weighs as much as the rarest one. `ceiling` is the BM25 score that no passage can
    pass for this question. `mean_similarity` is the question's mean cosine with the readable
    passages of a language.
    """

    words: tuple[Hit, ...] = ()
    dense: tuple[Hit, ...] = ()
    term_weights: Mapping[str, float] | None = None
    ceiling: float = 0.0
    mean_similarity: Mapping[str, float] | None = None


class SearchIndex(Protocol):
    """Chunks that can be found by words and by vector, by those who may read them.

    A chunk is a candidate only when its readers share a label with the asker's: the filter is part
    of each leg, never applied afterwards. One index holds vectors of one embedder: `upsert` and a
    `search` with a vector raise IndexMismatch for any other.
    """

    async def upsert(
        self, document: Document, chunks: Sequence[Chunk], vectors: Vectors, embedder: str
    ) -> None:
        """Put a document in place of whatever was indexed under its source id."""
        ...

    async def delete(self, sources: Sequence[str]) -> None:
        """Remove documents; unknown ids are no error. They are not found from here on."""
        ...

    async def set_readers(
        self, space: str, readers: frozenset[str], before: frozenset[str]
    ) -> frozenset[str]:
        """Let these people read what inherits its readers from the space; whose were changed.

        A document of an older version does not say whether it inherits: it does when its readers
        are the space's `before`.
        """
        ...

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
        """Up to `limit` chunks a leg. Any text is plain words; none is syntax."""
        ...

    async def read(self, source: str, readers: frozenset[str]) -> tuple[IndexedChunk, ...]:
        """All chunks of a document in order; () when it is absent or not for these readers."""
        ...

    async def fingerprints(self, space: str) -> Mapping[str, str]:
        """The fingerprint of every completely indexed document of a space, by source id."""
        ...

    async def aclose(self) -> None:
        """Let go of what is open; the next call opens it again."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors. The same text gives the same vector in any batch; "" gives zeros."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

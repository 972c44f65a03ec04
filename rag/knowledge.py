"""The knowledge base as its users get it: opened once, its tools built anew for each asker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent.ports import Clock, Table, Tool
from rag.calibration import load_calibration
from rag.catalog import Catalog
from rag.embedded_index import EmbeddedIndex
from rag.embedders import open_embedder
from rag.ingest import Ingestion
from rag.ports import Embedder, SearchIndex
from rag.read_tool import read_tool
from rag.retrieval import Retriever, SearchSettings
from rag.search_tool import search_tool


@dataclass(frozen=True, slots=True)
class Knowledge:
    """One organisation's knowledge base."""

    index: SearchIndex
    embedder: Embedder
    catalog: Catalog

    @property
    def ingestion(self) -> Ingestion:
        """The way in."""
        return Ingestion(self.index, self.embedder, self.catalog)


def open_knowledge(home: Path, embedder: str, table: Table, org: str, clock: Clock) -> Knowledge:
    """The embedded knowledge base under a folder; nothing is read or loaded before it is used.

    Raises:
        Misconfigured: there is no such embedder.
    """
    index = EmbeddedIndex(home / "index" / "kb.sqlite")
    return Knowledge(index, open_embedder(embedder), Catalog(table, org, clock))


def build_tools(
    index: SearchIndex,
    embedder: Embedder,
    labels: frozenset[str],
    settings: SearchSettings = SearchSettings(),  # noqa: B008  frozen
) -> tuple[Tool, ...]:
    """knowledge_search and read_document for an asker who carries these reader labels.

    Raises:
        Misconfigured: no calibration was fitted for this embedder.
    """
    retriever = Retriever(index, embedder, load_calibration(embedder.name), settings)
    return search_tool(retriever, labels), read_tool(index, labels)

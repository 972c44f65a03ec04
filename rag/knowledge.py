"""The knowledge base as its users get it: opened once, its tools built anew for each asker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent.errors import Misconfigured
from agent.ports import Clock, Table, Tool
from rag.calibration import load_calibration
from rag.catalog import Catalog
from rag.embedded_index import EmbeddedIndex
from rag.embedders import open_embedder
from rag.ingest import Ingestion
from rag.opensearch.target import Target
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

    async def rebuild(self) -> int:
        """Write the index anew with today's embedder and format; how many passages it holds.

        Raises:
            Misconfigured: it is the embedded one, which has no room for two.
        """
        from rag.opensearch.index import OpenSearchIndex
        from rag.opensearch.rebuild import rebuild

        if not isinstance(self.index, OpenSearchIndex):
            raise Misconfigured(
                "Only an index in OpenSearch is rebuilt in place: delete the embedded one's file"
                " and run `plumbline kb add` again."
            )
        return await rebuild(self.index, self.embedder)


def open_knowledge(
    home: Path,
    embedder: str,
    table: Table,
    org: str,
    clock: Clock,
    opensearch: Target | None = None,
) -> Knowledge:
    """The knowledge base in OpenSearch, or the embedded one under a folder.

    Nothing is read before it is used; OpenSearch's client is loaded only when it is chosen.

    Raises:
        Misconfigured: there is no such embedder.
    """
    return Knowledge(
        _open_index(home, org, clock, opensearch),
        open_embedder(embedder),
        Catalog(table, org, clock),
    )


def _open_index(home: Path, org: str, clock: Clock, opensearch: Target | None) -> SearchIndex:
    if opensearch is None:
        return EmbeddedIndex(home / "index" / "kb.sqlite")
    from rag.opensearch.index import open_index

    return open_index(opensearch, org, clock)


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

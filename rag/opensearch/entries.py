"""What stands in an index: one entry a chunk and one a document, and how they are read back."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping
from typing import Any, cast

from rag.documents import Chunk, Document, IndexedChunk, Vectors, searched_text
from rag.opensearch.mapping import SAMPLES, built_mark
from rag.text import passage_terms

CHUNK, DOCUMENT = "chunk", "document"
"""The two values of `part`."""
_BEFORE_CHUNKS = -1

Entry = dict[str, Any]


def chunk_id(source: str, position: int) -> str:
    """The id of a chunk's entry, the same for every version of the document."""
    return f"{source}/{position}"


def document_id(source: str) -> str:
    """The id of a document's own entry."""
    return f"{source}/{DOCUMENT}"


def chunk_entry(document: Document, chunk: Chunk, vector: Vectors, embedder: str) -> Entry:
    """A chunk with all that it is found and narrowed by. A vector of zeros is left out."""
    terms = passage_terms(searched_text(document, chunk))
    entry: Entry = {
        **_shared(document, CHUNK, embedder),
        "kind": document.kind,
        "language": document.language,
        "status": document.status,
        "position": chunk.position,
        "terms": " ".join(terms),
        "length": len(terms),
        "sample": zlib.crc32(chunk_id(document.source, chunk.position).encode()) % SAMPLES,
    }
    entry["record"] |= {"chunk": dataclasses.asdict(chunk)}
    if vector.any():
        entry["vector"] = [float(value) for value in vector]
    return entry


def document_entry(document: Document, embedder: str) -> Entry:
    """The document itself; written last, so that it tells of a complete one."""
    return {
        **_shared(document, DOCUMENT, embedder),
        "position": _BEFORE_CHUNKS,
        "fingerprint": document.fingerprint,
    }


def readers_change(readers: frozenset[str]) -> Entry:
    """What changes in an entry when its document gets other readers."""
    return {"readers": sorted(readers), "record": {"document": {"readers": sorted(readers)}}}


def document_of(entry: Mapping[str, Any]) -> Document:
    """The document of an entry of either kind."""
    values = cast("dict[str, Any]", dict(entry["record"]["document"]))
    values["readers"] = frozenset(values["readers"])
    return Document(**values)


def chunk_of(entry: Mapping[str, Any]) -> IndexedChunk:
    """A chunk with its document."""
    return IndexedChunk(document_of(entry), Chunk(**entry["record"]["chunk"]))


def _shared(document: Document, part: str, embedder: str) -> Entry:
    record = {f.name: getattr(document, f.name) for f in dataclasses.fields(document)}
    return {
        "part": part,
        "source": document.source,
        "space": document.space,
        "readers": sorted(document.readers),
        "built": built_mark(embedder),
        "record": {"document": {**record, "readers": sorted(document.readers)}},
    }

"""The shape of an index: its name, its versioned mapping, its settings."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Any, cast

from rag.documents import IndexMismatch

FORMAT = 1
"""Grows with any change of the mapping or of what stands in a field."""
SAMPLES = 65_536
"""The values that `sample` takes, evenly."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_REMEDY = "run `plumbline kb rebuild`, which writes a new index beside the old one and swaps them"


@dataclass(frozen=True, slots=True)
class Generation:
    """An index as its mapping tells of it: what built it, and which number it has."""

    name: str
    embedder: str
    dimensions: int
    format: int = FORMAT

    @property
    def number(self) -> int:
        """Counted from 1; a rebuilt index has the next one."""
        return int(self.name.rpartition("-")[2])


def alias_of(org: str) -> str:
    """The name that searches and writes of an organisation use, whatever index stands behind."""
    if _NAME.fullmatch(org):
        return f"plumbline-{org}"
    digest = base64.b32encode(hashlib.sha256(org.encode()).digest()).decode().lower()
    return f"plumbline-x{digest[:20]}"


def generation_name(alias: str, number: int) -> str:
    """The name of an index of this number."""
    return f"{alias}-{number:06d}"


def built_mark(embedder: str) -> str:
    """What each entry says of who built it, so that one search tells whether it fits."""
    return f"{FORMAT}:{embedder}"


def check_marks(marks: list[str], embedder: str) -> None:
    """Refuse a search with vectors that do not fit those of the index.

    Raises:
        IndexMismatch: another embedder or another format built some of it.
    """
    for mark in marks:
        number, _, built_by = mark.partition(":")
        check_generation(Generation("-0", built_by, 0, int(number)), embedder, 0)


def check_generation(found: Generation, embedder: str, dimensions: int) -> None:
    """Refuse what does not fit an index that holds something.

    Raises:
        IndexMismatch: it was built by another embedder, or in another format.
    """
    if found.format > FORMAT:
        raise IndexMismatch("the index was written by a newer Plumbline: update this one")
    if found.format < FORMAT:
        raise IndexMismatch(f"the index has the format of an older Plumbline: {_REMEDY}")
    if found.embedder != embedder:
        raise IndexMismatch(
            f"the index was built with the embedder {found.embedder}, now {embedder!r} is set: set "
            f"{found.embedder} again, or {_REMEDY}"
        )
    if found.dimensions != dimensions:
        raise IndexMismatch(
            f"the index holds vectors of {found.dimensions} dimensions, not {dimensions}"
        )


def generation_of(name: str, mapping: dict[str, Any]) -> Generation:
    """An index from its own description.

    Raises:
        IndexMismatch: it is none of ours.
    """
    meta = cast("dict[str, Any]", mapping.get("mappings", {}).get("_meta", {}))
    if "embedder" not in meta:
        raise IndexMismatch(f"the index {name} was not made by Plumbline: remove it or its alias")
    return Generation(name, meta["embedder"], int(meta["dimensions"]), int(meta["format"]))


def index_body(generation: Generation, *, serverless: bool) -> dict[str, Any]:
    """What an index is created with.

    Terms are made by rag/text.py and only split at spaces here, so both indexes find the same.
    Changes are seen with our own refresh at the end of each call and not before, so that nobody
    meets half a document; a collection knows no such refresh.
    """
    keyword, number = {"type": "keyword"}, {"type": "integer"}
    vector = {
        "type": "knn_vector",
        "dimension": generation.dimensions,
        "method": {
            "name": "hnsw",
            "space_type": "innerproduct",
            "engine": "faiss" if serverless else "lucene",
        },
    }
    names = ("part", "source", "space", "kind", "language", "status", "readers", "built")
    settings: dict[str, Any] = {"knn": True}
    if not serverless:
        settings |= {
            "number_of_shards": 1,
            "auto_expand_replicas": "0-1",
            "refresh_interval": "-1",
        }
    return {
        "settings": {"index": settings},
        "mappings": {
            "dynamic": "strict",
            "_meta": {
                "format": generation.format,
                "embedder": generation.embedder,
                "dimensions": generation.dimensions,
            },
            "properties": {
                **dict.fromkeys(names, keyword),
                "fingerprint": {"type": "keyword", "index": False},
                **dict.fromkeys(("position", "length", "sample"), number),
                "terms": {"type": "text", "analyzer": "whitespace"},
                "vector": vector,
                "record": {"type": "object", "enabled": False},
            },
        },
    }

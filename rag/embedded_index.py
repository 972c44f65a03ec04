"""The embedded index: SQLite full text over our own terms, and exact vectors, in one file."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sqlite3
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from threadpoolctl import ThreadpoolController

from agent.errors import Unavailable
from agent.stores.private_file import private_file
from rag.documents import (
    Chunk,
    Document,
    IndexedChunk,
    IndexMismatch,
    Vectors,
    searched_text,
)
from rag.index_queries import (
    allowed_values,
    narrowing_clause,
    placeholders,
)
from rag.ports import EVERYTHING, Channels, Filters, Hit
from rag.text import passage_terms, query_terms
from rag.vector_table import VectorTable, best_rows, build_table, of_rows
from rag.word_table import WordTable, load_words, open_places

_VERSION = 1
_MOST_TERMS = 64
_BUSY_MS = 10_000

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    source TEXT PRIMARY KEY, space TEXT NOT NULL, fingerprint TEXT NOT NULL, record TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_by_space ON documents (space);
CREATE TABLE audiences (audience TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (label, audience))
    WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    place TEXT NOT NULL, overlap INTEGER NOT NULL, audience TEXT NOT NULL, space TEXT NOT NULL,
    kind TEXT NOT NULL, language TEXT NOT NULL, status TEXT NOT NULL, vector BLOB NOT NULL,
    UNIQUE (source, position)
);
CREATE VIRTUAL TABLE words USING fts5 (terms, content='',
    tokenize="ascii tokenchars '-._/'");
"""
_AUDIENCE = "audience"
_NARROWING = (_AUDIENCE, "space", "kind", "language", "status")


class EmbeddedIndex:
    """A SearchIndex in one SQLite file; several threads and processes may use it at once.

    Vectors are read with the first search and again when anybody has changed the file. Missing
    folders and the file are created with the first call.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._tables: tuple[VectorTable, WordTable] | None = None

    async def upsert(
        self, document: Document, chunks: Sequence[Chunk], vectors: Vectors, embedder: str
    ) -> None:
        """Replace a document in one transaction; readers see the old or the new, never a mix."""
        await asyncio.to_thread(self._upsert, document, chunks, vectors, embedder)

    async def delete(self, sources: Sequence[str]) -> None:
        """Remove documents and all their chunks in one transaction."""
        await asyncio.to_thread(self._delete, sources)

    async def set_readers(
        self, space: str, readers: frozenset[str], before: frozenset[str]
    ) -> frozenset[str]:
        """Other readers for a space's own documents in one transaction, no vector touched."""
        return await asyncio.to_thread(self._set_readers, space, readers, before)

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
        """Both legs on one state of the file."""
        return await asyncio.to_thread(
            self._search, text, vector, readers, filters, limit, embedder
        )

    async def read(self, source: str, readers: frozenset[str]) -> tuple[IndexedChunk, ...]:
        """A document's chunks in order, () when it is absent or not for these readers."""
        return await asyncio.to_thread(self._read, source, readers)

    async def fingerprints(self, space: str) -> Mapping[str, str]:
        """The fingerprint of each document of a space."""
        return await asyncio.to_thread(self._fingerprints, space)

    async def aclose(self) -> None:
        """Let go of the file."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._tables = None

    # --- writing ---------------------------------------------------------------------------------

    def _upsert(
        self, document: Document, chunks: Sequence[Chunk], vectors: Vectors, embedder: str
    ) -> None:
        if vectors.shape[0] != len(chunks):
            raise ValueError("one vector a chunk")
        with self._transaction(write=True) as db:
            _claim(db, embedder, vectors.shape[1] if len(chunks) else None)
            _remove(db, document.source)
            audience = _audience(db, document.readers)
            db.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?)",
                (document.source, document.space, document.fingerprint, _record(document)),
            )
            for chunk, vector in zip(chunks, vectors, strict=True):
                _insert(db, document, chunk, audience, vector)

    def _delete(self, sources: Sequence[str]) -> None:
        with self._transaction(write=True) as db:
            for source in sources:
                _remove(db, source)

    def _set_readers(
        self, space: str, readers: frozenset[str], before: frozenset[str]
    ) -> frozenset[str]:
        with self._transaction(write=True) as db:
            query = "SELECT record FROM documents WHERE space = ?"
            stored = [_from_record(row[0], before) for row in db.execute(query, (space,))]
            others = [d for d in stored if d.inherited and d.readers != readers]
            audience = _audience(db, readers)
            for document in others:
                record = _record(dataclasses.replace(document, readers=readers))
                own = (document.source,)
                db.execute("UPDATE documents SET record = ? WHERE source = ?", (record, *own))
                db.execute("UPDATE chunks SET audience = ? WHERE source = ?", (audience, *own))
        return frozenset(document.source for document in others)

    # --- reading ---------------------------------------------------------------------------------

    def _search(
        self,
        text: str,
        vector: Vectors | None,
        readers: frozenset[str],
        filters: Filters,
        limit: int,
        embedder: str,
    ) -> Channels:
        terms = query_terms(text)[:_MOST_TERMS]
        with self._transaction() as db:
            if vector is not None:
                _check_embedder(db, embedder)
            allowed = allowed_values(db, readers, filters)
            table, word_table = self._loaded(db)
            readable = table.mask({_AUDIENCE: allowed[_AUDIENCE]})
            told = word_table.score(db, terms, readable)
            positions = np.flatnonzero(readable & table.mask(allowed))
            words = best_rows(table.rows[positions], told.scores[positions], limit)
            dense: list[int] = []
            similarity: dict[int, float] = {}
            means: dict[str, float] = {}
            if vector is not None and len(positions):
                with _one_blas_thread().limit(limits=1, user_api="blas"):  # pyright: ignore[reportUnknownMemberType]  untyped
                    cosines = table.similarities(vector, positions)
                means = table.mean_by("language", positions, cosines)
                dense = best_rows(table.rows[positions], cosines, limit)
                similarity = of_rows(table.rows[positions], cosines, {*dense, *words})
            scores = of_rows(table.rows, told.scores, {*dense, *words})
            found = _fetch(db, {*dense, *words})
        hits = {
            row: Hit(chunk, similarity.get(row, 0.0), scores[row]) for row, chunk in found.items()
        }
        return Channels(
            tuple(hits[row] for row in words),
            tuple(hits[row] for row in dense),
            told.weights,
            told.ceiling,
            means,
        )

    def _read(self, source: str, readers: frozenset[str]) -> tuple[IndexedChunk, ...]:
        with self._transaction() as db:
            allowed = allowed_values(db, readers, EVERYTHING)
            clause, values = narrowing_clause(allowed)
            rows = db.execute(
                f"SELECT c.id FROM chunks c WHERE c.source = ? AND {clause} ORDER BY position",  # noqa: S608  placeholders only
                (source, *values),
            ).fetchall()
            found = _fetch(db, {row[0] for row in rows})
        return tuple(found[row[0]] for row in rows)

    def _fingerprints(self, space: str) -> dict[str, str]:
        with self._transaction() as db:
            query = "SELECT source, fingerprint FROM documents WHERE space = ?"
            return dict(db.execute(query, (space,)).fetchall())

    def _loaded(self, db: sqlite3.Connection) -> tuple[VectorTable, WordTable]:
        """Vectors and words of the state that this transaction sees."""
        generation = int(_meta(db, "generation") or 0)
        if self._tables is None or self._tables[0].generation != generation:
            rows = db.execute(
                f"SELECT id, vector, {', '.join(_NARROWING)} FROM chunks ORDER BY id"  # noqa: S608  constants only
            ).fetchall()
            columns = {name: [r[2 + i] for r in rows] for i, name in enumerate(_NARROWING)}
            table = build_table(generation, [r[0] for r in rows], [r[1] for r in rows], columns)
            self._tables = table, load_words(db, table.rows)
        return self._tables

    # --- the file --------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Generator[sqlite3.Connection]:
        with self._lock:
            db: sqlite3.Connection | None = None
            try:
                db = self._open()
                db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                yield db
                if write:
                    _set_meta(db, "generation", str(int(_meta(db, "generation") or 0) + 1))
                db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                raise Unavailable(f"the index file can not be used now: {error}") from error
            except sqlite3.DatabaseError as error:
                raise IndexMismatch(
                    f"the index file is damaged ({error}): delete it and run `plumbline kb add`"
                ) from error
            finally:
                if db is not None and db.in_transaction:
                    db.execute("ROLLBACK")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            private_file(self._path)
            db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            try:
                _prepare(db)
            except BaseException:  # whatever it is goes on; the connection is not left open
                db.close()
                raise
            self._connection = db
        return self._connection


def _prepare(db: sqlite3.Connection) -> None:
    db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("BEGIN IMMEDIATE")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > _VERSION:
        raise IndexMismatch("the index was written by a newer Plumbline: update this one")
    if version == 0:
        for statement in _SCHEMA.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    db.execute("COMMIT")
    open_places(db)


@cache
def _one_blas_thread() -> ThreadpoolController:
    """A second thread only spins here: 28 CPU ms a search instead of 15 at 20,000 chunks."""
    return ThreadpoolController()


# --- metadata of the index ----------------------------------------------------------------------


def _meta(db: sqlite3.Connection, name: str) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _set_meta(db: sqlite3.Connection, name: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def _check_embedder(db: sqlite3.Connection, embedder: str) -> None:
    built_by = _meta(db, "embedder")
    if built_by is not None and built_by != embedder:
        raise IndexMismatch(
            f"the index was built with the embedder {built_by}, now {embedder!r} is set: set "
            f"{built_by} again, or delete the index file and run `plumbline kb add` again"
        )


def _claim(db: sqlite3.Connection, embedder: str, dimensions: int | None) -> None:
    """An index belongs to the embedder of its first vectors, until it is empty again."""
    if db.execute("SELECT 1 FROM chunks LIMIT 1").fetchone() is None:
        db.execute("DELETE FROM meta WHERE name IN ('embedder', 'dimensions')")
    _check_embedder(db, embedder)
    known = _meta(db, "dimensions")
    if dimensions is not None and known is not None and int(known) != dimensions:
        raise IndexMismatch(f"the index holds vectors of {known} dimensions, not {dimensions}")
    if dimensions is not None and known is None:
        _set_meta(db, "embedder", embedder)
        _set_meta(db, "dimensions", str(dimensions))


# --- rows ---------------------------------------------------------------------------------------


def _audience(db: sqlite3.Connection, readers: frozenset[str]) -> str:
    """The name of a set of readers, which the index knows from here on."""
    audience = json.dumps(sorted(readers), ensure_ascii=False)
    rows = [(audience, label) for label in readers]
    db.executemany("INSERT OR IGNORE INTO audiences VALUES (?, ?)", rows)
    return audience


def _record(document: Document) -> str:
    values = {f.name: getattr(document, f.name) for f in dataclasses.fields(document)}
    return json.dumps({**values, "readers": sorted(document.readers)}, ensure_ascii=False)


def _from_record(record: str, inherited: frozenset[str] = frozenset()) -> Document:
    """The document; one of an older version inherits its readers when they are these."""
    values = cast("dict[str, Any]", json.loads(record))
    values["readers"] = frozenset(values["readers"])
    values.setdefault("inherited", values["readers"] == inherited)
    return Document(**values)


def _indexed_terms(document: Document, chunk: Chunk) -> str:
    return " ".join(passage_terms(searched_text(document, chunk)))


def _insert(
    db: sqlite3.Connection, document: Document, chunk: Chunk, audience: str, vector: Vectors
) -> None:
    row = db.execute(
        "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(document.source, chunk.position, chunk.text, chunk.place, chunk.overlap, audience),
            *(document.space, document.kind, document.language, document.status),
            vector.astype(np.float32).tobytes(),
        ),
    ).lastrowid
    db.execute(
        "INSERT INTO words (rowid, terms) VALUES (?, ?)", (row, _indexed_terms(document, chunk))
    )


def _remove(db: sqlite3.Connection, source: str) -> None:
    rows = db.execute("SELECT id FROM chunks WHERE source = ?", (source,)).fetchall()
    for row, stored in _fetch(db, {r[0] for r in rows}).items():
        db.execute(
            "INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)",
            (row, _indexed_terms(stored.document, stored.chunk)),
        )
    db.execute("DELETE FROM chunks WHERE source = ?", (source,))
    db.execute("DELETE FROM documents WHERE source = ?", (source,))


def _fetch(db: sqlite3.Connection, rows: set[int]) -> dict[int, IndexedChunk]:
    if not rows:
        return {}
    found = db.execute(
        "SELECT c.id, c.position, c.text, c.place, c.overlap, d.record FROM chunks c"  # noqa: S608  placeholders only
        f" JOIN documents d ON d.source = c.source WHERE c.id IN ({placeholders(len(rows))})",
        tuple(rows),
    ).fetchall()
    records: dict[str, Document] = {}
    for row in found:
        if row[5] not in records:
            records[row[5]] = _from_record(row[5])
    return {r[0]: IndexedChunk(records[r[5]], Chunk(r[1], r[2], r[3], r[4])) for r in found}

"""The embedded index's word leg and its narrowing, as SQL with placeholders only."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence

from rag.ports import Filters
from rag.text import without_seams

_K1 = 1.2
"""FTS5's own BM25 constant; a term adds at most its weight times (k1 + 1)."""
_BACKGROUND = 100
_UNSEEN = 0.5
"""Counted for a term that no passage has: rarer than any that is there."""


def allowed_values(
    db: sqlite3.Connection, readers: frozenset[str], filters: Filters
) -> dict[str, frozenset[str]]:
    """For each narrowing column the values that may be found: audiences with a shared label."""
    audiences = db.execute(
        f"SELECT DISTINCT audience FROM audiences WHERE label IN ({placeholders(len(readers))})",  # noqa: S608  placeholders only
        tuple(readers),
    ).fetchall()
    narrowed: dict[str, frozenset[str]] = {
        "space": filters.spaces,
        "kind": filters.kinds,
        "language": frozenset(filters.languages),
        "status": frozenset(filters.statuses),
    }
    return {
        "audience": frozenset(row[0] for row in audiences),
        **{name: values for name, values in narrowed.items() if values},
    }


def narrowing_clause(allowed: Mapping[str, frozenset[str]]) -> tuple[str, list[str]]:
    """The condition on the chunk `c` that both legs and reading share, and its values."""
    parts = [f"c.{name} IN ({placeholders(len(values))})" for name, values in allowed.items()]
    return " AND ".join(parts), [v for values in allowed.values() for v in values]


def placeholders(count: int) -> str:
    """As many question marks."""
    return ", ".join("?" * count)


def _match(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def words_leg(
    db: sqlite3.Connection, terms: Sequence[str], allowed: Mapping[str, frozenset[str]], limit: int
) -> dict[int, float]:
    """Row to BM25 score, best first; rows without a shared term are not in it."""
    if not terms:
        return {}
    clause, values = narrowing_clause(allowed)
    rows = db.execute(
        "SELECT words.rowid, -bm25(words) AS score FROM words JOIN chunks c ON c.id = words.rowid"  # noqa: S608  placeholders only
        f" WHERE words MATCH ? AND {clause} ORDER BY score DESC, words.rowid LIMIT ?",
        (_match(terms), *values, limit),
    ).fetchall()
    return {row: score for row, score in rows if score > 0}


def words_of(db: sqlite3.Connection, terms: Sequence[str], rows: Sequence[int]) -> dict[int, float]:
    """The BM25 scores of rows that only the other leg found."""
    if not terms or not rows:
        return {}
    found = db.execute(
        "SELECT rowid, -bm25(words) FROM words"  # noqa: S608  placeholders only
        f" WHERE words MATCH ? AND rowid IN ({placeholders(len(rows))})",
        (_match(terms), *rows),
    ).fetchall()
    return dict(found)


def term_weights(db: sqlite3.Connection, terms: Sequence[str]) -> tuple[dict[str, float], float]:
    """How much each term tells, and the highest BM25 score that FTS5 could give for all of them.

    The weights count _BACKGROUND passages more than there are: in a handful of documents about one
    thing, the thing's own words would else tell nothing, and a word that is nowhere everything.
    """
    if not terms:
        return {}, 0.0
    total = int(db.execute("SELECT count(*) FROM chunks").fetchone()[0])
    counts: dict[str, int] = dict(
        db.execute(
            f"SELECT term, doc FROM word_counts WHERE term IN ({placeholders(len(terms))})",  # noqa: S608  placeholders only
            tuple(terms),
        ).fetchall()
    )
    counts = {term: n for term, n in counts.items() if n}
    numbers = {t: counts.get(t, _UNSEEN) for t in without_seams(list(terms), counts)}
    weights = {t: _idf(max(total, n) + _BACKGROUND, n) for t, n in numbers.items()}
    ceiling = sum(max(1e-6, _idf(max(total, 1), n)) for n in numbers.values()) * (_K1 + 1)
    return weights, ceiling


def _idf(total: float, n: float) -> float:
    return math.log((total - n + 0.5) / (n + 0.5))

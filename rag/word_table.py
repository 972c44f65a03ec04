"""BM25 over what one asker may read: what is hidden has no part in any weight or score.

FTS5's own bm25() counts every row of the index, so the weight of a word would tell of documents
that the asker can not see. The formula and its constants are FTS5's; only the set is another.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rag.text import without_seams

K1 = 1.2
B = 0.75
"""FTS5's own constants; a term adds at most its weight times (k1 + 1)."""
_LEAST_IDF = 1e-6
_BACKGROUND = 100
_UNSEEN = 0.5
"""Counted for a term that no passage has: rarer than any that is there."""
_KEPT_TERMS = 4096

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term stands: positions in the table, and how often it stands there."""

    positions: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordScores:
    """What the words of a question say of every row.

    `scores` holds BM25 by position, 0.0 without a shared term and for rows that are not readable.
    `weights` is how much each term tells, `ceiling` the score that no passage can pass.
    """

    scores: NDArray[np.float64]
    weights: Mapping[str, float]
    ceiling: float


@dataclass(frozen=True, slots=True)
class WordTable:
    """The lengths of all passages of one generation, and the terms that were asked for so far."""

    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    known: dict[str, Postings] = field(default_factory=dict[str, Postings])

    def score(self, db: sqlite3.Connection, terms: Sequence[str], readable: Mask) -> WordScores:
        """Every readable row's score for a question; `readable` is by position."""
        total = int(np.count_nonzero(readable))
        scores = np.zeros(len(self.rows), dtype=np.float64)
        found = {term: self._readable(db, term, readable) for term in terms}
        counts = {term: len(p.positions) for term, p in found.items() if len(p.positions)}
        average = float(self.lengths[readable].mean()) if total else 0.0
        for term, count in counts.items():
            postings = found[term]
            long = self.lengths[postings.positions] / average
            often = postings.counts * (K1 + 1) / (postings.counts + K1 * (1 - B + B * long))
            scores[postings.positions] += idf(total, count) * often
        weights, ceiling = term_weights(terms, counts, total)
        return WordScores(scores, weights, ceiling)

    def _readable(self, db: sqlite3.Connection, term: str, readable: Mask) -> Postings:
        postings = self.known.get(term)
        if postings is None:
            if len(self.known) >= _KEPT_TERMS:
                self.known.clear()
            postings = self.known[term] = self._load(db, term)
        own = readable[postings.positions]
        return Postings(postings.positions[own], postings.counts[own])

    def _load(self, db: sqlite3.Connection, term: str) -> Postings:
        places = db.execute("SELECT doc FROM temp.word_places WHERE term = ?", (term,)).fetchall()
        rows, counts = np.unique(
            np.fromiter((row for (row,) in places), np.int64, len(places)), return_counts=True
        )
        return Postings(np.searchsorted(self.rows, rows), counts)


def open_places(db: sqlite3.Connection) -> None:
    """Let a connection see in which row each term stands."""
    db.execute("CREATE VIRTUAL TABLE temp.word_places USING fts5vocab(main, words, instance)")


def load_words(db: sqlite3.Connection, rows: NDArray[np.int64]) -> WordTable:
    """The word side of the rows, ascending, that an index holds now."""
    sizes: dict[int, int] = {
        row: _varint(size)
        for row, size in db.execute("SELECT id, sz FROM words_docsize").fetchall()
    }
    return WordTable(rows, np.fromiter((sizes[int(r)] for r in rows), np.int64, len(rows)))


def term_weights(
    terms: Sequence[str], counts: Mapping[str, int], total: int
) -> tuple[dict[str, float], float]:
    """How much each term tells, and the highest BM25 score that there could be for all of them.

    The weights count _BACKGROUND passages more than there are: in a handful of documents about one
    thing, the thing's own words would else tell nothing, and a word that is nowhere everything.

    Args:
        terms: The question's terms.
        counts: In how many readable passages a term stands, terms without any left out.
        total: The number of readable passages.
    """
    if not terms:
        return {}, 0.0
    numbers = {t: counts.get(t, _UNSEEN) for t in without_seams(list(terms), counts)}
    weights = {t: math.log(_odds(max(total, n) + _BACKGROUND, n)) for t, n in numbers.items()}
    return weights, sum(idf(max(total, 1), n) for n in numbers.values()) * (K1 + 1)


def idf(total: float, n: float) -> float:
    """What a term counts that n of `total` passages have; never nothing, never less."""
    return max(_LEAST_IDF, math.log(_odds(total, n)))


def _odds(total: float, n: float) -> float:
    return (total - n + 0.5) / (n + 0.5)


def _varint(size: bytes) -> int:
    """SQLite's number of seven bits a byte; FTS5 keeps the tokens of its only column so."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value

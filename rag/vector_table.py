"""The vectors of an index in memory, with the codes that a search is narrowed by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.documents import Vectors

Scores = NDArray[np.float32] | NDArray[np.float64]
Codes = Mapping[str, frozenset[str]]
"""For each of `audience`, `space`, `kind`, `language`, `status`: the values that may be found."""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """All vectors of one generation of an index.

    `rows` are ascending row ids; `columns` gives for each narrowing column the code of every row
    and the values that the codes stand for.
    """

    generation: int
    rows: NDArray[np.int64]
    vectors: Vectors
    columns: Mapping[str, tuple[NDArray[np.int32], tuple[str, ...]]]

    def mask(self, allowed: Codes) -> NDArray[np.bool_]:
        """For each row whether its every narrowing column holds an allowed value."""
        mask = np.ones(len(self.rows), dtype=np.bool_)
        for name, values in allowed.items():
            codes, known = self.columns[name]
            passing = np.fromiter((value in values for value in known), np.bool_, len(known))
            mask &= passing[codes]
        return mask

    def similarities(self, vector: Vectors, positions: NDArray[np.int64]) -> Vectors:
        """The cosines of these rows with a unit vector.

        Only these rows are multiplied: the last digit of a product depends on which rows stand
        beside it, and no digit may depend on what is hidden.
        """
        own = self.vectors if len(positions) == len(self.rows) else self.vectors[positions]
        return own @ vector

    def mean_by(
        self, column: str, positions: NDArray[np.int64], values: Vectors
    ) -> dict[str, float]:
        """The mean of `values` (one a position) for each value of a column that occurs."""
        codes, known = self.columns[column]
        own = codes[positions]
        return {
            name: float(values[own == code].mean())
            for code, name in enumerate(known)
            if bool((own == code).any())
        }


def build_table(
    generation: int,
    rows: Sequence[int],
    blobs: Sequence[bytes],
    columns: Mapping[str, Sequence[str]],
) -> VectorTable:
    """A table from what the index file holds; all blobs have the same length."""
    vectors = np.frombuffer(b"".join(blobs), dtype=np.float32)
    shape = (len(blobs), len(blobs[0]) // 4) if blobs else (0, 0)
    return VectorTable(
        generation,
        np.asarray(rows, dtype=np.int64),
        vectors.reshape(shape),
        {name: _coded(values) for name, values in columns.items()},
    )


def best_rows(rows: NDArray[np.int64], scores: Scores, limit: int) -> list[int]:
    """The rows with the highest scores above 0, best first."""
    order = np.lexsort((rows, -scores))[:limit]
    return [int(rows[i]) for i in order if scores[i] > 0]


def of_rows(rows: NDArray[np.int64], scores: Scores, wanted: set[int]) -> dict[int, float]:
    """The scores of some of the rows."""
    places = np.searchsorted(rows, np.fromiter(sorted(wanted), np.int64, len(wanted)))
    return {int(rows[i]): float(scores[i]) for i in places}


def _coded(values: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    known = tuple(sorted(set(values)))
    code = {value: i for i, value in enumerate(known)}
    return np.fromiter((code[v] for v in values), np.int32, len(values)), known

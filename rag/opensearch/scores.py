"""BM25 over what one asker may read, from counts that the server made of exactly that.

The server weighs a term by all documents, hidden ones too, so its own scores are shown to nobody:
they choose candidates, after they were put back to the readable weights as far as a boost can.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rag.word_table import K1, B, idf


@dataclass(frozen=True, slots=True)
class Readable:
    """What is known of the passages that an asker may read.

    `counts` says in how many of them a term stands, terms without any left out; `everywhere` the
    same of all passages. `average` is the mean number of terms of a readable passage.
    `languages` holds the number of passages by language that the search is narrowed to.
    """

    total: int
    average: float
    counts: Mapping[str, int]
    all_total: int
    everywhere: Mapping[str, int]
    languages: Mapping[str, int]

    def score(self, terms: str) -> float:
        """The BM25 score of a readable passage with these terms, separated by spaces."""
        own = terms.split()
        long = len(own) / self.average if self.average else 1.0
        often = Counter(term for term in own if term in self.counts)
        return sum(
            idf(self.total, self.counts[term]) * n * (K1 + 1) / (n + K1 * (1 - B + B * long))
            for term, n in sorted(often.items())
        )

    def boosts(self) -> dict[str, float]:
        """For each term that is readable the factor from the server's weight to the readable one.

        The server's weight is Lucene's, whose counts may hold deleted passages for a while.
        """
        return {
            term: idf(self.total, n) / _lucene_idf(self.all_total, self.everywhere.get(term, n))
            for term, n in self.counts.items()
        }


def _lucene_idf(total: int, n: int) -> float:
    return math.log(1 + (max(total, n) - n + 0.5) / (n + 0.5))

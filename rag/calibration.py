"""The calibrated score: the chance that a passage answers a question, 0..1.

A logistic score of one pair; no cross-encoder. Raw cosines must never meet a threshold
(EMBEDDED.md, section 2). Weights belong to one embedder; evaluation/fit_calibration.py fits them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agent.domain import Language
from agent.errors import Misconfigured
from rag.documents import searched_text
from rag.ports import Channels, Hit
from rag.text import passage_terms

SCORE_KIND = "lexical+embedding, calibrated"
_WEIGHTS = Path(__file__).with_name("calibration_weights.json")
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """The seven weights: four for a passage in the question's language, three for another one."""

    embedder: str
    same: tuple[float, float, float, float]
    other: tuple[float, float, float]

    def score(self, hit: Hit, channels: Channels, language: Language) -> float:
        """The calibrated score of a hit for the question whose channels these are."""
        values = features(hit, channels, language)
        weights = self.same if hit.found.document.language == language else self.other
        logit = sum(w * v for w, v in zip(weights, values, strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


def features(hit: Hit, channels: Channels, language: Language) -> tuple[float, ...]:
    """What the score is made of.

    Same language: 1, 10 (cosine - 0.85), coverage, BM25 share. Other language: 1, 10 (cosine - mean
    cosine with the readable passages of that language), coverage. Coverage is the part of the
    question's terms, by weight, that the passage has.
    """
    spoken = hit.found.document.language
    coverage = _coverage(hit, channels.term_weights or {})
    if spoken == language:
        share = hit.words / channels.ceiling if channels.ceiling > 0 else 0.0
        return 1.0, 10 * (hit.similarity - 0.85), coverage, share
    mean = (channels.mean_similarity or {}).get(spoken, 0.0)
    return 1.0, 10 * (hit.similarity - mean), coverage


def load_calibration(embedder: str) -> Calibration:
    """The weights of an embedder.

    Raises:
        Misconfigured: none were fitted for it; another one's must not be used.
    """
    stored = cast("dict[str, Any]", json.loads(_WEIGHTS.read_text("utf-8")))
    if stored["format"] != _FORMAT or embedder not in stored["embedders"]:
        raise Misconfigured(
            f"no calibration for the embedder {embedder!r}: fit one with "
            f"`python -m evaluation.fit_calibration --embedder {embedder}`"
        )
    weights = cast("Mapping[str, list[float]]", stored["embedders"][embedder])
    same, other = weights["same"], weights["other"]
    return Calibration(
        embedder, (same[0], same[1], same[2], same[3]), (other[0], other[1], other[2])
    )


def _coverage(hit: Hit, weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    if not total:
        return 0.0
    present = set(passage_terms(searched_text(hit.found.document, hit.found.chunk)))
    return sum(weight for term, weight in weights.items() if term in present) / total

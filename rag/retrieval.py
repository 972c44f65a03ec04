"""One search for several sentences: both legs, fusion, calibrated scores, the cut, the page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent.domain import Language, Passage
from rag.calibration import Calibration
from rag.documents import Document, IndexedChunk, Vectors
from rag.fusion import dense_weight, fuse, gate
from rag.ports import Channels, Embedder, Filters, Hit, SearchIndex
from rag.text import exact_tokens, language_of, passage_terms

log = logging.getLogger(__name__)

Key = tuple[str, int]
"""Source and position of a chunk."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How much is looked at and what is kept.

    `cut_same` and `cut_other` are the least calibrated scores of a passage in the question's
    language and in another one; a passage with an exact token of the question passes any cut.
    Short questions score low whatever they find: when fewer than `at_least` passages pass, the best
    with `cut_least` fill them up when they share a part of the highest word score that is at least
    `words_least`; their scores stand beside them for whoever reads.
    """

    per_leg: int = 20
    candidates: int = 20
    passages: int = 8
    per_document: int = 3
    cut_same: float = 0.3
    cut_other: float = 0.1
    at_least: int = 5
    cut_least: float = 0.01
    words_least: float = 0.1


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its calibrated score, and whether that passes the cut.

    `words` is its part of the highest word score that there could be for the question.
    """

    found: IndexedChunk
    score: float
    passes: bool
    words: float = 0.0


@dataclass(frozen=True, slots=True)
class Retriever:
    """Finds passages for one embedder and one index; knows nobody: readers come with each call."""

    index: SearchIndex
    embedder: Embedder
    calibration: Calibration
    settings: SearchSettings = SearchSettings()

    async def find(
        self, queries: Sequence[str], readers: frozenset[str], filters: Filters
    ) -> tuple[Passage, ...]:
        """The best passages over all variants of a question, best first; () when none passes."""
        texts = [query for query in dict.fromkeys(q.strip() for q in queries) if query]
        vectors = await asyncio.to_thread(self.embedder.embed_queries, texts)
        best: dict[Key, Scored] = {}
        for candidates in await self._variants(texts, vectors, readers, filters):
            for scored in candidates:
                known = best.get(scored.found.key)
                if known is None or (scored.passes, scored.score) > (known.passes, known.score):
                    best[scored.found.key] = scored
        kept = with_successors(filled_up(list(best.values()), self.settings))
        return page(sorted(kept, key=lambda s: -s.score), self.settings)

    async def _variants(
        self, texts: Sequence[str], vectors: Vectors, readers: frozenset[str], filters: Filters
    ) -> list[tuple[Scored, ...]]:
        """The candidates of every variant, in order; the first fault ends all."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._candidates(text, vector, readers, filters))
                    for text, vector in zip(texts, vectors, strict=True)
                ]
        except ExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _candidates(
        self, text: str, vector: Vectors, readers: frozenset[str], filters: Filters
    ) -> tuple[Scored, ...]:
        channels = await self.index.search(
            text,
            vector,
            readers,
            filters,
            limit=self.settings.per_leg,
            embedder=self.embedder.name,
        )
        return await asyncio.to_thread(self._score, text, permitted(channels, readers))

    def _score(self, text: str, channels: Channels) -> tuple[Scored, ...]:
        hits = hits_by_key(channels)
        first = list(fused_scores(channels, self.embedder.name))[: self.settings.candidates]
        language, tokens = language_of(text), exact_tokens(text)
        return tuple(self._judged(hits[key], channels, language, tokens) for key in first)

    def _judged(
        self, hit: Hit, channels: Channels, language: Language, tokens: frozenset[str]
    ) -> Scored:
        score = self.calibration.score(hit, channels, language)
        same = hit.found.document.language == language
        cut = self.settings.cut_same if same else self.settings.cut_other
        exact = bool(tokens) and not tokens.isdisjoint(passage_terms(hit.found.chunk.text))
        words = hit.words / channels.ceiling if channels.ceiling > 0 else 0.0
        return Scored(hit.found, score, score >= cut or exact, words)


def may_read(found: IndexedChunk, readers: frozenset[str]) -> bool:
    """Whether these labels open a chunk; one that should not have come is told to the operator."""
    if not found.document.readers.isdisjoint(readers):
        return True
    log.error("the index gave %s beyond the asker's labels: dropped", found.document.source)
    return False


def permitted(channels: Channels, readers: frozenset[str]) -> Channels:
    """What an index found without what its own filter let slip."""
    words, dense = (
        tuple(hit for hit in leg if may_read(hit.found, readers))
        for leg in (channels.words, channels.dense)
    )
    return replace(channels, words=words, dense=dense)


def hits_by_key(channels: Channels) -> dict[Key, Hit]:
    """Every hit of both legs once."""
    return {hit.found.key: hit for hit in (*channels.words, *channels.dense)}


def fused_scores(channels: Channels, embedder: str) -> dict[Key, float]:
    """The fused score of every hit of both legs, best first."""
    hits = hits_by_key(channels)
    words = {key: hit.words for key, hit in hits.items() if hit.words > 0}
    best = max(words.values(), default=0.0)
    return fuse(
        words,
        {key: hit.similarity for key, hit in hits.items()},
        dense_share=dense_weight(embedder),
        word_gate=gate(best, channels.ceiling),
    )


def filled_up(candidates: Sequence[Scored], settings: SearchSettings) -> list[Scored]:
    """The candidates, the best of those below the cut let through when few pass."""
    below = sorted((s for s in candidates if not s.passes), key=lambda s: -s.score)
    missing = max(0, settings.at_least - (len(candidates) - len(below)))
    fit = [s for s in below if s.score >= settings.cut_least and s.words >= settings.words_least]
    let = {s.found.key for s in fit[:missing]}
    return [replace(s, passes=True) if s.found.key in let else s for s in candidates]


def with_successors(candidates: Sequence[Scored]) -> list[Scored]:
    """What passes, and for each void document that passes the best passage of what replaced it.

    Nobody is to be answered from a void document alone because its successor uses other words.
    """
    kept = [scored for scored in candidates if scored.passes]
    shown = {scored.found.document.source for scored in kept}
    for void in [scored for scored in kept if scored.found.document.status == "obsolete"]:
        successors = [s for s in candidates if replaces(s.found.document, void.found.document)]
        best = max(successors, key=lambda s: s.score, default=None)
        if best is not None and best.found.document.source not in shown:
            shown.add(best.found.document.source)
            kept.append(best)
    return kept


def replaces(document: Document, void: Document) -> bool:
    """Whether a current document is the void one's successor: named by it, or of its group."""
    same_group = bool(void.group) and (document.space, document.group) == (void.space, void.group)
    return document.status == "current" and (same_group or document.source == void.obsolete_by)


def page(ranked: Iterable[Scored], settings: SearchSettings) -> tuple[Passage, ...]:
    """The page that is shown: no text twice, few passages a document, void versions last."""
    shown: list[Scored] = []
    seen: set[tuple[str, str]] = set()
    count: dict[str, int] = {}
    for scored in ranked:
        source = scored.found.document.source
        text = (source, "".join(scored.found.chunk.text.split()))
        if text in seen or count.get(source, 0) >= settings.per_document:
            continue
        seen.add(text)
        count[source] = count.get(source, 0) + 1
        shown.append(scored)
    behind = _behind_successors(shown)[: settings.passages]
    return tuple(scored.found.passage(scored.score) for scored in behind)


def _behind_successors(shown: Sequence[Scored]) -> list[Scored]:
    """An obsolete passage moves behind the last passage of what replaced it, else stays."""

    def place(item: tuple[int, Scored]) -> tuple[int, int]:
        own, scored = item
        void = scored.found.document
        if void.status != "obsolete":
            return own, 0
        after = [n for n, s in enumerate(shown) if replaces(s.found.document, void)]
        return max([own, *after]), 1

    return [scored for _, scored in sorted(enumerate(shown), key=place)]

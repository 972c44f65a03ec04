"""One question to the index: counts and nearest vectors, then words, then what either leg lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from rag.documents import IndexedChunk, Vectors
from rag.opensearch import queries
from rag.opensearch.entries import chunk_of
from rag.opensearch.mapping import check_marks
from rag.opensearch.scores import Readable
from rag.opensearch.server import Answer, Server, parts, taken
from rag.ports import Channels, Filters, Hit
from rag.text import query_terms
from rag.word_table import term_weights

_MOST_TERMS = 64
_CANDIDATES = 3
"""So many times `limit` passages are fetched by words, to be put into order by readable weights."""

_Key = tuple[str, int]
_Found = dict[_Key, tuple[IndexedChunk, str]]
"""Chunks by source and position, with their terms."""


@dataclass(frozen=True, slots=True)
class Question:
    """What `SearchIndex.search` is called with."""

    text: str
    vector: Vectors | None
    readers: frozenset[str]
    filters: Filters
    limit: int
    embedder: str

    @property
    def direction(self) -> Vectors | None:
        """The vector, None for one of zeros, which is near nothing."""
        return self.vector if self.vector is not None and self.vector.any() else None


async def find(server: Server, index: str, question: Question) -> Channels:
    """Both legs, their scores over what the readers may read alone.

    Raises:
        IndexMismatch: the index was built by another embedder.
    """
    terms = query_terms(question.text)[:_MOST_TERMS]
    known, near = await _first_step(server, index, question, terms)
    worded, means = await _second_step(server, index, question, known)
    found = worded | _found(near)
    words = {key: known.score(held) for key, (_, held) in found.items()}
    best = _best({key: words[key] for key in worded}, question.limit)
    dense = {key: cosine for key, cosine in _cosines(near).items() if cosine > 0}
    rest = [key for key in best if key not in dense]
    similarity = dense | await _compare(server, index, question, rest)
    hits = {
        key: Hit(chunk, similarity.get(key, 0.0), words[key]) for key, (chunk, _) in found.items()
    }
    return Channels(
        tuple(hits[key] for key in best),
        tuple(hits[key] for key in _best(dense, question.limit)),
        *term_weights(terms, known.counts, known.total),
        means,
    )


async def _first_step(
    server: Server, index: str, question: Question, terms: Sequence[str]
) -> tuple[Readable, Answer]:
    readers, filters = question.readers, question.filters
    bodies = [queries.statistics(terms, readers, filters)]
    if question.direction is not None:
        bodies.append(queries.nearest(question.direction, readers, filters, question.limit))
    told, *near = await parts(server, index, bodies)
    known, marks = read_statistics(taken(told), terms)
    if question.vector is not None:
        check_marks(marks, question.embedder)  # before the other part, which may be refused by it
    return known, taken(near[0]) if near else {}


async def _second_step(
    server: Server, index: str, question: Question, known: Readable
) -> tuple[_Found, dict[str, float]]:
    readers, filters, boosts = question.readers, question.filters, known.boosts()
    bodies: list[queries.Query] = []
    if boosts:
        most = question.limit * _CANDIDATES
        bodies.append(queries.having_terms(boosts, readers, filters, most))
    if question.direction is not None and known.languages:
        bodies.append(queries.sampled(question.direction, readers, filters, known.languages))
    told = [taken(part) for part in await parts(server, index, bodies)] if bodies else []
    worded = _found(told[0]) if boosts else {}
    if question.vector is None:
        return worded, {}
    if question.direction is None:
        return worded, dict.fromkeys(sorted(known.languages), 0.0)
    return worded, _means(told[-1] if known.languages else {})


async def _compare(
    server: Server, index: str, question: Question, keys: Sequence[_Key]
) -> dict[_Key, float]:
    if question.direction is None or not keys:
        return {}
    body = queries.compared(question.direction, keys, question.readers)
    return _cosines(taken((await parts(server, index, [body]))[0]))


def read_statistics(answer: Answer, terms: Sequence[str]) -> tuple[Readable, list[str]]:
    """What an answer to `queries.statistics` says, and the marks of who built the index."""
    if not answer:
        return Readable(0, 0.0, {}, 0, {}, {}), []
    own = answer["aggregations"]
    whole = own["whole"]["chunks"]
    languages = own["narrowed"]["language"]["buckets"]
    known = Readable(
        int(answer["hits"]["total"]["value"]),
        float(own["length"]["value"] or 0.0),
        _counts(own, terms),
        int(whole["doc_count"]),
        _counts(whole, terms),
        {bucket["key"]: int(bucket["doc_count"]) for bucket in languages},
    )
    return known, [bucket["key"] for bucket in whole["built"]["buckets"]]


def _counts(aggregations: Mapping[str, Any], terms: Sequence[str]) -> dict[str, int]:
    if not terms:
        return {}
    buckets = aggregations["terms"]["buckets"]
    numbers = (int(bucket["doc_count"]) for bucket in buckets)
    return {term: n for term, n in zip(terms, numbers, strict=True) if n}


def _hits(answer: Answer) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", answer["hits"]["hits"]) if answer else []


def _found(answer: Answer) -> _Found:
    chunks = ((chunk_of(hit["_source"]), hit["_source"]["terms"]) for hit in _hits(answer))
    return {chunk.key: (chunk, terms) for chunk, terms in chunks}


def _cosines(answer: Answer) -> dict[_Key, float]:
    told: dict[_Key, float] = {}
    for hit in _hits(answer):
        source = hit["_source"]
        told[source["source"], int(source["position"])] = queries.cosine(float(hit["_score"]))
    return told


def _means(answer: Answer) -> dict[str, float]:
    cosines: dict[str, list[float]] = {}
    for hit in _hits(answer):
        own = cosines.setdefault(hit["_source"]["language"], [])
        own.append(queries.cosine(float(hit["_score"])))
    return {language: sum(own) / len(own) for language, own in sorted(cosines.items())}


def _best(scores: Mapping[_Key, float], limit: int) -> list[_Key]:
    ranked = sorted((key for key in scores if scores[key] > 0), key=lambda k: (-scores[k], k))
    return ranked[:limit]

"""The searches as request bodies: pure functions, the readers inside each of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rag.documents import Vectors
from rag.opensearch.entries import CHUNK, DOCUMENT
from rag.opensearch.mapping import SAMPLES
from rag.ports import Filters

Query = dict[str, Any]

LANGUAGE_SAMPLE = 128
"""About so many passages of a language tell the mean cosine with it; fewer are all counted."""
_EXPLORED = 100
"""At least so many neighbours are followed in the vector graph."""
_SHOWN = ["source", "position", "record", "terms"]


def readable(readers: frozenset[str]) -> list[Query]:
    """The conditions that no search of chunks goes without."""
    return [{"term": {"part": CHUNK}}, {"terms": {"readers": sorted(readers)}}]


def narrowing(filters: Filters) -> list[Query]:
    """The conditions of a narrowed search, [] for none."""
    sets: Mapping[str, Collection[str]] = {
        "space": filters.spaces,
        "kind": filters.kinds,
        "language": filters.languages,
        "status": filters.statuses,
    }
    return [{"terms": {name: sorted(values)}} for name, values in sets.items() if values]


def statistics(terms: Sequence[str], readers: frozenset[str], filters: Filters) -> Query:
    """How many passages have each term, among the readable ones and among all; none is shown.

    Also the mean length of the readable passages, how many of each language a narrowed search has,
    and who built the index.
    """
    own: Query = {
        "length": {"avg": {"field": "length"}},
        "narrowed": {
            "filter": _all(narrowing(filters)),
            "aggs": {"language": {"terms": {"field": "language"}}},
        },
    }
    whole: Query = {"built": {"terms": {"field": "built"}}}
    if terms:
        having = {"filters": {"filters": [{"term": {"terms": term}} for term in terms]}}
        own["terms"], whole["terms"] = having, having
    chunks = {"filter": {"term": {"part": CHUNK}}, "aggs": whole}
    return {
        "size": 0,
        "track_total_hits": True,
        "query": _all(readable(readers)),
        "aggs": {**own, "whole": {"global": {}, "aggs": {"chunks": chunks}}},
    }


def nearest(vector: Vectors, readers: frozenset[str], filters: Filters, limit: int) -> Query:
    """The vector leg."""
    conditions = [*readable(readers), *narrowing(filters)]
    return {"size": limit, "_source": _SHOWN, **_knn(vector, max(limit, _EXPLORED), conditions)}


def having_terms(
    boosts: Mapping[str, float], readers: frozenset[str], filters: Filters, limit: int
) -> Query:
    """The word leg; `boosts` has a factor for each term that is somewhere."""
    return {
        "size": limit,
        "_source": _SHOWN,
        "query": {
            "bool": {
                "filter": [*readable(readers), *narrowing(filters)],
                "should": [
                    {"term": {"terms": {"value": term, "boost": boost}}}
                    for term, boost in boosts.items()
                ],
                "minimum_should_match": 1,
            }
        },
    }


def sampled(
    vector: Vectors, readers: frozenset[str], filters: Filters, languages: Mapping[str, int]
) -> Query:
    """Cosines with a fixed random part of each language's passages, `languages` has their number.

    No more passages pass than neighbours are asked for, so the server compares them one by one.
    """
    parts = [
        {
            "bool": {
                "filter": [
                    {"term": {"language": language}},
                    {"range": {"sample": {"lt": _part(number)}}},
                ]
            }
        }
        for language, number in sorted(languages.items())
    ]
    conditions = [*readable(readers), *narrowing(filters), {"bool": {"should": parts}}]
    most = 2 * LANGUAGE_SAMPLE * len(parts)
    return {"size": most, "_source": ["language"], **_knn(vector, most, conditions)}


def compared(vector: Vectors, keys: Sequence[tuple[str, int]], readers: frozenset[str]) -> Query:
    """The cosines of these chunks, by source and position."""
    wanted = [
        {"bool": {"filter": [{"term": {"source": source}}, {"term": {"position": position}}]}}
        for source, position in keys
    ]
    conditions = [*readable(readers), {"bool": {"should": wanted}}]
    return {
        "size": len(keys),
        "_source": ["source", "position"],
        **_knn(vector, len(keys), conditions),
    }


def document_chunks(source: str, readers: frozenset[str]) -> list[Query]:
    """The conditions on the chunks of one document."""
    return [*readable(readers), {"term": {"source": source}}]


def documents(space: str) -> list[Query]:
    """The conditions on the documents of a space."""
    return [{"term": {"part": DOCUMENT}}, {"term": {"space": space}}]


def page(conditions: Sequence[Query], shown: Sequence[str], size: int, after: list[Any]) -> Query:
    """One page of all entries that fulfil the conditions, in order of source and position."""
    return {
        "size": size,
        "_source": list(shown),
        "query": _all(conditions),
        "sort": [{"source": "asc"}, {"position": "asc"}],
        **({"search_after": after} if after else {}),
    }


def cosine(score: float) -> float:
    """The inner product behind OpenSearch's score for it."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _part(number: int) -> int:
    return math.ceil(SAMPLES * min(1.0, LANGUAGE_SAMPLE / max(1, number)))


def _all(conditions: Sequence[Query]) -> Query:
    return {"bool": {"filter": list(conditions)}}


def _knn(vector: Vectors, count: int, conditions: Sequence[Query]) -> Query:
    asked = {"vector": [float(v) for v in vector], "k": count, "filter": _all(conditions)}
    return {"query": {"knn": {"vector": asked}}}

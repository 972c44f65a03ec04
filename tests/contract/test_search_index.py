"""What every search index promises. A new adapter joins in `index`."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.documents import Chunk, Document, IndexMismatch
from rag.embedded_index import EmbeddedIndex
from rag.ports import Channels, Filters, SearchIndex
from rag.text import passage_terms, query_terms
from tests.fakes.knowledge import ALL, CountingEmbedder
from tests.fakes.opensearch_index import opensearch_index

CASES = Path(__file__).parent.parent / "data" / "kb"
INDEXES = ["embedded", pytest.param("opensearch", marks=pytest.mark.needs_opensearch)]
EMBEDDER = CountingEmbedder()


@pytest.fixture(params=INDEXES)
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SearchIndex]:
    if request.param == "embedded":
        embedded = EmbeddedIndex(tmp_path / "kb.sqlite")
        yield embedded
        embedded.close()
        return
    url: str = request.getfixturevalue("opensearch_url")
    async with opensearch_index(url) as made:
        yield made


def document(source: str, **fields: object) -> Document:
    values: dict[str, object] = {"source": source, "space": "s", "external": source, "title": ""}
    return Document(**{**values, **fields})  # pyright: ignore[reportArgumentType]  test shorthand


async def put(index: SearchIndex, doc: Document, *texts: str) -> None:
    chunks = [Chunk(n, text) for n, text in enumerate(texts)]
    await index.upsert(doc, chunks, EMBEDDER.embed_passages(texts), EMBEDDER.name)


async def ask(
    index: SearchIndex,
    text: str,
    readers: frozenset[str] = ALL,
    filters: Filters = Filters(),  # noqa: B008  frozen
    limit: int = 20,
) -> Channels:
    vector = EMBEDDER.embed_queries([text])[0]
    return await index.search(text, vector, readers, filters, limit=limit, embedder=EMBEDDER.name)


def sources(channels: Channels) -> set[str]:
    return {hit.found.document.source for hit in (*channels.words, *channels.dense)}


async def test_c_kb_01_chinese_word_of_two_letters_hits(index: SearchIndex) -> None:
    case = json.loads((CASES / "cjk_four_docs.json").read_text("utf-8"))
    for doc in case["docs"]:
        await put(index, document(doc["id"]), doc["text"])
    found = await ask(index, case["query"])
    assert [hit.found.document.source for hit in found.words] == case["keyword_only_hits"]
    assert all(hit.words > 0 for hit in found.words)


async def test_c_kb_02_operators_are_plain_words(index: SearchIndex) -> None:
    await put(index, document("d"), "C++ or a/b testing, draft in /users/28474/notes")
    for query in json.loads((CASES / "queries_with_operators.json").read_text("utf-8")):
        assert sources(await ask(index, query)) == {"d"}


@pytest.mark.parametrize(
    "query", ['"', "' OR 1=1 --", "NEAR(a b)", "terms:a", "a AND NOT", "*", "^", "\x00", "", "?"]
)
async def test_any_text_is_a_question(index: SearchIndex, query: str) -> None:
    await put(index, document("d"), "alpha beta")
    await ask(index, query)


async def test_c_kb_03_deleted_is_not_found_at_once(index: SearchIndex) -> None:
    await put(index, document("hr-7"), *(f"Sabbatical is 6 weeks. Part {n}" for n in range(3)))
    assert sources(await ask(index, "sabbatical")) == {"hr-7"}
    await index.delete(["hr-7", "never-there"])
    assert sources(await ask(index, "sabbatical")) == set()
    assert await index.read("hr-7", ALL) == ()
    assert await index.fingerprints("s") == {}


async def test_c_kb_04_new_version_leaves_nothing_of_the_old(index: SearchIndex) -> None:
    old = [f"Annual leave is 10 days. {n}" for n in range(10)]
    await put(index, document("leave"), *old)
    await put(index, document("leave"), *(f"Annual leave is 15 days. {n}" for n in range(4)))
    found = await ask(index, "how many days of annual leave?")
    assert len(await index.read("leave", ALL)) == 4
    assert all("15" in hit.found.chunk.text for hit in (*found.words, *found.dense))


async def test_c_kb_06_no_hit_without_a_shared_label(index: SearchIndex) -> None:
    case = json.loads((CASES / "acl_two_users.json").read_text("utf-8"))
    for doc in case["docs"]:
        readers = frozenset(
            "everyone" if who == "*" else f"person:feishu:{who}" for who in doc["allowed"]
        )
        await put(index, document(doc["id"], title=doc["id"], readers=readers), doc["text"])
    bob = frozenset({"everyone", f"person:feishu:{case['as_user']}"})
    for query in case["queries"]:
        found = await ask(index, query, bob)
        assert "pay-1" not in sources(found)
        assert "Bonus" not in repr((found.words, found.dense))
    assert await index.read("pay-1", bob) == ()
    alice = frozenset({"person:feishu:ou_case_alice"})
    assert sources(await ask(index, case["queries"][0], alice)) == {"pay-1"}


async def test_nobody_finds_nothing(index: SearchIndex) -> None:
    await put(index, document("d"), "alpha")
    assert sources(await ask(index, "alpha", frozenset())) == set()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(kinds=frozenset({"faq"})), {"a"}),
        (Filters(spaces=frozenset({"two"})), {"b"}),
        (Filters(languages=frozenset({"zh"})), {"b"}),
        (Filters(statuses=frozenset({"obsolete"})), {"c"}),
        (Filters(kinds=frozenset({"faq"}), spaces=frozenset({"two"})), set[str]()),
    ],
)
async def test_filters_narrow_both_legs(
    index: SearchIndex, filters: Filters, expected: set[str]
) -> None:
    await put(index, document("a", kind="faq"), "alpha")
    await put(index, document("b", space="two", language="zh"), "alpha")
    await put(index, document("c", status="obsolete"), "alpha")
    found = await ask(index, "alpha", filters=filters)
    assert {hit.found.document.source for hit in found.words} == expected
    assert {hit.found.document.source for hit in found.dense} == expected


async def test_exact_tokens_are_found_in_any_spelling(index: SearchIndex) -> None:
    for n in range(8):
        await put(index, document(f"d{n}"), f"Fault E-20{n} of the X-20{n}, see clause 4.2.{n}.")
    for query, wanted in (("E-203", "d3"), ("e203?", "d3"), ("X205", "d5"), ("条款4.2.6", "d6")):
        assert (await ask(index, query)).words[0].found.document.source == wanted


async def test_other_readers_hold_with_the_end_of_the_call(index: SearchIndex) -> None:
    hr = frozenset({"group:hr"})
    await put(index, document("own", readers=hr), "alpha", "alpha beta")
    await put(index, document("inherits", inherited=True), "alpha", "beta")
    await put(index, document("elsewhere", space="t", inherited=True), "gamma")
    before = await ask(index, "alpha beta")
    assert sources(before) == {"inherits"}
    assert await index.set_readers("s", hr, ALL) == {"inherits"}
    assert await index.set_readers("s", hr, ALL) == set()
    assert sources(await ask(index, "alpha beta gamma")) == {"elsewhere"}
    found = await ask(index, "alpha beta", hr)
    assert sources(found) == {"own", "inherits"}
    assert all(hit.found.document.readers == hr for hit in found.words)
    assert all(hit.similarity > 0 for hit in found.words)
    assert await index.read("inherits", ALL) == ()
    await index.set_readers("s", ALL, hr)
    assert await ask(index, "alpha beta") == before


async def test_a_chunk_comes_back_as_it_was_put(index: SearchIndex) -> None:
    doc = document("d", title="T", version="2", url="https://kb.example/d", group="g")
    chunk = Chunk(0, "alpha \U0001f600", "A > B", 0)
    await index.upsert(doc, [chunk], EMBEDDER.embed_passages(["alpha"]), EMBEDDER.name)
    (hit,) = (await ask(index, "alpha")).words
    assert (hit.found.document, hit.found.chunk) == (doc, chunk)
    assert hit.similarity == pytest.approx(1.0)


async def test_embedders_are_not_mixed(index: SearchIndex) -> None:
    await put(index, document("d"), "alpha")
    with pytest.raises(IndexMismatch, match="counting"):
        await index.search("x", np.ones(64, np.float32), ALL, embedder="another")
    with pytest.raises(IndexMismatch, match="counting"):
        await index.upsert(document("e"), [Chunk(0, "x")], np.ones((1, 8), np.float32), "another")
    await index.delete(["d"])
    await index.upsert(document("e"), [Chunk(0, "x")], np.ones((1, 8), np.float32), "another")


async def test_concurrent_searches_and_writes(index: SearchIndex) -> None:
    async with asyncio.TaskGroup() as group:
        for n in range(8):
            group.create_task(put(index, document(f"d{n}"), f"alpha number{n}"))
            group.create_task(ask(index, f"alpha number{n}"))
    for n in range(8):
        assert (await ask(index, f"number{n}")).words[0].found.document.source == f"d{n}"


async def test_another_process_sees_the_change(tmp_path: Path) -> None:
    one, two = EmbeddedIndex(tmp_path / "kb.sqlite"), EmbeddedIndex(tmp_path / "kb.sqlite")
    await put(one, document("a"), "alpha")
    assert {h.found.document.source for h in (await ask(two, "alpha")).dense} == {"a"}
    await put(one, document("b"), "alpha")
    assert {h.found.document.source for h in (await ask(two, "alpha")).dense} == {"a", "b"}
    one.close()
    two.close()


async def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "kb.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(IndexMismatch, match="newer"):
        await EmbeddedIndex(tmp_path / "kb.sqlite").fingerprints("s")


LABELS = st.sets(st.sampled_from(["everyone", "group:hr", "group:legal", "person:slack:U1"]))
TEXTS = st.text(st.sampled_from("alpha beta gamma 年假报销差旅"), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(
    docs=st.lists(st.tuples(LABELS.filter(bool), TEXTS), min_size=1, max_size=12),
    asker=LABELS,
    query=TEXTS,
)
def test_readers_never_leak_and_lose_nothing(
    docs: list[tuple[set[str], str]], asker: set[str], query: str
) -> None:
    """What is hidden might as well not be there: found, scores and weights are equal to the bit."""

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            whole, visible = (EmbeddedIndex(Path(folder) / f"{n}.sqlite") for n in range(2))
            for n, (readers, text) in enumerate(docs):
                doc = document(f"d{n}", readers=frozenset(readers))
                await put(whole, doc, text)
                if readers & asker:
                    await put(visible, doc, text)
            found = await ask(whole, query, frozenset(asker))
            alone = await ask(visible, query, frozenset(asker))
            whole.close()
            visible.close()
        assert found == alone
        terms = set(query_terms(query))
        expected = {
            f"d{n}"
            for n, (readers, text) in enumerate(docs)
            if readers & asker and not terms.isdisjoint(passage_terms(text))
        }
        assert {h.found.document.source for h in found.words} == expected

    asyncio.run(run())


async def test_a_damaged_file_names_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "kb.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(IndexMismatch, match="kb add"):
        await EmbeddedIndex(tmp_path / "kb.sqlite").fingerprints("s")

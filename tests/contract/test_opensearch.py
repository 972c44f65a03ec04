"""What only an index in OpenSearch has to show, on a real node: scores, writes, the swap."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from agent.errors import Unavailable
from agent.stores.system_clock import SystemClock
from rag.documents import Chunk, Document, IndexMismatch
from rag.embedded_index import EmbeddedIndex
from rag.opensearch import generations
from rag.opensearch.bulk import Write, send
from rag.opensearch.entries import chunk_entry
from rag.opensearch.index import OpenSearchIndex, open_index
from rag.opensearch.rebuild import rebuild
from rag.opensearch.server import IndexRefused
from rag.opensearch.target import Target
from rag.ports import Channels, Filters, Hit, SearchIndex
from tests.fakes.clock import FakeClock
from tests.fakes.knowledge import ALL, CountingEmbedder
from tests.fakes.opensearch_index import opensearch_index

pytestmark = pytest.mark.needs_opensearch

EMBEDDER = CountingEmbedder()
HR = frozenset({"group:hr"})
WORDS = ["alpha", "beta", "gamma", "delta", "年假", "报销", "差旅", "E-203", "住宿标准", "overtime"]


@pytest.fixture
async def index(opensearch_url: str) -> AsyncIterator[OpenSearchIndex]:
    async with opensearch_index(opensearch_url) as made:
        yield made


async def put(index: SearchIndex, document: Document, *texts: str) -> None:
    chunks = [Chunk(n, text) for n, text in enumerate(texts)]
    await index.upsert(document, chunks, EMBEDDER.embed_passages(texts), EMBEDDER.name)


async def ask(
    index: SearchIndex,
    text: str,
    readers: frozenset[str] = ALL,
    filters: Filters = Filters(),  # noqa: B008  frozen
) -> Channels:
    vector = EMBEDDER.embed_queries([text])[0]
    return await index.search(text, vector, readers, filters, embedder=EMBEDDER.name)


def doc(source: str, readers: frozenset[str] = ALL, **fields: str) -> Document:
    return Document(source, "s", f"{source}.md", "", readers=readers, **fields)  # pyright: ignore[reportArgumentType]  test shorthand


def corpus(count: int) -> list[tuple[Document, list[str]]]:
    """Documents of one to three chunks out of a few words; a third is for one group alone."""
    chance = random.Random(5)
    made: list[tuple[Document, list[str]]] = []
    for n in range(count):
        texts = [
            " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
            for _ in range(chance.randint(1, 3))
        ]
        language = "zh" if n % 2 else "en"
        made.append((doc(f"d{n:03}", HR if n % 3 == 0 else ALL, language=language), texts))
    return made


def told(leg: tuple[Hit, ...]) -> dict[tuple[str, int], tuple[float, float]]:
    return {hit.found.key: (hit.similarity, hit.words) for hit in leg}


def agree(one: Channels, two: Channels) -> None:
    """The same hits, scores, weights and means; the order where scores are not the same."""
    for own, other in ((one.words, two.words), (one.dense, two.dense)):
        assert len(own) == len(other)
        shared = told(own).keys() & told(other).keys()
        for key in shared:
            assert told(own)[key] == pytest.approx(told(other)[key], abs=1e-5)
        assert [h.words for h in one.words] == pytest.approx([h.words for h in two.words])
        first, second = ([h.similarity for h in c.dense] for c in (one, two))
        assert first == pytest.approx(second, abs=1e-5)
    assert one.term_weights == pytest.approx(two.term_weights)
    assert one.ceiling == pytest.approx(two.ceiling)
    assert one.mean_similarity == pytest.approx(two.mean_similarity, abs=1e-5)


async def test_it_says_what_the_embedded_index_says(index: OpenSearchIndex, tmp_path: Path) -> None:
    embedded = EmbeddedIndex(tmp_path / "kb.sqlite")
    for document, texts in corpus(40):
        await put(index, document, *texts)
        await put(embedded, document, *texts)
    chinese = Filters(languages=frozenset({"zh"}))
    for text in ("alpha", "报销差旅的住宿标准", "E-203 overtime", "nowhere", "?"):
        for readers in (ALL, HR, ALL | HR):
            for filters in (Filters(), chinese):
                agree(
                    await ask(index, text, readers, filters),
                    await ask(embedded, text, readers, filters),
                )
    embedded.close()


async def test_hidden_documents_change_no_figure(opensearch_url: str) -> None:
    async with opensearch_index(opensearch_url) as whole, opensearch_index(opensearch_url) as alone:
        for document, texts in corpus(30):
            await put(whole, document, *texts)
            if document.readers == ALL:
                await put(alone, document, *texts)
        for text in ("alpha beta", "年假", "住宿标准", "nowhere"):
            assert await ask(whole, text) == await ask(alone, text)


async def test_a_frequent_hidden_word_does_not_choose_the_candidates(
    opensearch_url: str,
) -> None:
    """More readable passages than candidates: what is hidden must not push the rare word out."""
    async with opensearch_index(opensearch_url) as index:
        for n in range(70):
            await put(index, doc(f"long{n:02}"), "alpha alpha")
        await put(index, doc("rare"), "beta " + "filler " * 60)
        await put(index, doc("hidden", HR), *["beta"] * 400)
        found = await index.search("alpha beta", None, ALL, limit=5)
        assert found.words[0].found.document.source == "rare"


async def test_a_refused_part_leaves_the_document_incomplete(index: OpenSearchIndex) -> None:
    await put(index, doc("d", fingerprint="old"), "alpha", "beta")
    assert await index.fingerprints("s") == {"d": "old"}
    good = chunk_entry(doc("e"), Chunk(0, "gamma"), EMBEDDER.embed_passages(["x"])[0], "counting")
    bad = {**good, "vector": [1.0, 2.0]}
    with pytest.raises(IndexRefused, match=r"refused 1 of 2, index bad: 400 .*dimension"):
        await send(
            index.server,
            index.alias,
            [Write("index", "e/0", good), Write("index", "bad", bad)],
            SystemClock(),
        )
    with pytest.raises(IndexRefused):
        await index.upsert(
            doc("d", fingerprint="new"),
            [Chunk(0, "alpha"), Chunk(2**40, "no integer")],
            EMBEDDER.embed_passages(["alpha", "beta"]),
            EMBEDDER.name,
        )
    await put(index, doc("f", fingerprint="f"), "delta")
    assert await index.fingerprints("s") == {"f": "f"}
    assert {hit.found.document.source for hit in (await ask(index, "gamma")).words} == {"e"}


async def entries(index: OpenSearchIndex) -> list[str]:
    found = generations.scan(index.server, index.alias, [{"match_all": {}}], ["source"])
    return sorted([hit["_id"] async for hit in found])


async def test_no_entry_of_an_older_version_is_left(index: OpenSearchIndex) -> None:
    await put(index, doc("d"), *(f"alpha {n}" for n in range(600)))
    await put(index, doc("d/1"), "alpha")
    assert len(await entries(index)) == 601 + 2
    await put(index, doc("d"), "alpha", "beta")
    assert await entries(index) == ["d/0", "d/1", "d/1/0", "d/1/document", "d/document"]
    await index.delete(["d"])
    assert await entries(index) == ["d/1/0", "d/1/document"]


async def generation(index: OpenSearchIndex) -> generations.Generation:
    found = await generations.current(index.server, index.alias)
    assert found is not None
    return found


async def test_searches_go_on_while_the_index_is_rebuilt(index: OpenSearchIndex) -> None:
    for n in range(30):
        await put(index, doc(f"d{n:02}"), f"alpha number{n}", "beta")
    old, before = await generation(index), await ask(index, "alpha")
    rebuilt = asyncio.create_task(rebuild(index, EMBEDDER, grace=0.2))
    searches = 0
    while not rebuilt.done():
        assert await ask(index, "alpha") == before
        assert len(await index.read("d07", ALL)) == 2
        searches += 1
    assert await rebuilt == 60
    assert searches > 1
    new = await generation(index)
    assert new.number == old.number + 1
    assert await ask(index, "alpha") == before
    assert await index.server.call("GET", f"/{old.name}", missing=True) == {}
    await put(index, doc("after"), "alpha")


async def test_a_rebuild_brings_another_embedder(index: OpenSearchIndex) -> None:
    await put(index, doc("d", fingerprint="f"), "alpha beta", "")
    other = CountingEmbedder("other")
    assert await rebuild(index, other, grace=0) == 2
    assert other.passages == ["alpha beta", ""]
    vector = other.embed_queries(["alpha"])[0]
    assert (await index.search("alpha", vector, ALL, embedder="other")).dense
    with pytest.raises(IndexMismatch, match="other"):
        await ask(index, "alpha")
    assert await index.fingerprints("s") == {"d": "f"}


class Broken(CountingEmbedder):
    def embed_passages(self, texts: object) -> np.ndarray:
        raise Unavailable("the embedder is away")


async def test_a_rebuild_that_breaks_off_changes_nothing(index: OpenSearchIndex) -> None:
    await put(index, doc("d"), "alpha")
    old = await generation(index)
    with pytest.raises(Unavailable):
        await rebuild(index, Broken("other"))
    assert await generation(index) == old
    await put(index, doc("e"), "alpha")
    assert len((await ask(index, "alpha")).words) == 2
    assert await rebuild(index, EMBEDDER, grace=0) == 2


async def test_nothing_is_written_into_an_index_that_is_left(index: OpenSearchIndex) -> None:
    await put(index, doc("d"), "alpha")
    name = (await generation(index)).name
    await index.server.call("PUT", f"/{name}/_settings", {"index": {"blocks": {"write": True}}})
    index.clock = FakeClock()
    with pytest.raises(Unavailable, match="put off"):
        await put(index, doc("e"), "alpha")


async def test_an_older_format_names_the_command(index: OpenSearchIndex) -> None:
    await put(index, doc("d"), "alpha")
    name = (await generation(index)).name
    meta = {"_meta": {"format": 0, "embedder": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}}
    await index.server.call("PUT", f"/{name}/_mapping", meta)
    with pytest.raises(IndexMismatch, match="kb rebuild"):
        await put(index, doc("e"), "alpha")
    assert await rebuild(index, EMBEDDER, grace=0) == 1
    await put(index, doc("e"), "alpha")


async def test_two_processes_may_make_the_index_at_once(
    index: OpenSearchIndex, opensearch_url: str
) -> None:
    other = OpenSearchIndex(
        open_index(Target(opensearch_url), "unused", SystemClock()).server,
        index.alias.removeprefix("plumbline-"),
        SystemClock(),
    )
    assert other.alias == index.alias
    async with asyncio.TaskGroup() as group:
        for n, each in enumerate((index, other, index, other)):
            group.create_task(put(each, doc(f"d{n}"), "alpha"))
    assert len((await ask(index, "alpha")).words) == 4
    assert (await generation(index)).number == 1
    await other.aclose()


async def test_organisations_do_not_meet(index: OpenSearchIndex, opensearch_url: str) -> None:
    await put(index, doc("d"), "alpha")
    async with opensearch_index(opensearch_url) as other:
        assert (await ask(other, "alpha")).words == ()
        assert await other.read("d", ALL) == ()
        assert await other.fingerprints("s") == {}
        await other.delete(["d"])
    assert len((await ask(index, "alpha")).words) == 1


async def test_a_node_that_is_away_is_unavailable(unused_tcp_port: int) -> None:
    away = open_index(Target(f"http://127.0.0.1:{unused_tcp_port}"), "a", SystemClock())
    with pytest.raises(Unavailable, match="can not be reached"):
        await away.fingerprints("s")
    await away.aclose()


async def test_where_ids_are_the_servers_own_no_older_entry_stays(index: OpenSearchIndex) -> None:
    """As in a collection, on the node's engine: no ids of ours, seen some time after the call."""
    await put(index, doc("other"), "alpha")
    collection = OpenSearchIndex(
        index.server, index.alias.removeprefix("plumbline-"), SystemClock(), serverless=True
    )

    async def later() -> None:
        await index.server.call("POST", f"/{index.alias}/_refresh")

    await put(collection, doc("d", fingerprint="1"), "alpha old", "beta old", "gamma old")
    await later()
    await put(collection, doc("d", fingerprint="2"), "alpha new", "beta new")
    assert await index.fingerprints("s") == {"other": "", "d": "1"}
    await later()
    assert [c.chunk.text for c in await index.read("d", ALL)] == ["alpha new", "beta new"]
    assert await index.fingerprints("s") == {"other": "", "d": "2"}
    assert not {"d/0", "d/document"} & {*await entries(index)}
    assert len(await entries(index)) == 2 + 3
    await collection.delete(["d"])
    await later()
    assert await entries(index) == ["other/0", "other/document"]

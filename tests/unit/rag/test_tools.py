"""The two tools of an asker: what they show, and that they know nothing of what he may not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import BadArguments, ForModel, ToolFailed
from agent.ports import Tool
from rag.calibration import Calibration
from rag.read_tool import PAGE, read_tool, split_pages
from rag.retrieval import Retriever
from rag.search_tool import search_tool
from tests.fakes.knowledge import ALL, CountingEmbedder, KnowledgeBase

PLAIN = Calibration("counting", (-4.0, 0.0, 8.0, 0.0), (-4.0, 0.0, 8.0))
HR = frozenset({"group:hr"})


def searching(base: KnowledgeBase, labels: frozenset[str] = ALL) -> Tool:
    return search_tool(Retriever(base.index, base.embedder, PLAIN), labels)


async def filled(folder: Path) -> KnowledgeBase:
    base = KnowledgeBase(folder)
    await base.put("kb-leave", "Annual leave is 15 days.", kind="policy")
    await base.put("kb-pay", "Bonus pool is 1.2 million.", readers=HR)
    return base


async def test_search_gives_passages_with_their_readers(tmp_path: Path) -> None:
    base = await filled(tmp_path)
    result = await searching(base, ALL | HR).call({"queries": ["annual leave", "bonus pool"]})
    assert {p.source: p.readers for p in result.passages} == {"kb-leave": ALL, "kb-pay": HR}


async def test_search_for_another_asker_knows_nothing_of_it(tmp_path: Path) -> None:
    base = await filled(tmp_path)
    result = await searching(base).call({"queries": ["bonus pool", "kb-pay"]})
    assert "kb-pay" not in {passage.source for passage in result.passages}
    assert "kb-pay" not in result.note


async def test_kinds_narrow_and_an_empty_kind_says_so(tmp_path: Path) -> None:
    base = await filled(tmp_path)
    tool = searching(base)
    found = await tool.call({"queries": ["annual leave"], "kinds": ["Policy"]})
    assert [p.source for p in found.passages] == ["kb-leave"]
    none = await tool.call({"queries": ["annual leave"], "kinds": ["contract"]})
    assert "contract" in none.note


@pytest.mark.parametrize("queries", [[], [" "], ["a"] * 5, "leave"])
async def test_bad_queries_are_told_to_the_model(tmp_path: Path, queries: list[str]) -> None:
    with pytest.raises(BadArguments, match="queries"):
        await searching(KnowledgeBase(tmp_path)).call({"queries": queries})  # pyright: ignore[reportArgumentType]  wrong on purpose


async def test_a_foreign_index_is_a_failed_tool(tmp_path: Path) -> None:
    base = await filled(tmp_path)
    base.embedder = CountingEmbedder("another")
    with pytest.raises(ToolFailed, match="counting"):
        await searching(base).call({"queries": ["leave"]})


async def test_read_document_in_pages(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    await base.put("kb-long", *(f"Chunk {n}. " + "word " * 200 + "\n\n" for n in range(13)))
    tool = read_tool(base.index, ALL)
    first = await tool.call({"source": "[src:kb-long]"})
    assert first.note == "Page 1 of 3."
    assert first.passages[0].source == "kb-long"
    assert first.passages[0].text.startswith("Chunk 0.")
    last = await tool.call({"source": "kb-long", "page": 3})
    assert "Chunk 12." in last.passages[0].text
    with pytest.raises(ToolFailed, match="3 pages"):
        await tool.call({"source": "kb-long", "page": 4})


async def test_hidden_and_absent_documents_get_the_same_answer(tmp_path: Path) -> None:
    base = await filled(tmp_path)
    tool = read_tool(base.index, ALL)
    said: list[str] = []
    for source in ("kb-pay", "kb-xxx"):
        with pytest.raises(ForModel) as caught:
            await tool.call({"source": source})
        said.append(str(caught.value).replace(source, "ID"))
    assert said[0] == said[1]


def test_pages_lose_nothing() -> None:
    text = "line of words\n" * 2_000 + "x" * 7_000
    pages = split_pages(text)
    assert "".join(pages) == text
    assert max(map(len, pages)) <= PAGE

"""A hit beyond the asker's labels is dropped before the model sees it, and told to the operator."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import ToolFailed
from rag.documents import IndexedChunk, Vectors
from rag.ports import EVERYTHING, Channels, Filters
from rag.read_tool import read_tool
from rag.retrieval import Retriever
from tests.fakes.knowledge import ALL, KnowledgeBase
from tests.unit.rag.test_retrieval import PLAIN

HR = frozenset({"group:hr"})


class LeakyIndex:
    """An index whose own filter is broken: it finds everything for everybody."""

    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base

    async def search(
        self,
        text: str,
        vector: Vectors | None,
        readers: frozenset[str],
        filters: Filters = EVERYTHING,
        *,
        limit: int = 20,
        embedder: str = "",
    ) -> Channels:
        everybody = readers | ALL | HR
        return await self._base.index.search(
            text, vector, everybody, filters, limit=limit, embedder=embedder
        )

    async def read(self, source: str, readers: frozenset[str]) -> tuple[IndexedChunk, ...]:
        return await self._base.index.read(source, readers | ALL | HR)


async def _filled(folder: Path) -> KnowledgeBase:
    base = KnowledgeBase(folder)
    await base.put("open", "Annual leave is 15 days for everybody.")
    await base.put("secret", "Annual leave of the board is 50 days: CANARYX.", readers=HR)
    return base


async def _found(index: object, base: KnowledgeBase, queries: Sequence[str]) -> set[str]:
    retriever = Retriever(index, base.embedder, PLAIN)  # pyright: ignore[reportArgumentType]  half an index
    return {p.source for p in await retriever.find(queries, ALL, Filters())}


async def test_a_foreign_hit_is_dropped_and_logged_by_its_id_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    base = await _filled(tmp_path)
    with caplog.at_level(logging.ERROR):
        assert await _found(LeakyIndex(base), base, ["annual leave days CANARYX"]) == {"open"}
    assert {r.levelname for r in caplog.records} == {"ERROR"}
    assert all("secret" in r.getMessage() for r in caplog.records)
    assert "CANARYX" not in caplog.text
    assert "board" not in caplog.text


async def test_a_sound_index_gives_no_alarm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    base = await _filled(tmp_path)
    assert await _found(base.index, base, ["annual leave days"]) == {"open"}
    assert caplog.records == []


@pytest.mark.parametrize("leaky", [True, False])
async def test_hidden_and_absent_documents_read_the_same(tmp_path: Path, leaky: bool) -> None:
    base = await _filled(tmp_path)
    tool = read_tool(LeakyIndex(base) if leaky else base.index, ALL)  # pyright: ignore[reportArgumentType]  half an index
    said: list[str] = []
    for source in ("secret", "absent"):
        with pytest.raises(ToolFailed) as refused:
            await tool.call({"source": source})
        said.append(str(refused.value).replace(source, "X"))
    assert said[0] == said[1]

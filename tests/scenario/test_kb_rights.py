"""Who reads a space: the folder's word, an operator's word, a document's own word."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent.durable import rights
from rag.catalog import Space
from rag.documents import Document, source_id
from tests.fakes.knowledge import ALL, KnowledgeBase
from tests.scenario.test_kb_ingest import write

HR, LEGAL = frozenset({"group:hr"}), frozenset({"group:legal"})


async def reads(base: KnowledgeBase, name: str, labels: frozenset[str]) -> bool:
    """Whether a document of the space hr can be found by these labels."""
    return await base.index.read(source_id("hr", f"{name}.md"), labels) != ()


async def filled(folder: Path, readers: str = "group:hr") -> tuple[KnowledgeBase, Path]:
    base = KnowledgeBase(folder)
    space = write(folder / "hr", a="Salary.", own="---\nreaders: ['group:legal']\n---\nLawsuit.")
    (space / "_space.yaml").write_text(f"readers: ['{readers}']\n", "utf-8")
    await base.ingestion.add(space, "hr")
    return base, space


async def test_a_document_says_otherwise_than_its_space(tmp_path: Path) -> None:
    base, _ = await filled(tmp_path)
    assert await reads(base, "a", HR)
    assert await reads(base, "own", LEGAL)
    assert not await reads(base, "own", HR)
    assert not await reads(base, "a", ALL)


async def test_an_operators_word_holds_at_once_and_over_the_folders(tmp_path: Path) -> None:
    base, space = await filled(tmp_path, "everyone")
    embedded = len(base.embedder.passages)
    changed = await base.ingestion.set_readers(Space("hr", HR, by_hand=True))
    assert changed == {source_id("hr", "a.md")}
    assert (await reads(base, "a", ALL), await reads(base, "a", HR)) == (False, True)
    assert (await reads(base, "own", HR), await reads(base, "own", LEGAL)) == (False, True)
    entries = {e.external: e.readers for e in await base.catalog.entries("hr")}
    assert entries == {"a.md": HR, "own.md": LEGAL}
    write(space, a="Salary of 2027.", new="A new page.")
    await base.ingestion.add(space, "hr")
    assert not await reads(base, "a", ALL)
    assert not await reads(base, "new", ALL)
    assert len(base.embedder.passages) == embedded + 2, "new readers alone embed nothing"


async def test_the_folder_is_heard_again_when_the_operator_says_so(tmp_path: Path) -> None:
    base, space = await filled(tmp_path, "everyone")
    await base.ingestion.set_readers(Space("hr", HR, by_hand=True))
    await base.ingestion.set_readers(Space("hr", HR))
    report = await base.ingestion.add(space, "hr")
    assert report.changed == ["a.md"]
    assert await reads(base, "a", ALL)


async def test_a_file_from_elsewhere_does_not_open_a_space(tmp_path: Path) -> None:
    """A folder without a word about readers changes nothing: a space stays as narrow as it was."""
    base, _ = await filled(tmp_path)
    stray = write(tmp_path / "desk", b="Bonus.")
    await base.ingestion.add(stray / "b.md", "hr")
    assert not await reads(base, "b", ALL)
    assert not await reads(base, "a", ALL)
    assert await reads(base, "b", HR)


async def test_readers_that_change_while_documents_come_in_hold_for_these_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, space = await filled(tmp_path, "everyone")
    write(space, late="Late page.")
    whole = base.index.upsert

    async def slow(document: Document, *rest: object) -> None:
        await base.ingestion.set_readers(Space("hr", HR, by_hand=True))
        await whole(document, *rest)  # pyright: ignore[reportArgumentType]  passed on as it came

    with monkeypatch.context() as patch:
        patch.setattr(base.index, "upsert", slow)
        await base.ingestion.add(space, "hr")
    assert not await reads(base, "late", ALL)
    assert {e.readers for e in await base.catalog.entries("hr") if e.inherited} == {HR}


async def test_documents_of_an_older_version_follow_their_space_too(tmp_path: Path) -> None:
    """They do not say whose their readers are: those that are the space's are taken for its own."""
    base, _ = await filled(tmp_path, "everyone")
    base.index.close()
    with sqlite3.connect(tmp_path / "index" / "kb.sqlite") as db:
        db.execute("UPDATE documents SET record = json_remove(record, '$.inherited')")
    db.close()
    await base.ingestion.set_readers(Space("hr", HR, by_hand=True))
    assert (await reads(base, "a", ALL), await reads(base, "a", HR)) == (False, True)
    assert (await reads(base, "own", HR), await reads(base, "own", LEGAL)) == (False, True)


async def test_every_change_of_readers_raises_the_version_of_rights(tmp_path: Path) -> None:
    base, space = await filled(tmp_path)
    before = await rights.version(base.table, "demo")
    await base.ingestion.add(space, "hr")
    assert await rights.version(base.table, "demo") == before, "nothing changed"
    await base.ingestion.set_readers(Space("hr", LEGAL, by_hand=True))
    assert await rights.version(base.table, "demo") == before + 1


async def test_a_count_tells_of_readable_documents_only(tmp_path: Path) -> None:
    base, _ = await filled(tmp_path)
    assert [await base.catalog.readable(labels) for labels in (ALL, HR, HR | LEGAL)] == [0, 1, 2]

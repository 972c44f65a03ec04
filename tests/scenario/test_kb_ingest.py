"""A folder becomes a space, run after run: counts, refusals, metadata, crashes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agent.errors import Unavailable
from rag.documents import Document, DocumentRefused, source_id
from rag.ingest import BadSpaceName
from rag.ports import Filters
from rag.retrieval import Retriever
from tests.fakes.knowledge import ALL, KnowledgeBase
from tests.unit.rag.test_retrieval import PLAIN

DATA = Path(__file__).parent.parent / "data"


def write(folder: Path, **files: str) -> Path:
    """Files by name without ending; all are Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


async def only(base: KnowledgeBase, name: str) -> Document:
    (chunk, *_) = await base.index.read(source_id("hr", name), ALL | {"group:hr"})
    return chunk.document


async def test_second_run_indexes_only_what_changed(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", leave="Ten days.", travel="By train.", gone="Old rule.")
    first = await base.ingestion.add(folder, "hr")
    assert sorted(first.added) == ["gone.md", "leave.md", "travel.md"]
    (folder / "gone.md").unlink()
    write(folder, leave="Fifteen days.", new="A new page.")
    base.embedder.passages.clear()
    second = await base.ingestion.add(folder, "hr")
    assert (second.added, second.changed) == (["new.md"], ["leave.md"])
    assert (second.unchanged, second.removed) == (["travel.md"], ["gone.md"])
    assert len(base.embedder.passages) == 2
    assert set(await base.index.fingerprints("hr")) == {
        source_id("hr", name) for name in ("leave.md", "new.md", "travel.md")
    }


async def test_c_kb_04_the_new_value_is_answered(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    steps = json.loads((DATA / "kb" / "new_version_sequence.json").read_text("utf-8"))["steps"]
    for step in steps[:2]:
        sections = (f"# Part {n}\n\n{step['text']} {'x' * 700}\n" for n in range(step["chunks"]))
        folder = write(tmp_path / "hr", leave="Start.\n\n" + "\n".join(sections))
        await base.ingestion.add(folder, "hr")
    retriever = Retriever(base.index, base.embedder, PLAIN)
    found = await retriever.find([steps[3]["q"]], ALL, Filters())
    assert "15" in found[0].text
    assert all("10 days" not in passage.text for passage in found)


async def test_c_kb_12_bad_files_never_stop_the_batch(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", aaa="First good file.", zzz="Last good file.")
    for name in ("zero_bytes.pdf", "truncated.pdf", "text_named.docx", "needs_password.pdf"):
        shutil.copy(DATA / "docs" / name, folder)
    shutil.copy(DATA / "docs" / "scanned_one_page.pdf", folder)
    shutil.copy(DATA / "docs" / "inflates_to_200mb.docx", folder)
    report = await base.ingestion.add(folder, "hr")
    assert report.added == ["aaa.md", "zzz.md"]
    assert len(report.refused) == 6
    assert report.refused["scanned_one_page.pdf"].startswith("no text layer")
    assert report.refused["needs_password.pdf"].startswith("needs a password")
    assert all("Traceback" not in reason for reason in report.refused.values())
    entries = {e.external: e for e in await base.catalog.entries("hr")}
    assert entries["truncated.pdf"].state == "refused"
    assert entries["truncated.pdf"].reason == report.refused["truncated.pdf"]
    assert len(await base.index.fingerprints("hr")) == 2
    again = await base.ingestion.add(folder, "hr")
    assert again.refused == report.refused


async def test_metadata_from_front_matter_sidecar_and_space(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(
        tmp_path / "hr",
        a="---\ntitle: Leave\nversion: '3'\nupdated: 2026-01-05\nstatus: obsolete\n"
        "obsolete_by: b.md\nreaders: [everyone]\n---\nTen days.",
        b="年假十五天。",
    )
    (folder / "_space.yaml").write_text("readers: ['group:hr']\nkind: policy\n", "utf-8")
    (folder / "b.md.meta.yaml").write_text("title: Urlaub\ngroup: leave\n", "utf-8")
    await base.ingestion.add(folder, "hr")
    a, b = await only(base, "a.md"), await only(base, "b.md")
    assert (a.title, a.version, a.updated, a.status) == ("Leave", "3", "2026-01-05", "obsolete")
    assert (a.obsolete_by, a.readers, a.kind) == (b.source, ALL, "policy")
    assert (b.title, b.group, b.language, b.readers) == ("Urlaub", "leave", "zh", {"group:hr"})


async def test_new_readers_of_the_space_reach_every_document(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Salary bands.")
    await base.ingestion.add(folder, "hr")
    (folder / "_space.yaml").write_text("readers: ['group:hr']\n", "utf-8")
    report = await base.ingestion.add(folder, "hr")
    assert report.changed == ["a.md"]
    assert await base.index.read(source_id("hr", "a.md"), ALL) == ()


@pytest.mark.parametrize(
    "readers",
    ["group", "[]", "'group:'", "'group: '", "'person:U1'", "'person:lark:U1'", "{a: b}", "[3]"],
)
async def test_readers_are_never_guessed(tmp_path: Path, readers: str) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a=f"---\nreaders: {readers}\n---\nSecret.", b="Open.")
    report = await base.ingestion.add(folder, "hr")
    assert list(report.refused) == ["a.md"]
    assert await base.index.read(source_id("hr", "a.md"), ALL) == ()


async def test_a_version_that_can_not_be_read_takes_the_old_one_out(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Ten days.", b="Other.")
    await base.ingestion.add(folder, "hr")
    write(folder, a="---\nreaders: nobody\n---\nTen days.")
    await base.ingestion.add(folder, "hr")
    assert await base.index.read(source_id("hr", "a.md"), ALL) == ()


async def test_a_broken_space_file_stops_before_anything_is_opened(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Secret.")
    (folder / "_space.yaml").write_text("readers: [group:hr, [", "utf-8")
    with pytest.raises(DocumentRefused, match="metadata"):
        await base.ingestion.add(folder, "hr")
    with pytest.raises(BadSpaceName):
        await base.ingestion.add(folder, "a#b")
    assert await base.index.fingerprints("hr") == {}


async def test_a_moved_root_changes_nothing_and_another_folder_removes_nothing(
    tmp_path: Path,
) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "old" / "hr", a="Ten days.")
    await base.ingestion.add(folder, "hr")
    moved = folder.rename(tmp_path / "hr2")
    assert (await base.ingestion.add(moved, "hr")).unchanged == ["a.md"]
    strange = write(tmp_path / "strange", z="Something else.")
    report = await base.ingestion.add(strange, "hr")
    assert (report.added, report.removed, report.kept) == (["z.md"], [], ["a.md"])


async def test_a_single_file_removes_nothing(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Ten days.", b="Other.")
    await base.ingestion.add(folder, "hr")
    report = await base.ingestion.add(folder / "a.md", "hr")
    assert (report.unchanged, report.removed) == (["a.md"], [])
    assert len(await base.index.fingerprints("hr")) == 2


async def test_a_crash_in_the_middle_is_completed_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Ten days.", b="By train.", c="Canteen.")
    whole = base.index.upsert

    async def cut(document: Document, *rest: object) -> None:
        if document.external == "b.md":
            raise Unavailable("the plug was pulled")
        await whole(document, *rest)  # pyright: ignore[reportArgumentType]  passed on as it came

    with monkeypatch.context() as patch:
        patch.setattr(base.index, "upsert", cut)
        with pytest.raises(Unavailable):
            await base.ingestion.add(folder, "hr")
    states = {e.external: e.state for e in await base.catalog.entries("hr")}
    assert states == {"a.md": "indexed", "b.md": "indexing"}
    report = await base.ingestion.add(folder, "hr")
    assert report.unchanged == ["a.md"]
    assert len(await base.index.fingerprints("hr")) == 3


async def test_a_lost_index_is_built_again(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Ten days.")
    await base.ingestion.add(folder, "hr")
    base.index.close()
    for file in (tmp_path / "index").iterdir():
        file.unlink()
    assert (await base.ingestion.add(folder, "hr")).changed == ["a.md"]
    assert len(await base.index.read(source_id("hr", "a.md"), ALL)) == 1


async def test_remove_a_document_and_a_space(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    folder = write(tmp_path / "hr", a="Ten days.", b="By train.")
    seen: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, name: str) -> None:
        seen.append((done, total, name))

    await base.ingestion.add(folder, "hr", progress)
    assert seen == [(1, 2, "a.md"), (2, 2, "b.md")]
    assert await base.ingestion.remove("hr", [source_id("hr", "a.md")]) == ("a.md",)
    assert await base.ingestion.remove("hr") == ("b.md",)
    assert await base.catalog.entries("hr") == ()
    assert await base.catalog.spaces() == ("hr",)
    assert await base.index.fingerprints("hr") == {}


async def test_near_duplicates_are_told_and_marked_versions_are_none(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    rule = " ".join(
        f"Rule {n} says that part {n * 7} is checked every {n} weeks." for n in range(40)
    )
    old = "---\nstatus: obsolete\n---\n"
    folder = write(tmp_path / "hr", a=rule, b=f"{rule} Ask Dana.", c="Canteen.", d=old + rule)
    write(
        folder, e=f"---\ngroup: rules\n---\n{rule[::-1]}", f=f"---\ngroup: rules\n---\n{rule[::-1]}"
    )
    assert (await base.ingestion.add(folder, "hr")).copies == {"b.md": "a.md"}
    write(folder, b="Something else is written here now.")
    assert (await base.ingestion.add(folder, "hr")).copies == {}

"""`plumbline leakcheck` (S2): sound on what we ship, and not on planted faults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.domain import Identity
from agent.ports import Tool, ToolResult
from handlers import wiring
from handlers.cli import leakcheck as command
from handlers.cli.main import app
from handlers.leakcheck.check import Report, check_fixture
from handlers.leakcheck.own import check_own
from handlers.leakcheck.tenant import Size
from handlers.settings import Settings
from tests.fakes.planted import Remembering, Unfiltered, Unlabelled

SMALL = Size(6, 60, 30)


async def test_what_we_ship_leaks_nothing_and_hides_nothing_else() -> None:
    report = await check_fixture(SMALL, 7)
    assert report.leaks == ()
    assert report.recall_allowed == 1.0
    places = {"prompt", "frame", "private frame", "answer", "citations", "log", "thread memory"}
    places |= {"private memory", "stored step", "stored answer", "stored snapshot", "whisper"}
    assert places <= set(report.searched)


async def test_a_planted_connector_without_a_filter_is_found_wherever_its_words_go() -> None:
    """The knowledge base as all askers together see it."""
    known: list[Tool] = []

    def unfiltered(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
        kb = [t for t in tools if t.spec.name == "knowledge_search"]
        known.extend(kb)
        return [Unfiltered(t, known) if t in kb else t for t in tools]

    report = await check_fixture(SMALL, 7, unfiltered)
    places = {leak.where for leak in report.leaks}
    assert {"prompt", "answer", "citations", "private frame", "stored step"} <= places
    assert all(leak.source.startswith("kb-") for leak in report.leaks)


async def test_a_planted_cache_that_forgets_who_asked_is_found() -> None:
    """A personal search whose results are kept for whoever asks the same next."""
    kept: dict[str, ToolResult] = {}

    def shared(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [Remembering(t, kept) if "my_messages" in t.spec.name else t for t in tools]

    report = await check_fixture(SMALL, 7, shared)
    assert {leak.where for leak in report.leaks} >= {"prompt", "answer"}
    assert all(leak.source.startswith(("own-", "said-")) for leak in report.leaks)


async def test_planted_readers_that_are_too_many_are_found_in_the_room() -> None:
    """What is the asker's alone is said to be everybody's, so it is posted in a group."""

    def widened(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [Unlabelled(t) for t in tools]

    report = await check_fixture(SMALL, 7, widened)
    assert {leak.where for leak in report.leaks} >= {"frame", "thread memory", "stored snapshot"}


@pytest.mark.parametrize("planted", [False, True])
def test_the_exit_status_and_the_json(monkeypatch: pytest.MonkeyPatch, planted: bool) -> None:
    def widened(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [Unlabelled(t) for t in tools]

    async def small(size: Size, seed: int) -> Report:
        assert size == Size(10, 200, 100)
        wanted = Size(4, 20, 12)
        return await (check_fixture(wanted, seed, widened) if planted else check_fixture(wanted, 1))

    monkeypatch.setattr(command, "check_fixture", small)
    result = CliRunner().invoke(app, ["leakcheck", "--json"])
    told = json.loads(result.stdout)
    assert result.exit_code == int(planted), result.stdout
    assert bool(told["leaks"]) is planted
    assert {"users", "documents", "queries", "leaks", "recall_allowed"} <= set(told)


@pytest.mark.slow
async def test_s2_at_default_size() -> None:
    report = await check_fixture(Size(), 1)
    assert (report.users, report.documents, report.queries) == (10, 200, 100)
    assert report.leaks == ()
    assert report.recall_allowed == 1.0


async def _own(folder: Path, config: str) -> Settings:
    texts = {"open": "everyone", "hr": "group:hr", "own": "person:slack:U0ALICE001"}
    settings = Settings(home=str(folder / "home"), config=str(folder / "plumbline.toml"))
    (folder / "plumbline.toml").write_text(config)
    async with wiring.knowledge(settings) as knowledge:
        for space, reader in texts.items():
            page = folder / space / "page.md"
            page.parent.mkdir()
            page.write_text(f"# The {space} page\n\nThe {space} figure of the year is 4{space}.\n")
            (folder / space / "_space.yaml").write_text(f"readers: [{reader}]\n")
            await knowledge.ingestion.add(folder / space, space)
    return settings


async def test_an_operators_own_index(tmp_path: Path) -> None:
    config = '[groups]\nhr = ["slack:U0BOB00001", "feishu:department:od-hr"]\n'
    settings = await _own(tmp_path, config)
    report = await check_own(settings, 40, 1)
    assert (report.users, report.documents, report.leaks) == (4, 3, ())
    known: list[Tool] = []

    def unfiltered(asker: Identity, tools: Sequence[Tool]) -> Sequence[Tool]:
        known.append(tools[0])
        return [Unfiltered(tools[0], known)]

    planted = await check_own(settings, 40, 1, unfiltered)
    assert {leak.where for leak in planted.leaks} >= {"prompt", "answer"}

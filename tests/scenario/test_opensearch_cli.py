"""The command line with its knowledge base on a real OpenSearch node."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.stores.system_clock import RandomIds, SystemClock
from handlers.cli.main import app
from rag.opensearch.index import open_index
from rag.opensearch.rebuild import rebuild
from rag.opensearch.target import Target

pytestmark = pytest.mark.needs_opensearch


@pytest.fixture
def org(opensearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = f"cli-{RandomIds().new().lower()}"
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLUMBLINE_ORG", name)
    monkeypatch.setenv("PLUMBLINE_INDEX", "opensearch")
    monkeypatch.setenv("PLUMBLINE_OPENSEARCH_URL", opensearch_url)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    yield name

    async def remove() -> None:
        index = open_index(Target(opensearch_url), name, SystemClock())
        await index.server.call("DELETE", f"/{index.alias}-*", missing=True)
        await index.aclose()

    asyncio.run(remove())


def test_documents_come_in_are_rebuilt_answer_and_go(
    org: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuild, "__defaults__", (0.0,))  # nobody searches meanwhile
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "travel.md").write_text("# Travel\n\nThe hotel limit in Shanghai is 650 yuan.\n")
    (folder / "leave.md").write_text("# 年假\n\n入职满一年的员工有十天年假。\n", "utf-8")
    cli = CliRunner()
    added = cli.invoke(app, ["kb", "add", str(folder), "--space", "demo"])
    assert added.exit_code == 0, added.output
    again = cli.invoke(app, ["kb", "add", str(folder), "--space", "demo"])
    assert again.output.split()[-6:] == ["0", "0", "2", "0", "0", "0"], again.output
    rebuilt = cli.invoke(app, ["kb", "rebuild"])
    assert "2 passages stand in the new index" in rebuilt.output, rebuilt.output
    asked = cli.invoke(app, ["ask", "入职满一年有几天年假？", "--as", "bob"])
    assert asked.exit_code == 0, asked.output
    assert "十天年假" in asked.output
    assert cli.invoke(app, ["kb", "remove", "--space", "demo"]).exit_code == 0
    asked = cli.invoke(app, ["ask", "What is the hotel limit in Shanghai?", "--as", "bob"])
    assert "650" not in asked.output
    assert not (tmp_path / "home" / "index").exists()


def test_a_node_that_is_away_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLUMBLINE_INDEX", "opensearch")
    monkeypatch.setenv("PLUMBLINE_OPENSEARCH_URL", f"http://127.0.0.1:{unused_tcp_port}")
    (tmp_path / "a.md").write_text("alpha")
    told = CliRunner().invoke(app, ["kb", "add", str(tmp_path / "a.md"), "--space", "demo"])
    assert told.exit_code == 1
    assert "OpenSearch can not be reached" in told.output
    assert "Traceback" not in told.output

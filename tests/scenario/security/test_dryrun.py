"""`plumbline dryrun`: counts before and after rights, and no title that is not the person's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handlers import wiring
from handlers.cli.main import app
from handlers.settings import Settings

SECRET = "Pay of the board 2026"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "plumbline.toml").write_text('[groups]\nfinance = ["feishu:ou_demo_fang"]\n')
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLUMBLINE_CONFIG", str(tmp_path / "plumbline.toml"))
    return tmp_path


async def filled(home: Path) -> None:
    for space, reader, title in (("open", "everyone", "Travel"), ("pay", "group:finance", SECRET)):
        folder = home / space
        folder.mkdir()
        (folder / "_space.yaml").write_text(f"readers: [{reader}]\n")
        (folder / "page.md").write_text(f"# {title}\n\nThe {title} figure is 42 this year.\n")
        async with wiring.knowledge(Settings(home=str(home / "home"))) as knowledge:
            await knowledge.ingestion.add(folder, space)


def told(login: str, *more: str) -> str:
    query = "What is the pay of the board in 2026?"
    result = CliRunner().invoke(app, ["dryrun", query, "--as", login, *more])
    assert result.exit_code == 0, result.output
    return result.stdout


async def test_counts_and_titles_are_the_persons(home: Path) -> None:
    import asyncio

    await filled(home)
    shown = await asyncio.to_thread(told, "alice", "--json")
    base = json.loads(shown)["sources"][0]
    assert (base["before_permission"], base["after_permission"]) == (2, 1)
    assert SECRET not in shown
    assert SECRET not in await asyncio.to_thread(told, "alice")
    shown = await asyncio.to_thread(told, "fang", "--json")
    base = json.loads(shown)["sources"][0]
    assert (base["before_permission"], base["after_permission"]) == (2, 2)
    assert SECRET in json.loads(shown)["titles"]
    own = {s["source"]: s for s in json.loads(shown)["sources"][1:]}
    assert {s["state"] for s in own.values()} == {"not connected"}
    assert "search:message" in own["messages"]["scopes_missing"]


def test_a_name_that_is_no_person_is_refused(home: Path) -> None:
    result = CliRunner().invoke(app, ["dryrun", "q", "--as", "mallory"])
    assert result.exit_code == 2

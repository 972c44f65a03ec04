"""`plumbline kb` as an operator uses it, with the real stores and the default embedder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handlers.cli.kb import app

DOCS = Path(__file__).parent.parent / "data" / "docs"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner()


def test_add_list_remove(run: CliRunner, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    shutil.copytree(DOCS, folder)
    added = run.invoke(app, ["add", str(folder), "--space", "demo"])
    assert added.exit_code == 0, added.output
    assert "refused scanned_one_page.pdf: no text layer" in added.output
    assert "Traceback" not in added.output
    listed = run.invoke(app, ["list", "--space", "demo"])
    assert "policy_gbk.txt" in listed.output
    assert "needs a password" in listed.output
    assert run.invoke(app, ["remove", "policy_gbk.txt"]).exit_code == 0
    assert "policy_gbk.txt" not in run.invoke(app, ["list"]).output
    assert run.invoke(app, ["remove", "--space", "demo"]).exit_code == 0
    assert run.invoke(app, ["remove", "--space", "demo"]).exit_code == 1


def test_a_folder_of_spaces(run: CliRunner, tmp_path: Path) -> None:
    for name in ("hr", "it"):
        (tmp_path / "kb" / name).mkdir(parents=True)
        (tmp_path / "kb" / name / "_space.yaml").write_text("kind: policy\n", "utf-8")
        (tmp_path / "kb" / name / "page.md").write_text(f"About {name}.", "utf-8")
    added = run.invoke(app, ["add", str(tmp_path / "kb")])
    assert added.exit_code == 0, added.output
    assert "Space hr" in added.output
    assert "Space it" in added.output


def test_exit_status_says_when_nothing_was_usable(run: CliRunner, tmp_path: Path) -> None:
    broken = shutil.copy(DOCS / "truncated.pdf", tmp_path)
    assert run.invoke(app, ["add", str(broken), "--space", "demo"]).exit_code == 1
    assert run.invoke(app, ["add", str(tmp_path / "nowhere")]).exit_code == 1
    assert run.invoke(app, ["add", str(broken), "--space", "a#b"]).exit_code == 1
    assert run.invoke(app, ["remove"]).exit_code == 1

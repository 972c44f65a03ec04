"""`plumbline ask` and `plumbline kb add`: a turn in the terminal, through the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent import phrases
from agent.domain import Platform
from agent.errors import Misconfigured, Unavailable
from handlers.cli.main import app, main
from handlers.cli.workspace import free_port
from handlers.settings import DEFAULT_CLAUDE
from tests.fakes.stage import Theatre

HOTEL = "What is the hotel limit in Shanghai?"
KEYS = ["turn_id", "answer", "citations", "status", "model", "steps", "timings"]


class Terminal:
    """A terminal whose environment has a home and nothing else of ours."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PLUMBLINE_HOME", str(home))
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        self.runner = CliRunner()

    def run(self, *arguments: str) -> Result:
        return self.runner.invoke(app, arguments)

    def asked(self, question: str, *arguments: str, status: int = 0) -> dict[str, Any]:
        result = self.run("ask", question, "--json", *arguments)
        assert result.exit_code == status, result.output
        return json.loads(result.stdout)


@pytest.fixture
def terminal(house: Theatre, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal beside the shared knowledge base."""
    return Terminal(house.home, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_plain_output_ends_with_the_numbered_sources(
    terminal: Terminal, platform: Platform
) -> None:
    result = terminal.run("ask", HOTEL, "--as", "bob", "--platform", platform)
    assert result.exit_code == 0, result.output
    answer, _, sources = result.stdout.rstrip().rpartition("\n\n")
    assert "650" in answer
    assert "[1]" in answer
    assert "[src:" not in answer
    assert sources == (
        "[1] Business travel policy · policy · 2026-02-16 · https://kb.example.com/travel.en"
    )


@pytest.mark.parametrize("platform", [pytest.param("feishu", marks=pytest.mark.slow), "slack"])
def test_json_has_exactly_the_promised_keys(terminal: Terminal, platform: Platform) -> None:
    turn = terminal.asked(HOTEL, "--as", "alice", "--platform", platform)
    assert list(turn) == KEYS
    assert (turn["status"], turn["model"]) == ("answered", "offline")
    assert isinstance(turn["turn_id"], str)
    assert len(turn["turn_id"]) == 26
    assert "650" in turn["answer"]
    assert "[1]" in turn["answer"]
    assert type(turn["steps"]) is int
    assert turn["steps"] >= 2
    [citation] = turn["citations"]
    assert list(citation) == ["n", "source_id", "title", "url"]
    assert citation["n"] == 1
    assert citation["source_id"].startswith("kb-")
    assert citation["title"] == "Business travel policy"
    assert citation["url"] == "https://kb.example.com/travel.en"
    assert {"reaction", "total"} <= set(turn["timings"])
    assert all(type(ms) in (int, float) and ms >= 0 for ms in turn["timings"].values())


@pytest.mark.slow
def test_a_refusal_is_no_failure(terminal: Terminal) -> None:
    turn = terminal.asked("Who won the chess tournament of 1987 in Reykjavik?")
    assert turn["status"] == "refused"
    assert turn["citations"] == []
    assert not turn["answer"].startswith("[no-answer]")


@pytest.mark.slow
def test_a_restricted_document_is_for_its_readers(terminal: Terminal) -> None:
    question = "How large is the bonus pool of 2026?"
    assert "4.2 million" in terminal.asked(question, "--as", "fang")["answer"]
    assert "4.2 million" not in json.dumps(terminal.asked(question, "--as", "alice"))


def _configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "plumbline.toml").write_text(text, "utf-8")
    monkeypatch.setenv("PLUMBLINE_CONFIG", str(tmp_path / "plumbline.toml"))


def test_a_person_of_another_tenant_hears_what_is_said_when_nothing_is_there(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _configured(tmp_path, monkeypatch, 'tenants = ["feishu:another"]\n')
    turn = terminal.asked(HOTEL, "--as", "alice")
    assert (turn["status"], turn["citations"]) == ("refused", [])
    assert "650" not in turn["answer"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "group"),
    [("slack", "slack:usergroup:S0DEMOFINA"), ("feishu", "feishu:department:od-demo-finance")],
)
def test_a_group_of_the_platform_opens_what_is_for_it(
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: Platform,
    group: str,
) -> None:
    _configured(tmp_path, monkeypatch, f'[groups]\nfinance = ["{group}"]\n')
    question = "How large is the bonus pool of 2026?"
    for person, reads in (("fang", True), ("alice", False)):
        turn = terminal.asked(question, "--as", person, "--platform", platform)
        assert ("4.2 million" in turn["answer"]) == reads


@pytest.mark.slow
def test_a_failed_turn_says_so_and_exits_with_1(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-invented")
    monkeypatch.setenv("PLUMBLINE_ANTHROPIC_BASE_URL", f"http://127.0.0.1:{free_port()}")
    result = terminal.run("ask", HOTEL, "--model", "claude-invented")
    assert result.exit_code == 1
    assert result.stdout.strip() == phrases.error("en", "PL-102")


def test_an_unknown_model_is_refused_before_anything_starts(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.cli.main.fill_when_alone", None)
    result = terminal.run("ask", HOTEL, "--model", "nonsense")
    assert result.exit_code == 1
    assert isinstance(result.exception, Misconfigured)
    for name in ("nonsense", "offline", DEFAULT_CLAUDE, "bedrock/NAME"):
        assert name in str(result.exception)


def test_an_empty_question_is_explained(terminal: Terminal) -> None:
    result = terminal.run("ask", "  ")
    assert result.exit_code == 2
    assert "the question is empty" in result.output


@pytest.mark.parametrize(
    "arguments", [("--as", "mallory"), ("--platform", "telegram")], ids=["person", "platform"]
)
def test_somebody_unknown_is_explained(terminal: Terminal, arguments: tuple[str, str]) -> None:
    result = terminal.run("ask", HOTEL, *arguments)
    assert result.exit_code == 2
    assert arguments[1] in result.output
    assert "Traceback" not in result.output


def test_an_error_of_ours_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLUMBLINE_STEP_LIMIT", "many")
    monkeypatch.setattr("sys.argv", ["plumbline", "ask", HOTEL])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        said.err.strip() == "PLUMBLINE_STEP_LIMIT has to be a whole number from 1 to 1000. (PL-301)"
    )
    assert Unavailable.code not in said.err


@pytest.mark.slow
def test_an_own_document_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path / "home", monkeypatch)
    own = tmp_path / "own"
    own.mkdir()
    text = "# Coffee machine\n\nDescale the coffee machine on the third floor every 40 days.\n"
    (own / "coffee.md").write_text(text, encoding="utf-8")
    added = terminal.run("kb", "add", str(own), "--space", "own")
    assert added.exit_code == 0, added.output
    turn = terminal.asked("How often must the coffee machine be descaled?")
    assert "40 days" in turn["answer"]
    [citation] = turn["citations"]
    assert (citation["title"], citation["url"]) == ("Coffee machine", "own/coffee.md")

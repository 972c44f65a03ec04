"""Settings and plumbline.toml: what an operator decides, and how a slip is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.domain import Identity
from agent.errors import Misconfigured
from handlers.configuration import Configuration, load_configuration
from handlers.settings import DEFAULT_CLAUDE, Settings, variable_of


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        (Settings(), "offline"),
        (Settings(anthropic_api_key="k"), DEFAULT_CLAUDE),
        (Settings(model="claude-x", anthropic_api_key="k"), "claude-x"),
        (Settings(model="offline", anthropic_api_key="k"), "offline"),
    ],
)
def test_the_model_that_answers(settings: Settings, model: str) -> None:
    assert settings.chosen_model == model


def test_settings_come_from_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLUMBLINE_MODEL", "PLUMBLINE_HOME", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert Settings.from_environment() == Settings()
    monkeypatch.setenv("PLUMBLINE_ORG", " acme ")
    monkeypatch.setenv("PLUMBLINE_STEP_LIMIT", "3")
    monkeypatch.setenv("PLUMBLINE_SLACK_BASE_URL", "  ")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    want = Settings(org="acme", step_limit=3, anthropic_api_key="k")
    assert Settings.from_environment() == want
    monkeypatch.setenv("PLUMBLINE_HOME", "a\x07b")
    with pytest.raises(Misconfigured, match="PLUMBLINE_HOME"):
        Settings.from_environment()


def test_every_field_has_a_variable_of_its_own() -> None:
    assert variable_of("anthropic_api_key") == "ANTHROPIC_API_KEY"
    assert variable_of("feishu_encrypt_key") == "PLUMBLINE_FEISHU_ENCRYPT_KEY"


def test_groups_name_their_members(tmp_path: Path) -> None:
    file = tmp_path / "plumbline.toml"
    file.write_text('[groups]\nhr = ["slack:U1", "feishu:ou_1"]\nfinance = ["slack:U1"]\n')
    groups = load_configuration(str(file))
    assert groups.groups_of(Identity("o", "slack", "A", "T", "U1")) == {"hr", "finance"}
    assert groups.groups_of(Identity("o", "feishu", "A", "T", "U1")) == frozenset()
    assert load_configuration("") == Configuration()


@pytest.mark.parametrize(
    "text", ["[grups]\nhr = []\n", "[groups\n", '[groups]\nhr = "slack:U1"\n', "\x00"]
)
def test_a_slip_in_the_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "plumbline.toml"
    file.write_text(text)
    with pytest.raises(Misconfigured, match=r"plumbline\.toml can not be used"):
        load_configuration(str(file))


def test_a_missing_or_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"gone\.toml"):
        load_configuration(str(tmp_path / "gone.toml"))
    (tmp_path / "gbk.toml").write_bytes("[groups]\n# 组\n".encode("gbk"))
    with pytest.raises(Misconfigured, match=r"gbk\.toml"):
        load_configuration(str(tmp_path / "gbk.toml"))

"""`plumbline doctor` against the simulator: sound as it is, and each thing taken away is named."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.domain import Platform
from agent.errors import Misconfigured
from handlers.cli import doctor, main
from handlers.cli.workspace import demo_settings
from handlers.doctor.probe import Finding
from handlers.doctor.redaction import Redactor
from handlers.doctor.slack import SCOPES
from handlers.settings import Settings
from tests.fakes.clock import CountingIds, NoTimers
from tests.fakes.simulator_process import RunningSimulator

pytestmark = pytest.mark.slow

CHATS: dict[Platform, str] = {"feishu": "oc_demo_p2p_alice", "slack": "D0ALICE001"}
PEOPLE: dict[Platform, str] = {"feishu": "u-demo-alice", "slack": "xoxp-demo-alice"}
PLATFORMS: tuple[Platform, ...] = ("feishu", "slack")
FEISHU_NEEDED = {
    "im:message:send_as_bot": "send",
    "im:message:readonly": "read message",
    "im:message.reactions:write_only": "reaction",
    "cardkit:card:write": "card create",
}
SLACK_NEEDED = {scope: f"scope {scope}" for scope, needed in SCOPES.items() if needed}


class Patience(NoTimers):
    """A clock whose pauses pass on the simulator, so that nobody waits."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self._simulator = simulator

    def now(self) -> float:
        return float(self._simulator.get("clock")["now"])

    def monotonic(self) -> float:
        return self.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.to_thread(self._simulator.advance, seconds)


@pytest.fixture
def settings(simulator: RunningSimulator) -> Settings:
    return demo_settings(Settings(), simulator.origin)


async def examine(
    simulator: RunningSimulator,
    settings: Settings,
    platform: Platform,
    chat: str | None = None,
    save: Path | None = None,
) -> dict[str, Finding]:
    wanted = doctor.Examination(
        platform, CHATS[platform] if chat is None else chat, save, PEOPLE[platform]
    )
    found = await doctor.examine_platform(settings, wanted, Patience(simulator), CountingIds("u"))
    assert len({one.probe for one in found}) == len(found)
    return {one.probe: one for one in found}


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_the_demo_workspace_is_sound(
    simulator: RunningSimulator, settings: Settings, platform: Platform
) -> None:
    chat = CHATS[platform]
    simulator.say(platform, "alice", chat, "my own words")
    found = await examine(simulator, settings, platform)
    assert [one for one in found.values() if one.verdict != "pass"] == []
    assert len(found) > 30
    left = [m for m in simulator.messages(platform, "alice", chat) if not m["deleted"]]
    assert [m["text"] for m in left if not m["visible_to"]] == ["my own words"]


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_without_a_chat_nothing_is_written(
    simulator: RunningSimulator, settings: Settings, platform: Platform
) -> None:
    found = await examine(simulator, settings, platform, chat="")
    assert {one.verdict for one in found.values()} == {"pass", "skipped"}
    assert "--chat" in found["send" if platform == "feishu" else "post"].sentence
    assert simulator.messages(platform, "alice", CHATS[platform]) == []


@pytest.mark.parametrize(
    ("platform", "chat"),
    [("slack", "C0DEMO0001"), ("slack", "U0ALICE001"), ("feishu", "ou_demo_alice")],
)
async def test_a_channel_or_a_person_does_as_well(
    simulator: RunningSimulator, settings: Settings, platform: Platform, chat: str
) -> None:
    simulator.say(platform, "alice", CHATS[platform], "my own words")
    found = await examine(simulator, settings, platform, chat=chat)
    assert {one.verdict for one in found.values()} == {"pass"}


@pytest.mark.parametrize(
    ("platform", "scope", "probe"),
    [("feishu", scope, probe) for scope, probe in FEISHU_NEEDED.items()]
    + [("slack", scope, probe) for scope, probe in SLACK_NEEDED.items()],
)
async def test_a_needed_scope_that_is_gone_is_named(
    simulator: RunningSimulator, settings: Settings, platform: Platform, scope: str, probe: str
) -> None:
    simulator.post("faults", {"kind": "missing_scope", "platform": platform, "scope": scope})
    seen_in_calls = platform == "feishu" or scope.endswith(":write")
    chat = CHATS[platform] if seen_in_calls else ""
    found = await examine(simulator, settings, platform, chat=chat)
    assert found[probe].verdict == "fail"
    assert scope in found[probe].sentence
    assert scope in found[probe].next_step
    assert not doctor.healthy(list(found.values()))
    assert scope in doctor.report(platform, list(found.values()))


@pytest.mark.parametrize(
    ("scope", "probe"),
    [
        ("contact:user.base:readonly", "names"),
        ("im:message.group_msg", "history"),
        ("search:message", "message search"),
        ("search:docs:read", "docs search"),
        ("docx:document:readonly", "document text"),
        ("docs:document.content:read", "document markdown"),
        ("docs:permission.member:auth", "document rights"),
        ("drive:drive.metadata:readonly", "document metas"),
        ("wiki:node:read", "wiki node"),
        ("minutes:minutes.search:read", "minutes search"),
        ("minutes:minutes.artifacts:read", "minutes artifacts"),
        ("minutes:minutes.transcript:export", "minutes transcript"),
    ],
)
async def test_a_scope_of_a_connector_is_named_but_not_needed(
    simulator: RunningSimulator, settings: Settings, scope: str, probe: str
) -> None:
    simulator.post("faults", {"kind": "missing_scope", "scope": scope})
    chat = "ou_demo_alice" if probe in ("names", "history") else ""
    wanted = doctor.Examination("feishu", chat, None, PEOPLE["feishu"])
    found = await doctor.examine_platform(settings, wanted, Patience(simulator))
    failed = [(one.probe, scope in one.next_step) for one in found if one.verdict == "fail"]
    assert failed == [(probe, True)]
    assert doctor.healthy(found)


@pytest.mark.parametrize("scope", sorted(s for s, needed in SCOPES.items() if not needed))
async def test_a_scope_of_slack_that_is_good_to_have_is_named(
    simulator: RunningSimulator, settings: Settings, scope: str
) -> None:
    simulator.post("faults", {"kind": "missing_scope", "scope": scope})
    found = await examine(simulator, settings, "slack", chat="")
    assert scope in found[f"scope {scope}"].next_step
    assert doctor.healthy(list(found.values()))


async def test_a_wrong_secret_and_a_wrong_token_are_told(
    simulator: RunningSimulator, settings: Settings
) -> None:
    wrong = replace(settings, feishu_app_secret="x", slack_bot_token="xoxb-x")
    lark = await examine(simulator, wrong, "feishu")
    assert "PLUMBLINE_FEISHU_APP_SECRET" in lark["tenant token"].next_step
    assert lark["bot info"].verdict == "skipped"
    slack = await examine(simulator, wrong, "slack")
    assert "xoxb-" in slack["bot token"].next_step


@pytest.mark.parametrize(
    ("platform", "fault", "probe"),
    [
        ("feishu", {"kind": "html", "path": "*/bot/v3/info"}, "bot info"),
        ("slack", {"kind": "html", "path": "/api/chat.update"}, "edit"),
        ("feishu", {"kind": "drop", "path": "*/cardkit/v1/cards"}, "card create"),
        ("slack", {"kind": "status", "path": "/api/reactions.add"}, "reaction"),
        ("feishu", {"kind": "bad_json", "path": "*/bot/v3/info"}, "bot info"),
    ],
)
async def test_other_troubles_fail_with_a_next_step(
    simulator: RunningSimulator,
    settings: Settings,
    platform: Platform,
    fault: dict[str, str],
    probe: str,
) -> None:
    simulator.post("faults", fault)
    found = (await examine(simulator, settings, platform))[probe]
    assert (found.verdict, bool(found.next_step)) == ("fail", True)


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_samples_hold_nobody(
    simulator: RunningSimulator, settings: Settings, platform: Platform, tmp_path: Path
) -> None:
    question = "what is the secret of the robot arm"
    simulator.say(platform, "alice", CHATS[platform], question)
    await examine(simulator, settings, platform, save=tmp_path)
    files = sorted((tmp_path / platform).glob("*.json"))
    assert len(files) > 15
    kept = "\n".join(file.read_text() for file in files)
    secrets = [settings.feishu_app_secret, settings.slack_bot_token, settings.slack_app_token]
    people = ["ou_demo_alice", "U0ALICE001", "Alice", "T0DEMO0001", "tenant_demo", "ou_demo_bot"]
    for gone in (*secrets, *people, CHATS[platform], PEOPLE[platform], "robot arm", "测试"):
        assert gone not in kept, gone
    assert '"status": 200' in kept
    assert json.loads(files[0].read_text())["request"]["method"] == "POST"


def test_redaction_keeps_shapes_and_makes_equal_ids_equal() -> None:
    hide = Redactor("key")
    value: Any = {
        "chat_id": "oc_0123456789",
        "again": ["oc_0123456789", "Hello Alice", ""],
        "n": 3,
        "ok": True,
        "type": "message",
        "token": "abc",
        "msg": "no such chat oc_0123456789",
        "error": "missing_scope",
        "U0ALICE001": None,
    }
    shown: Any = hide.value(value)
    hashed = shown["chat_id"]
    assert hashed.startswith("oc_#")
    assert shown["again"] == [hashed, "[text of 11 characters]", ""]
    assert (shown["n"], shown["ok"], shown["type"]) == (3, True, "message")
    assert (shown["token"], shown["error"]) == ("[removed]", "missing_scope")
    assert shown["msg"] == f"no such chat {hashed}"
    assert "U0ALICE001" not in shown
    assert Redactor("other").value("oc_0123456789") != hashed


class TestTheCommand:
    def run(self, monkeypatch: pytest.MonkeyPatch, settings: Settings, *words: str) -> Any:
        for name in ("feishu_app_id", "feishu_app_secret", "feishu_base_url", "slack_bot_token"):
            monkeypatch.setenv(f"PLUMBLINE_{name.upper()}", str(getattr(settings, name)))
        monkeypatch.setenv("PLUMBLINE_SLACK_BASE_URL", settings.slack_base_url)
        monkeypatch.setenv("PLUMBLINE_SLACK_APP_TOKEN", settings.slack_app_token)
        return CliRunner().invoke(main.app, ["doctor", *words])

    def test_both_platforms_and_the_exit_status(
        self, simulator: RunningSimulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sound = self.run(monkeypatch, settings)
        assert (sound.exit_code, "0 failed" in sound.output) == (0, True)
        assert "FEISHU 7" in sound.output
        assert "SLACK 6" in sound.output
        simulator.post("faults", {"kind": "missing_scope", "scope": "im:history"})
        broken = self.run(monkeypatch, settings, "--platform", "slack")
        assert (broken.exit_code, "add im:history" in broken.output) == (1, True)

    def test_nothing_set_up_is_told(self) -> None:
        with pytest.raises(Misconfigured, match="docs/connect"):
            doctor.platforms(Settings(), "all")

    def test_chat_and_token_belong_to_their_platform(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text(" xoxp-demo-alice\n")
        token = doctor.read_token(file)
        lark = doctor.examination("feishu", "C0DEMO0001", None, token)
        assert doctor.examination("feishu", "a@example.com", None, "").chat == "a@example.com"
        assert doctor.examination("slack", "a@example.com", None, "").chat == ""
        slack = doctor.examination("slack", "C0DEMO0001", None, token)
        assert (lark.chat, lark.person) == ("", "")
        assert (slack.chat, slack.person) == ("C0DEMO0001", "xoxp-demo-alice")
        with pytest.raises(Misconfigured, match="can not be read"):
            doctor.read_token(tmp_path / "none")

    def test_a_chat_that_is_no_address_is_told(self) -> None:
        doctor.check_chat("", ["feishu"])
        doctor.check_chat("U0DEMO0001", ["feishu", "slack"])
        with pytest.raises(Misconfigured, match="a mail address"):
            doctor.check_chat("nonsense", ["feishu"])

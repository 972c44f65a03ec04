"""The scopes and events an operator is told to set are those that the code uses."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from connectors.feishu import events as feishu_events
from connectors.feishu.api import FeishuApi
from connectors.slack import events as slack_events
from connectors.slack.api import SlackApi
from handlers.doctor.slack import SCOPES
from simulator.faults.scopes import scope_of
from simulator.slack.side import BOT_SCOPES
from tests.fakes.clock import FakeClock

DOCS = Path(__file__).parents[2] / "docs"
LEGACY = {"assistant_thread_started", "assistant_thread_context_changed"}
FEISHU_EVENT_SCOPES = {
    "im:message.p2p_msg:readonly",
    "im:message.group_at_msg:readonly",
    "im:message.reactions:read",
    "im:chat.members:bot_access",
}
"""What receiving the events needs: no call shows it."""
FEISHU_BY_CHOICE = {"im:message.group_msg"}
"""It brings every message of a group, so an operator adds it on purpose."""
SLACK_EVENT_SCOPES = {"app_mentions:read", "im:history", "reactions:read", "commands"}
SLACK_PRIVATE_CHANNELS = {"groups:read"}
"""Their ids begin like those of public ones, so no call shows it."""
SLACK_SEARCH = {"search:read.public"}
"""For searches with an event's action_token, which the tools of own sources make (SLACK.md 6)."""
SLACK_SOON = {"files:read", "users:read"}
"""What is asked for now so that nobody has to install again for the next release."""


class Calls:
    """A transport that notes each call and is content with it."""

    def __init__(self) -> None:
        self.made: set[tuple[str, str]] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.made.add((request.method, request.url.path))
        body = {"ok": True, "code": 0, "tenant_access_token": "t", "expire": 7200}
        return httpx.Response(200, json=body)

    def client(self, base_url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=base_url, transport=httpx.MockTransport(self))


def _argument(parameter: inspect.Parameter) -> Any:
    wanted = str(parameter.annotation)
    if "Body" in wanted or "Mapping" in wanted or "dict" in wanted:
        return {}
    if "int" in wanted or "float" in wanted:
        return 1
    return False if "bool" in wanted else "x"


async def _use(api: Any) -> None:
    """Call every public method once."""
    for name, method in inspect.getmembers(api, inspect.iscoroutinefunction):
        if name.startswith("_") or name == "close":
            continue
        parameters = inspect.signature(method).parameters.values()
        given = {p.name: _argument(p) for p in parameters if p.default is inspect.Parameter.empty}
        await method(**given)
    await api.close()


async def _slack_scopes() -> set[str]:
    calls = Calls()
    client = calls.client("http://slack.test/api/")
    await _use(SlackApi("xoxb-x", "http://slack.test/api/", FakeClock(), client))
    channels = ("C1", "D1", "G1")
    found = {scope_of("slack", method, path, c) for method, path in calls.made for c in channels}
    return found - {""}


async def _feishu_scopes() -> set[str]:
    calls = Calls()
    client = calls.client("http://lark.test")
    await _use(FeishuApi("a", "b", "http://lark.test", FakeClock(), client=client))
    return {scope_of("feishu", method, path) for method, path in calls.made} - {""}


def _kinds(module: Any) -> set[str]:
    """The event types that a module's table of readers names."""
    table = inspect.getsource(module).partition("_OTHERS: Mapping")[2]
    return set(re.findall(r'^    "([a-z0-9_.]+)":', table, re.MULTILINE))


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    return yaml.safe_load((DOCS / "slack-manifest.yaml").read_text("utf-8"))


async def test_slack_scopes(manifest: dict[str, Any]) -> None:
    asked = manifest["oauth_config"]["scopes"]["bot"]
    unseen = SLACK_EVENT_SCOPES | SLACK_PRIVATE_CHANNELS | SLACK_SEARCH | SLACK_SOON
    assert set(asked) == await _slack_scopes() | unseen
    assert asked == sorted(asked)
    assert set(asked) == set(SCOPES)
    guide = (DOCS / "connect-slack.md").read_text("utf-8")
    assert [scope for scope in asked if f"`{scope}`" not in guide] == []


def test_the_simulated_workspace_grants_what_the_manifest_asks_for(
    manifest: dict[str, Any],
) -> None:
    assert {*manifest["oauth_config"]["scopes"]["bot"]} <= {*BOT_SCOPES.split(",")}


def test_slack_events(manifest: dict[str, Any]) -> None:
    asked = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    understood = _kinds(slack_events)
    assert understood > LEGACY
    assert asked == (understood - LEGACY) | {"app_mention", "message.im"}
    guide = (DOCS / "connect-slack.md").read_text("utf-8")
    assert [event for event in asked | LEGACY if f"`{event}`" not in guide] == []


def test_slack_socket_mode_command_and_buttons(manifest: dict[str, Any]) -> None:
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert [one["command"] for one in manifest["features"]["slash_commands"]] == ["/plumb"]


async def test_feishu_scopes() -> None:
    asked = json.loads((DOCS / "feishu-scopes.json").read_text("utf-8"))["scopes"]["tenant"]
    used = await _feishu_scopes()
    assert set(asked) == (used - FEISHU_BY_CHOICE) | FEISHU_EVENT_SCOPES
    assert asked == sorted(asked)
    guide = (DOCS / "connect-feishu.md").read_text("utf-8")
    told = {*asked, *FEISHU_BY_CHOICE}
    assert [scope for scope in told if f"`{scope}`" not in guide] == []


def test_feishu_scopes_of_people() -> None:
    from connectors.feishu.oauth import OFFLINE
    from connectors.feishu.personal import SCOPES as PERSONAL

    asked = json.loads((DOCS / "feishu-scopes.json").read_text("utf-8"))["scopes"]["user"]
    assert set(asked) == {scope for scopes in PERSONAL.values() for scope in scopes} | {OFFLINE}
    assert asked == sorted(asked)
    guide = (DOCS / "connect-feishu.md").read_text("utf-8").split("## Scopes of people")[1]
    assert [scope for scope in asked if f"`{scope}`" not in guide.split("\n## ")[0]] == []


def test_feishu_events() -> None:
    guide = (DOCS / "connect-feishu.md").read_text("utf-8")
    understood = _kinds(feishu_events) | {"im.message.receive_v1"}
    assert "card.action.trigger" in understood
    assert [event for event in understood if f"`{event}`" not in guide] == []
    told = set(re.findall(r"`([a-z]+\.[a-z0-9_.]+_v\d|app_uninstalled)`", guide))
    assert told == understood - {"card.action.trigger"}


@pytest.mark.parametrize("name", ["connect-slack.md", "connect-feishu.md"])
def test_the_settings_a_guide_names_exist(name: str) -> None:
    from dataclasses import fields

    from handlers.settings import Settings, variable_of

    known = {variable_of(field.name) for field in fields(Settings)}
    guide = (DOCS / name).read_text("utf-8")
    named = set(re.findall(r"PLUMBLINE_[A-Z_]+[A-Z]", guide))
    assert named
    assert named <= known

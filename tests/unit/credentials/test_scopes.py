"""What a sign-in asks for is what the pages for operators tell them to switch on."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.domain import Platform
from agent.stores.system_clock import SystemClock
from connectors.slack.install import BOT_SCOPES
from connectors.tools import asked_scopes
from handlers import personal
from handlers.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("platform", ["feishu", "slack"])
def test_the_page_names_every_scope_that_is_asked_for(platform: Platform) -> None:
    scopes = personal.connector(Settings(), platform, SystemClock()).scopes()
    assert set(scopes) == set(personal.KINDS)
    page = (DOCS / f"connect-{platform}.md").read_text(encoding="utf-8")
    asked = asked_scopes(scopes, personal.KINDS)
    assert len(asked) > 5
    assert [scope for scope in sorted(asked) if f"`{scope}`" not in page] == []


def test_an_installation_asks_for_what_the_manifest_asks_for() -> None:
    manifest = (DOCS / "slack-manifest.yaml").read_text(encoding="utf-8")
    scopes_of = manifest.partition("    bot:\n")[2].partition("settings:")[0]
    bot, _, user = scopes_of.partition("    user:")
    assert sorted(BOT_SCOPES) == _listed(bot)
    scopes = personal.connector(Settings(), "slack", SystemClock()).scopes()
    assert sorted(asked_scopes(scopes, personal.KINDS)) == _listed(user)


def _listed(block: str) -> list[str]:
    lines = block.splitlines()
    return sorted(line.strip(" -") for line in lines if line.startswith("      - "))


def test_nothing_is_offered_until_the_sign_in_is_set_up() -> None:
    ready = Settings(
        feishu_app_id="cli_x",
        feishu_app_secret="x",
        public_url="https://bot.example",
        personal_sources="minutes, docs",
    )
    assert personal.offered(ready, "feishu") == ("docs", "minutes")
    assert personal.offered(ready, "slack") == ()
    assert personal.offered(Settings(feishu_app_id="a", feishu_app_secret="b"), "feishu") == ()

"""Signing in with Feishu's device page: no browser ever reaches the bot."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from connectors import holdings
from handlers import personal
from handlers.settings import Settings
from tests.fakes.connector import WhoConnector
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stage import Stage, Theatre, staged
from tests.scenario.test_signin_chat import ASK, owner, plays, token_item, told


@pytest.fixture
async def bot(
    house: Theatre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    def connector(settings: Settings, platform: object, clock: object) -> WhoConnector:
        return WhoConnector("feishu", house.origin)

    monkeypatch.setattr(personal, "connector", connector)
    state = tmp_path / "state"
    async with staged(house, "feishu", state, ScriptedModel(plays), device=True) as opened:
        yield opened


async def page(bot: Stage) -> str:
    """The address behind the newest button."""
    offered = json.dumps(await told(bot, "alice", "come back here and ask again"))
    return re.findall(r'(http[^"\\ ]+\?device=[0-9a-f]+)', offered)[-1]


async def visit(address: str, **query: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as browser:
        said = "&".join(f"{name}={value}" for name, value in query.items())
        assert (await browser.get(f"{address}&{said}")).status_code == 200


async def test_the_next_question_finds_the_sign_in(bot: Stage) -> None:
    await bot.ask(ASK)
    first = await page(bot)
    assert "Not searched" in (await bot.ask(ASK)).shown  # nobody has agreed yet
    assert await page(bot) == first  # an earlier button goes on working
    await visit(first, **{"as": "alice"})
    answer = await bot.ask(ASK)
    assert "ou_demo_alice was told: the launch is on 12 May" in answer.shown
    found = await bot.place.table.query_index("own", owner(bot).principal, limit=1000)
    assert not [key for key in found if key.pk.startswith("O#")]
    await bot.ask("logout")
    assert await token_item(bot) is None


async def test_another_persons_consent_is_refused_and_ended(bot: Stage) -> None:
    await bot.ask(ASK)
    await visit(await page(bot), **{"as": "bob"})
    assert "Not searched" in (await bot.ask(ASK)).shown
    assert await token_item(bot) is None
    assert await token_item(bot, "bob") is None
    assert [call for call in await bot.calls() if "revoke" in call["path"]]


async def test_declining_and_a_platform_that_is_away_store_nothing(bot: Stage) -> None:
    await bot.ask(ASK)
    address = await page(bot)
    await bot.post("faults", {"kind": "status", "path": "*/oauth/token", "count": 1})
    assert "Not searched" in (await bot.ask(ASK)).shown
    await visit(address, no="1")
    assert "Not searched" in (await bot.ask(ASK)).shown
    assert await holdings.consent(bot.place.table, owner(bot)) is None

"""Installing the Slack app: on the operator's list only, once, by the same browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.domain import ChatRef, Identity
from agent.durable import keys
from agent.errors import Misconfigured
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import RandomIds, SystemClock
from connectors.slack.install import BOT_SCOPES, Bridge, VaultStates
from connectors.slack.installations import Installations
from handlers import local, wiring
from handlers.cli.workspace import demo_settings
from handlers.settings import Settings
from tests.fakes.clock import FakeClock
from tests.fakes.stage import Theatre, until

APP, TEAM = "A0DEMO0001", "T0DEMO0001"


class Installer:
    """An administrator at a browser."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.table = wiring.receiving(settings).table
        cipher = LocalKeyCipher(Path(settings.state) / "key")
        self.stored = Installations(self.table, cipher, SystemClock(), settings.org)
        self.http = httpx.AsyncClient(trust_env=False)

    async def start(self) -> tuple[httpx.Response, str]:
        """The answer of our page and the cookie it sets."""
        answer = await self.http.get(f"{self.settings.public_url}/oauth/slack/install")
        return answer, answer.headers.get("set-cookie", "").partition(";")[0]

    async def agreed(self, address: str) -> str:
        """Agree at Slack; the address of the way back."""
        agreed = await self.http.get(f"{address}&as=dana")
        return agreed.headers["location"]

    async def back(self, address: str, cookie: str) -> httpx.Response:
        return await self.http.get(address, headers={"cookie": cookie})


@pytest.fixture
async def installer(house: Theatre, tmp_path: Path) -> AsyncIterator[Installer]:
    async for one in opened(house, tmp_path, TEAM):
        yield one


async def opened(house: Theatre, folder: Path, teams: str, **more: str) -> AsyncIterator[Installer]:
    bot = f"http://127.0.0.1:{house.port}"
    settings = demo_settings(Settings(home=str(house.home)), house.origin, bot)
    changes = {f"slack_{name}": value for name, value in more.items()}
    settings = replace(settings, state=str(folder / "state"), slack_install_teams=teams)
    settings = replace(settings, **changes)  # pyright: ignore[reportArgumentType] - all are texts
    async with local.serving(settings, house.port, workplace=wiring.Workplace(settings)):
        one = Installer(settings)
        yield one
        await one.http.aclose()
    stores: Any = wiring.receiving(settings)
    assert isinstance(stores.table, SqliteTable)
    await stores.table.aclose()
    await stores.queue.aclose()


async def test_a_workspace_on_the_list_gets_its_bot_and_belongs_to_us(
    installer: Installer, house: Theatre
) -> None:
    started, cookie = await installer.start()
    assert started.status_code == 302
    assert set(httpx.URL(started.headers["location"]).params["scope"].split(",")) == {*BOT_SCOPES}
    way_back = await installer.agreed(started.headers["location"])
    page = await installer.back(way_back, cookie)
    assert page.status_code == 200, page.text
    assert "Installed" in page.text
    assert await installer.stored.find(APP, TEAM) == ("xoxb-demo-bot", "U0DEMOBOT")
    assert await installer.stored.organisation(APP, TEAM) == installer.settings.org
    item = await installer.table.get(keys.app_token("slack", APP, TEAM))
    assert b"xoxb" not in repr(item).encode()
    again = await installer.back(way_back, cookie)
    assert again.status_code == 403
    await installer.http.post(f"{house.origin}/sim/uninstall", json={"platform": "slack"})

    async def gone() -> bool:
        return await installer.stored.find(APP, TEAM) is None

    await until(gone, "the installation to be gone")
    assert await installer.stored.organisation(APP, TEAM) == ""


async def test_the_bot_answers_where_it_was_installed(house: Theatre, tmp_path: Path) -> None:
    """Without any token in the settings: the installation's own is used, and only there."""
    async for installer in opened(house, tmp_path, TEAM, bot_token=""):
        started, cookie = await installer.start()
        await installer.back(await installer.agreed(started.headers["location"]), cookie)
        place = wiring.Workplace(installer.settings)
        here = Identity(installer.settings.org, "slack", APP, TEAM, "U0ALICE001")
        there = await place.of(here)
        assert await there.of(here) is there
        assert await place.of(replace(here, tenant="T0OTHER")) is place
        chat = ChatRef("D0ALICE001", "direct", "")
        assert await there.chat("slack").announce(chat.chat, "Hello there", "key")
        with pytest.raises(Misconfigured):
            place.chat("slack")
        await place.aclose()


async def test_another_browser_can_not_finish_it(installer: Installer) -> None:
    started, _ = await installer.start()
    page = await installer.back(await installer.agreed(started.headers["location"]), "x=y")
    assert page.status_code == 403
    assert await installer.stored.find(APP, TEAM) is None


async def test_a_foreign_workspace_gets_nothing_and_its_token_ends(
    house: Theatre, tmp_path: Path
) -> None:
    async for installer in opened(house, tmp_path, "T0ANOTHER"):
        started, cookie = await installer.start()
        page = await installer.back(await installer.agreed(started.headers["location"]), cookie)
        assert page.status_code == 403
        assert "PLUMBLINE_SLACK_INSTALL_TEAMS" in page.text
        assert await installer.stored.find(APP, TEAM) is None
        calls = (await installer.http.get(f"{house.origin}/sim/calls")).json()
        assert "/api/auth.revoke" in [call["path"] for call in calls]


async def test_a_state_is_good_once_and_for_ten_minutes(installer: Installer) -> None:
    bridge = Bridge(asyncio.get_running_loop())
    clock = FakeClock()
    states = VaultStates(installer.table, clock, RandomIds(), "hengxing", bridge)
    first, second = [await asyncio.to_thread(states.issue) for _ in range(2)]
    assert await asyncio.to_thread(states.consume, first)
    assert not await asyncio.to_thread(states.consume, first)
    assert not await asyncio.to_thread(states.consume, "made up")
    clock.advance(601)
    assert not await asyncio.to_thread(states.consume, second)


async def test_without_a_list_nobody_installs(house: Theatre, tmp_path: Path) -> None:
    async for installer in opened(house, tmp_path, ""):
        started, _ = await installer.start()
        assert started.status_code == 404
        back = f"{installer.settings.public_url}/oauth/slack/installed?code=x&state=y"
        assert (await installer.back(back, "x=y")).status_code == 404

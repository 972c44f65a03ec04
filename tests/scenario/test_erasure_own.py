"""Erasing a person who connected own sources, was answered alone in a group and shared that."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handlers.cli.main import app
from tests.fakes import browser
from tests.fakes.stage import until
from tests.scenario.conftest import SLACK_LATER, Open
from tests.scenario.test_audience_chat import CONFIRM, SHARE, alone, recorded
from tests.scenario.test_buttons_answer import press_label
from tests.scenario.test_erasure_chat import ALICES, BOBS, IDS, found
from tests.scenario.test_signin_own_sources import button

OWN = "Which credit do customers get for the broker outage?"


@SLACK_LATER
async def test_tokens_private_answers_and_shares_go_too(
    stage: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(connectable=True) as bot:
        user = IDS[bot.platform]
        for login in ("alice", "bob"):
            await bot.ask(OWN, login)
            assert (await browser.connect(await button(bot, login), login)).is_success
        reply = await bot.ask(OWN, "alice", bot.group, mention=True)
        assert [c for c in reply.answer.citations if c.source.private]
        await press_label(bot, await alone(bot, "5 %", "alice"), SHARE, "alice")
        await press_label(bot, await alone(bot, "If you confirm", "alice"), CONFIRM, "alice")
        await until(lambda: recorded(bot, reply), "the share to be noted")
        await bot.ask(f"hotel limit in {ALICES[0]}?", "alice")
        await bot.ask(f"hotel limit in {BOBS}?", "bob")
        owner = str((await bot.turn(reply.said.turn))["own_pk"])
        rows = await bot.place.table.query_index("own", owner, limit=1000)
        kept = {part for key in rows for part in re.split("[#-]", key.sk)}
        assert {"TOK", "shared"} <= kept, kept
    state = tmp_path / "state"
    assert found(state) == {ALICES[0], BOBS}
    monkeypatch.setenv("PLUMBLINE_HOME", str(state))
    done = await asyncio.to_thread(CliRunner().invoke, app, ["forget", user, "--yes"])
    assert done.exit_code == 0, done.output
    assert found(state) == {BOBS}
    files = [file for file in state.rglob("*") if file.is_file()]
    assert not [file.name for file in files if user.encode() in file.read_bytes()]

"""Erasing a person after a real conversation: whatever the bot itself wrote, in a thread of two."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handlers.cli.main import app
from tests.fakes.lives import opened
from tests.scenario.conftest import SLACK_LATER, Open

IDS = {"feishu": "ou_demo_alice", "slack": "U0ALICE001"}
ALICES = [f"alicecanary{n}" for n in range(3)]
BOBS = "bobcanary0"


def found(folder: Path) -> set[str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    text = opened(b"".join(file.read_bytes() for file in files)).decode(errors="replace")
    return {word for word in [*ALICES, BOBS] if word in text}


@SLACK_LATER
async def test_nothing_is_left_of_a_person_after_a_conversation(
    stage: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage() as bot:
        first = await bot.ask(f"hotel limit in {ALICES[0]}?", "alice", bot.group, mention=True)
        thread = {"mention": True, "thread": first.said.message}
        await bot.ask(f"and in {BOBS}?", "bob", bot.group, **thread)
        await bot.ask(f"and in {ALICES[1]}?", "alice", bot.group, **thread)
        await bot.ask(f"and in Berlin, {BOBS}?", "bob", bot.group, **thread)
        await bot.ask(f"hotel limit in {ALICES[2]}?", "alice")
        user = IDS[bot.platform]
    state = tmp_path / "state"
    assert found(state) == {*ALICES, BOBS}
    monkeypatch.setenv("PLUMBLINE_HOME", str(state))
    done = await asyncio.to_thread(CliRunner().invoke, app, ["forget", user, "--yes"])
    assert done.exit_code == 0, done.output
    assert found(state) == {BOBS}
    text = b"".join(file.read_bytes() for file in state.rglob("*") if file.is_file())
    assert user.encode() not in text

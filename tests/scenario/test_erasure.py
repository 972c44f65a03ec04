"""`plumbline forget`: nothing of the person is left in any file, and all of everybody else's."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from agent.durable import snapshot
from agent.durable.records import Kind
from agent.errors import ConditionFailed, Unavailable
from agent.ports import Condition, Key
from agent.stores.sqlite_table import SqliteTable
from connectors.holdings import Grant
from handlers import personal
from handlers.cli.main import app
from handlers.erasure import Erasure
from tests.fakes.lives import ALICE, BOB, Lives, canary, kinds

ELSEWHERE = {"app_token", "workspace", "marker", "listening"}
"""Kinds that belong to no person, are gone with their turn, or are only signed, as a pause is."""
MINE = "canary-U1-"


@pytest.fixture
async def lives(tmp_path: Path) -> Lives:
    lives = Lives(tmp_path)
    await lives.live()
    return lives


async def erased(lives: Lives) -> Counter[str]:
    removed = await Erasure(lives.table, lives.blobs, lives.clock).forget(ALICE.principal)
    await lives.table.compact()
    return removed


async def test_the_scene_has_every_kind_of_item(lives: Lives) -> None:
    """Whoever adds a kind has to say here what erasing a person means for it."""
    assert kinds(lives.folder / "table.sqlite") >= set(get_args(Kind)) - ELSEWHERE
    plain = {"question", "posted", "visible", "handle", "opinion", "quoted", "object", "key"}
    assert {canary(ALICE, what) for what in plain} <= lives.found()
    await lives.table.aclose()


async def test_nothing_of_the_person_is_in_any_file(lives: Lives) -> None:
    copied = {canary(BOB, what) for what in ("quoted", "quoted-by-id")}  # into Alice's questions
    notes = {canary(BOB, what) for what in ("query", "found", "said", "visible")}
    others = {word for word in lives.found() if not word.startswith(MINE)} - copied - notes
    removed = await erased(lives)
    assert await lives.boxes(ALICE.principal) == 0
    assert {word for word in lives.found() if word.startswith(MINE)} == set()
    assert lives.found() == others, "another person's data stay"
    assert removed["turn"] == 2
    assert (removed["exchange"], removed["quotation"], removed["object"]) == (2, 4, 2)
    assert (removed["chat"], removed["signature"]) == (1, 1)
    await lives.table.aclose()
    text = b"".join(f.read_bytes() for f in lives.folder.rglob("*") if f.is_file())
    assert ALICE.principal.encode() not in text
    assert ALICE.name.encode() not in text


async def test_the_thread_of_both_still_knows_the_others_words(lives: Lives) -> None:
    own = await lives.table.query_index("own", BOB.principal)
    session = next(key.pk.removeprefix("S#") for key in own if key.sk.startswith("T#"))
    before = await snapshot.load(lives.table, session)
    await erased(lives)
    after = await snapshot.load(lives.table, session)
    assert after.exchanges == tuple(e for e in before.exchanges if e.asker == BOB.principal)
    assert after.version == before.version + 1, "a turn that read it before may not save"
    await lives.table.aclose()


async def test_erasing_again_finds_nothing(lives: Lives) -> None:
    await erased(lives)
    assert await erased(lives) == Counter()
    await lives.table.aclose()


@pytest.mark.parametrize("after", [1, 3, 8, 15, 25])
async def test_a_run_that_broke_off_is_completed_by_the_next(
    lives: Lives, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    whole = lives.table.delete_if
    count = 0

    async def cut(key: Key, when: tuple[Condition, ...] = ()) -> None:
        nonlocal count
        count += 1
        if count > after:
            raise Unavailable("the plug was pulled")
        await whole(key, when)

    with monkeypatch.context() as patch:
        patch.setattr(lives.table, "delete_if", cut)
        with pytest.raises(Unavailable):
            await erased(lives)
    await erased(lives)
    assert {word for word in lives.found() if word.startswith(MINE)} == set()
    await lives.table.aclose()


async def test_a_turn_that_runs_meanwhile_brings_nothing_back(lives: Lives) -> None:
    record, lease = await lives.begin(ALICE, "1764547300.000100")
    await erased(lives)
    await lives.steps(record, ALICE)
    with pytest.raises(ConditionFailed):
        await lives.end(record, lease, ALICE)
    await erased(lives)
    assert {word for word in lives.found() if word.startswith(MINE)} == set()
    await lives.table.aclose()


async def test_a_bot_that_runs_has_the_file_open(lives: Lives) -> None:
    bot = SqliteTable(lives.folder / "table.sqlite")
    assert await bot.query_index("own", ALICE.principal)
    await erased(lives)
    assert {word for word in lives.found() if word.startswith(MINE)} == set()
    assert await bot.query_index("own", ALICE.principal) == ()
    await bot.aclose()
    await lives.table.aclose()


class Authority:
    """Takes tokens back, unless the line is down."""

    def __init__(self, *, down: bool = False) -> None:
        self.down = down
        self.revoked: list[str] = []

    async def revoke(self, grant: Grant) -> None:
        if self.down:
            raise Unavailable("the line is down")
        self.revoked.append(grant.access)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(("down", "word"), [(False, "revoked"), (True, "deleted")])
def test_tokens_are_taken_back_at_the_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, down: bool, word: str
) -> None:
    lives = Lives(tmp_path)
    asyncio.run(lived(lives))
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    authority = authorised(monkeypatch, Authority(down=down))
    done = CliRunner().invoke(app, ["forget", ALICE.principal, "--yes", "--json"])
    assert json.loads(done.stdout)[ALICE.principal][f"tokens {word}"] == 1
    assert authority.revoked == ([] if down else [canary(ALICE, "token")])
    assert {found for found in lives.found() if found.startswith(MINE)} == set()


def authorised(monkeypatch: pytest.MonkeyPatch, authority: Authority) -> Authority:
    def opened(*_: object) -> Authority:
        return authority

    monkeypatch.setattr(personal, "authority", opened)
    return authority


async def lived(lives: Lives) -> None:
    await lives.live()
    await lives.table.aclose()


def test_the_command_erases_by_the_platforms_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives = Lives(tmp_path)
    asyncio.run(lived(lives))
    authorised(monkeypatch, Authority())
    monkeypatch.setenv("PLUMBLINE_HOME", str(lives.folder))
    run = CliRunner()
    assert run.invoke(app, ["forget", "U1"], input="n\n").exit_code == 1
    other = run.invoke(app, ["forget", "U1", "--platform", "feishu", "--yes"])
    assert "Nothing is kept of U1" in other.output
    done = run.invoke(app, ["forget", "U1", "--yes", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[ALICE.principal]["turn"] == 2
    assert {word for word in lives.found() if word.startswith(MINE)} == set()
    assert "Nothing is kept of U1" in run.invoke(app, ["forget", "U1", "--yes"]).output
    assert canary(BOB, "question") in lives.found()

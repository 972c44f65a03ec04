"""The SQLite table under eight processes at once, and its file's own promises."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import Misconfigured, Unavailable
from agent.ports import Absent, Key, Put
from agent.stores.limits import BadItem
from agent.stores.sqlite_file import SqliteFile
from agent.stores.sqlite_table import SqliteTable

ROOT = Path(__file__).parents[2]
PROCESSES = 8
ROUNDS = 30
COUNTS = 25
CONTENDER = """
import asyncio, json, sys
from pathlib import Path
from agent.errors import ConditionFailed
from agent.ports import Absent, Change, Compare, Key
from agent.stores.limits import BadItem
from agent.stores.sqlite_file import SqliteFile
from agent.stores.sqlite_table import SqliteTable

async def main(path, rounds, counts):
    table = SqliteTable(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    won = []
    for n in range(rounds):
        try:
            await table.put_if({"pk": "ROUND", "sk": f"{n}"}, (Absent(),))
        except ConditionFailed:
            continue
        won.append(n)
    done = 0
    while done < counts:
        version = (await table.get(Key("C", "C")))["version"]
        change = Change(set={"version": version + 1})
        try:
            await table.update_if(Key("C", "C"), change, (Compare("version", "=", version),))
        except ConditionFailed:
            continue
        done += 1
    print(json.dumps(won))
    await table.aclose()

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


def contend(path: Path) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", CONTENDER, str(path), str(ROUNDS), str(COUNTS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]


async def test_of_eight_processes_one_wins_each_round_and_no_count_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "table.db"
    contenders = contend(path)
    for contender in contenders:
        assert contender.stdout is not None
        assert contender.stdout.readline() == "ready\n"
    table = SqliteTable(path)
    await table.put({"pk": "C", "sk": "C", "version": 0})
    for contender in contenders:
        assert contender.stdin is not None
        contender.stdin.write("go\n")
        contender.stdin.flush()
    won: list[int] = []
    for contender in contenders:
        out, _ = await asyncio.to_thread(contender.communicate)
        assert contender.returncode == 0
        won += json.loads(out)
    assert sorted(won) == list(range(ROUNDS))
    assert (await table.get(Key("C", "C")) or {})["version"] == PROCESSES * COUNTS
    await table.aclose()


async def test_the_loop_goes_on_while_another_process_holds_the_file(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "table.db")
    await table.put({"pk": "a", "sk": "a"})
    other = sqlite3.connect(tmp_path / "table.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    write = asyncio.create_task(table.put({"pk": "a", "sk": "b"}))
    for _ in range(10):
        await asyncio.sleep(0.005)
    assert not write.done()
    other.execute("COMMIT")
    other.close()
    await write
    assert await table.get(Key("a", "b")) is not None
    await table.aclose()


async def test_opening_waits_while_another_process_makes_the_file(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "table.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    table = SqliteTable(tmp_path / "table.db")
    write = asyncio.create_task(table.put({"pk": "a", "sk": "a"}))
    await asyncio.sleep(0.1)
    assert not write.done()
    other.execute("COMMIT")
    other.close()
    await write
    await table.aclose()


async def test_work_that_fails_half_way_is_undone(tmp_path: Path) -> None:
    file = SqliteFile(tmp_path / "a.db", "CREATE TABLE t (n INTEGER)", 1)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1)")
        raise BadItem("half way")

    with pytest.raises(BadItem):
        await file.write(half)
    assert await file.read(lambda c: c.execute("SELECT count(*) FROM t").fetchone()) == (0,)
    await file.aclose()


async def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    first = SqliteTable(tmp_path / "table.db")
    await first.transact((Put({"pk": "a", "sk": "a", "raw": b"\x00"}, (Absent(),)),))
    await first.aclose()
    second = SqliteTable(tmp_path / "table.db")
    assert await second.get(Key("a", "a")) == {"pk": "a", "sk": "a", "raw": b"\x00"}
    await second.aclose()


async def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    newer = sqlite3.connect(tmp_path / "table.db")
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    table = SqliteTable(tmp_path / "table.db")
    with pytest.raises(Misconfigured, match="format 2"):
        await table.get(Key("a", "a"))
    await table.aclose()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.db").write_text("no database " * 100)
    table = SqliteTable(tmp_path / "table.db")
    with pytest.raises(Misconfigured, match="damaged"):
        await table.get(Key("a", "a"))
    await table.aclose()


async def test_a_path_that_can_not_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "table.db").mkdir()
    table = SqliteTable(tmp_path / "table.db")
    with pytest.raises(Unavailable):
        await table.get(Key("a", "a"))
    await table.aclose()

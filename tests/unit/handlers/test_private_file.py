"""What a store writes can be read by its owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.ports import Item
from agent.stores.private_file import private_file
from agent.stores.sqlite_table import SqliteTable


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


async def test_a_table_and_its_side_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "table.sqlite"
    table = SqliteTable(path)
    item: Item = {"pk": "a", "sk": "b", "text": "words"}
    await table.put(item)
    modes = {f.name: f.stat().st_mode & 0o077 for f in path.parent.iterdir()}
    await table.aclose()
    assert "table.sqlite-wal" in modes
    assert set(modes.values()) == {0}
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_exists_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("words")
    private_file(path)
    assert path.read_text() == "words"

"""What the Secrets adapter promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import Misconfigured
from agent.stores.file_secrets import FileSecrets
from agent.stores.limits import BadItem


def keep(folder: Path, name: str, data: bytes, mode: int = 0o600) -> None:
    (folder / name).write_bytes(data)
    (folder / name).chmod(mode)


async def test_a_secret_is_its_files_text_without_the_closing_line_break(tmp_path: Path) -> None:
    keep(tmp_path, "demo-key", " 密钥 \n".encode())
    assert await FileSecrets(tmp_path).get("demo-key") == " 密钥 "


async def test_what_is_absent_is_none(tmp_path: Path) -> None:
    assert await FileSecrets(tmp_path / "none").get("demo") is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
async def test_a_secret_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    keep(tmp_path, "demo", b"x", mode)
    with pytest.raises(Misconfigured, match="chmod 600"):
        await FileSecrets(tmp_path).get("demo")


async def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, "demo", b"\xff")
    with pytest.raises(Misconfigured, match="can not be read"):
        await FileSecrets(tmp_path).get("demo")


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a\0", "x" * 129])
async def test_a_name_that_could_leave_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadItem):
        await FileSecrets(tmp_path).get(name)

"""What every Blobs adapter promises. A new adapter adds one branch to the fixture `blobs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import Unavailable
from agent.ports import Blobs
from agent.stores.folder_blobs import FolderBlobs
from agent.stores.limits import BadItem
from agent.stores.memory import MemoryBlobs


@pytest.fixture(params=["memory", "folder"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return MemoryBlobs() if request.param == "memory" else FolderBlobs(tmp_path / "blobs")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_an_object_comes_back_byte_for_byte_and_can_be_replaced(blobs: Blobs) -> None:
    await blobs.put("kb/hengxing/raw/差旅/doc.pdf", b"\x00\xff", "application/pdf")
    assert await blobs.get("kb/hengxing/raw/差旅/doc.pdf") == b"\x00\xff"
    await blobs.put("kb/hengxing/raw/差旅/doc.pdf", b"")
    assert await blobs.get("kb/hengxing/raw/差旅/doc.pdf") == b""


async def test_what_is_absent_is_none_and_can_be_deleted(blobs: Blobs) -> None:
    assert await blobs.get("kb/none") is None
    await blobs.delete("kb/none")
    await blobs.put("kb/a", b"1")
    await blobs.delete("kb/a")
    assert await blobs.get("kb/a") is None
    assert await blobs.get("kb/a/b") is None
    await blobs.put("kb/b", b"1")
    assert await blobs.get("kb") is None
    await blobs.delete("kb/b/c")


@pytest.mark.parametrize(
    "key",
    ["", "/etc/x", "a//b", "a/", "../x", "a/../../x", "a/./b", "..", "a\0b", "a\\b", "x" * 1025],
)
async def test_a_key_that_could_leave_the_folder_is_refused(blobs: Blobs, key: str) -> None:
    with pytest.raises(BadItem):
        await blobs.put(key, b"x")
    with pytest.raises(BadItem):
        await blobs.get(key)
    with pytest.raises(BadItem):
        await blobs.delete(key)
    with pytest.raises(BadItem):
        await blobs.presign(key, 60)


async def test_presign_names_the_object(blobs: Blobs) -> None:
    await blobs.put("kb/a b", b"1")
    assert (await blobs.presign("kb/a b", 60)).endswith("kb/a%20b")


async def test_the_folder_holds_whole_files_only(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put("kb/a", b"1")
    await blobs.put("kb/a", b"2")
    assert names(tmp_path / "kb") == ["a"]
    assert await blobs.presign("kb/a", 60) == (tmp_path / "kb" / "a").resolve().as_uri()


async def test_a_key_that_begins_like_another_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    await blobs.put("kb/a", b"1")
    with pytest.raises(BadItem):
        await blobs.put("kb/a/b", b"2")
    with pytest.raises(BadItem):
        await blobs.put("kb", b"2")
    await blobs.delete("kb")
    assert await blobs.get("kb/a") == b"1"
    assert names(tmp_path) == ["kb"]


async def test_a_folder_that_can_not_be_used_is_unavailable(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    blobs = FolderBlobs(loop)
    with pytest.raises(Unavailable):
        await blobs.get("a/b")
    with pytest.raises(Unavailable):
        await blobs.delete("a/b")
    with pytest.raises(Unavailable):
        await blobs.put("b" * 200 + "/" + "c" * 240, b"x")

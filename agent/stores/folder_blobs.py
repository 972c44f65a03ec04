"""Blobs in a folder: the bucket of a single machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from agent.errors import Unavailable
from agent.stores.limits import BadItem, check_blob_key


class FolderBlobs:
    """Blobs below `root`, one file each, written whole or not at all.

    Other than in a bucket, a key can not also be the beginning of another one (`a` and `a/b`).
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, data: bytes, media_type: str = "") -> None:
        """Keep the object, replacing what was there. The media type is not kept.

        Raises:
            BadItem: the key is no relative path of plain names, or meets another one.
            Unavailable: the disk is full or not writable.
        """
        await asyncio.to_thread(_write, self._path(key), data)

    async def get(self, key: str) -> bytes | None:
        """The object, None when there is none."""
        return await asyncio.to_thread(_read, self._path(key))

    async def delete(self, key: str) -> None:
        """Remove the object; removing what is absent succeeds."""
        await asyncio.to_thread(_remove, self._path(key))

    async def delete_below(self, prefix: str) -> int:
        """Remove all objects in a folder (a key that ends with a slash); how many there were."""
        folder = self._path(prefix.removesuffix("/"))
        return await asyncio.to_thread(_remove_below, folder)

    async def presign(self, key: str, seconds: int) -> str:
        """The file's URI: whoever can read the folder can read it, for as long as it is there."""
        return self._path(key).resolve().as_uri()

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*check_blob_key(key))


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:  # whatever it is goes on; half a file does not stay
            part.unlink(missing_ok=True)
            raise
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise BadItem(f"{path.name} meets a key that begins the same way") from error
    except OSError as error:
        raise Unavailable(f"{path.name} can not be written: {error.strerror}") from error


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(f"{path.name} can not be read: {error.strerror}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except (NotADirectoryError, IsADirectoryError):
        return
    except OSError as error:
        raise Unavailable(f"{path.name} can not be removed: {error.strerror}") from error


def _remove_below(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    count = sum(path.is_file() for path in folder.rglob("*"))
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise Unavailable(f"{folder.name} can not be removed: {error.strerror}") from error
    return count

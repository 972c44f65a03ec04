"""Bytes of files and pictures, under the key their platform gave them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file; owner is a login or "bot", chats the chats it was shared in."""

    key: str
    name: str
    media_type: str
    data: bytes
    owner: str
    created: float


class FileStore:
    """Files by key."""

    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}

    def put(self, file: StoredFile) -> StoredFile:
        """Keep a file."""
        self._files[file.key] = file
        return file

    def all(self) -> list[StoredFile]:
        """Return all files, in the order they came."""
        return list(self._files.values())

    def clear(self) -> None:
        """Forget all files."""
        self._files.clear()

    def get(self, key: str) -> StoredFile | None:
        """Return a file, or None for an unknown key."""
        return self._files.get(key)

"""Secrets as files in a folder, one secret each."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from agent.errors import Misconfigured
from agent.stores.limits import BadItem

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class FileSecrets:
    """Secrets below `folder`: the file's name is the secret's, its text the value.

    A closing line break is no part of it. A file that others may read is refused.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, name: str) -> str | None:
        """The secret's text, None when there is no such file.

        Raises:
            BadItem: the name is not letters, digits, `.`, `_` and `-`.
            Misconfigured: others may read the file, or it is no UTF-8 text.
        """
        if not _NAME.fullmatch(name):
            raise BadItem("a secret's name is letters, digits, dot, dash and underscore")
        return await asyncio.to_thread(_read, self._folder / name)


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_mode & 0o077:
            raise Misconfigured(f"others may read the secret {path.name}: chmod 600 its file")
        return path.read_text("utf-8").removesuffix("\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"the secret {path.name} can not be read: check its file") from error

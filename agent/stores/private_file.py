"""Makes a store's file readable for its owner alone, before anything is written into it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def private_file(path: Path) -> None:
    """Make the file with mode 0600 and missing folders with 0700; what exists stays as it is.

    SQLite gives its side files the mode of the main file. A file that can not be made is left to
    whoever opens it next, and to the sentence that says why.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))

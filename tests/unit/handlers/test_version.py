"""The version that `status` tells is the package's own."""

from __future__ import annotations

import tomllib
from pathlib import Path

from handlers.version import VERSION


def test_the_version_is_that_of_the_package() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["version"] == VERSION

"""Reads the policy prompt that ships with the code."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def policy() -> str:
    """The main policy (agent/prompts/AGENTS.md): the system text of every real model."""
    return files("agent").joinpath("prompts", "AGENTS.md").read_text(encoding="utf-8")


def prompt_version() -> str:
    """Twelve hex digits that change with the policy's text; stored with what it produced."""
    return hashlib.sha256(policy().encode()).hexdigest()[:12]

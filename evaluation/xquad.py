"""Reads the XQuAD set: parallel zh and en questions with the paragraph each belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agent.domain import Language

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "datasets" / "xquad-en-zh"
"""Beside the repository; the set is never copied into it."""


@dataclass(frozen=True, slots=True)
class Xquad:
    """One language of the set. `gold[i]` is the paragraph that question i belongs to.

    `article[p]` is the number of the article that paragraph p stands in, from 0.
    """

    language: Language
    paragraphs: tuple[str, ...]
    article: tuple[int, ...]
    questions: tuple[str, ...]
    gold: tuple[int, ...]


def present() -> bool:
    """Whether the set is on this machine."""
    return FOLDER.is_dir()


def read_xquad(language: Language) -> Xquad:
    """240 paragraphs and 1,190 questions, line for line the same in both languages."""
    stored = json.loads((FOLDER / f"xquad.{language}.json").read_text("utf-8"))
    articles = cast("list[dict[str, Any]]", stored["data"])
    paragraphs = [(n, p) for n, article in enumerate(articles) for p in article["paragraphs"]]
    asked = [(i, qa["question"]) for i, (_, p) in enumerate(paragraphs) for qa in p["qas"]]
    return Xquad(
        language,
        tuple(p["context"] for _, p in paragraphs),
        tuple(n for n, _ in paragraphs),
        tuple(question for _, question in asked),
        tuple(i for i, _ in asked),
    )

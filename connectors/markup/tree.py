"""The parsed tree of an answer: what a person may see, with every address left out.

A link or image that the model wrote keeps its words only. The one thing that can become a live
address is a `Citation`, and its address comes from the turn's source table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Words:
    """Plain words, without line breaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Styled:
    """Words with a weight: strong, emphasis or strike."""

    style: Literal["strong", "emphasis", "strike"]
    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class CodeWords:
    """Code inside a line."""

    text: str


_PERMISSION = re.compile(r"`([a-z0-9_]+(?::[a-z0-9_]+(?:\.[a-z0-9_]+)*)+)`")


def own_line(text: str) -> tuple[Words | CodeWords, ...]:
    """A line of our own as plain words; only names of permissions in backticks are code."""
    parts = _PERMISSION.split(text)
    return tuple(CodeWords(part) if n % 2 else Words(part) for n, part in enumerate(parts) if part)


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker as the model wrote it: source ids, known or not."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A resolved citation: its number and the address of its source ("" when it has none)."""

    n: int
    url: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break inside a block."""


Inline = Words | Styled | CodeWords | Marker | CitationMark | Break


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of words."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; levels are 1 to 6."""

    level: int
    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a list. `depth` starts at 0; `number` is None for a bullet."""

    depth: int
    number: int | None
    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted blocks."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code, line by line as it was written; `language` may be empty."""

    language: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table: the first row is the head, every row has the same number of cells."""

    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A dividing line."""


Block = Paragraph | Heading | ListItem | Quote | CodeBlock | TableBlock | Rule

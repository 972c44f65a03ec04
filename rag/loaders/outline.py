"""Sections from a run of headings and blocks, and headings recognised by their numbering alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.documents import Block, Section
from rag.text import clean_text

_CHAPTER = re.compile(r"^第[0-9一二三四五六七八九十百零]+([编章节条])[\s　、.:：]?")
_COUNTED = re.compile(r"^[一二三四五六七八九十]{1,3}、")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,4})[.、]?\s+\S")
_LONGEST_HEADING = 60
_SENTENCE_END = tuple("。；;，,.!?！？")


class Outline:
    """Collects headings and blocks in reading order; `sections` gives them with their paths."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []
        self._blocks: list[Block] = []
        self._sections: list[Section] = []

    def heading(self, level: int, text: str) -> None:
        """Open a section; it ends every open one of the same or a deeper level."""
        name = " ".join(clean_text(text).split())
        if not name:
            return
        self._close()
        self._path = [(depth, title) for depth, title in self._path if depth < level]
        self._path.append((level, name))

    def block(self, block: Block) -> None:
        """Add to the open section; blank blocks are left out."""
        text = clean_text(block.text).strip("\n")
        if text.strip():
            self._blocks.append(Block(text, block.kind))

    def text(self, text: str) -> None:
        """Add a paragraph of plain words."""
        self.block(Block(text))

    def sections(self) -> tuple[Section, ...]:
        """Everything so far. A heading without text of its own keeps its words as a section."""
        self._close(last=True)
        return tuple(self._sections)

    def _close(self, *, last: bool = False) -> None:
        path = tuple(title for _, title in self._path)
        if self._blocks:
            self._sections.append(Section(path, tuple(self._blocks)))
        elif last and path and not (self._sections and self._sections[-1].path == path):
            self._sections.append(Section(path, (Block(path[-1]),)))
        self._blocks = []


def numbered_heading(line: str) -> int | None:
    """The level of a heading that only its numbering shows (第三章, 4.2.1 Title), else None."""
    stripped = line.strip()
    if not stripped or len(stripped) > _LONGEST_HEADING or stripped.endswith(_SENTENCE_END):
        return None
    chapter = _CHAPTER.match(stripped)
    if chapter:
        return {"编": 1, "章": 1, "节": 2, "条": 3}[chapter.group(1)]
    if _COUNTED.match(stripped):
        return 2
    numbered = _NUMBERED.match(stripped)
    return 1 + numbered.group(1).count(".") if numbered else None


def plain_sections(text: str) -> tuple[Section, ...]:
    """Sections of text without markup: split at blank lines and at numbered headings."""
    outline = Outline()
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = paragraph.strip("\n").split("\n")
        while lines and (level := numbered_heading(lines[0])) is not None:
            if len(lines) > 1 and numbered_heading(lines[1]) == level:
                break  # a numbered list, not a row of headings
            outline.heading(level, lines.pop(0))
        outline.text("\n".join(lines))
    return outline.sections()


def table_block(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """A table as one line a row, `name: value; name: value`, so that a row needs no header above.

    Cells beyond the header have no name; empty cells are left out.
    """
    names = [_cell(name) for name in header]
    lines = (
        "; ".join(
            f"{names[i]}: {value}" if i < len(names) and names[i] else value
            for i, value in enumerate(map(_cell, row))
            if value
        )
        for row in rows
    )
    body = "\n".join(line for line in lines if line)
    return Block(body or "; ".join(filter(None, names)), "table")


def _cell(text: str) -> str:
    return " ".join(clean_text(text).split())

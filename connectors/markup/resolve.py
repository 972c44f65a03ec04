"""Citation markers given their numbers; markers of unknown sources taken away."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.domain import Source
from connectors.markup.tree import (
    Block,
    Break,
    CitationMark,
    CodeBlock,
    Heading,
    Inline,
    ListItem,
    Marker,
    Paragraph,
    Quote,
    Rule,
    Styled,
    TableBlock,
    Words,
)

_MARKS: Final = re.compile(r"[!-/:-@\[-`{-~]*")


class Numbering:
    """The numbers of one answer's sources, in order of first appearance.

    Args:
        sources: what the markers may mean, by source id.
    """

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self.numbers: dict[str, int] = {}

    @property
    def cited(self) -> tuple[Source, ...]:
        """The cited sources; the first has number 1."""
        return tuple(self._sources[i] for i in self.numbers)

    def block(self, block: Block) -> Block:
        """The block with its markers resolved."""
        match block:
            case Paragraph(parts):
                return Paragraph(self.inline(parts))
            case Heading(level, parts):
                return Heading(level, self.inline(parts))
            case ListItem(depth, number, parts):
                return ListItem(depth, number, self.inline(parts))
            case Quote(blocks):
                return Quote(tuple(self.block(b) for b in blocks))
            case TableBlock(rows):
                return TableBlock(tuple(tuple(self.inline(c) for c in row) for row in rows))
            case CodeBlock() | Rule():
                return block

    def inline(self, parts: Sequence[Inline]) -> tuple[Inline, ...]:
        """Words with numbers for markers.

        An unknown marker goes with the blank before it, unless that would join two words. Where a
        blank went, the marker stays as a border that shows nothing: what stood before it may
        already be on the screen and is not read together with what follows.
        """
        out: list[Inline] = []
        blank = ""
        for part in parts:
            if blank:
                if _keeps_blank(part):
                    _append(out, Words(blank))
                blank = ""
            match part:
                case Marker(ids):
                    marks = self._marks(ids)
                    out.extend(marks)
                    if not marks:
                        blank = _take_blank(out)
                        if blank:
                            out.append(part)
                case Styled(style, inner):
                    out.append(Styled(style, self.inline(inner)))
                case _:
                    _append(out, part)
        return tuple(out)

    def _marks(self, ids: Sequence[str]) -> list[CitationMark]:
        known = [i for i in ids if i in self._sources]
        return [
            CitationMark(self.numbers.setdefault(i, len(self.numbers) + 1), self._sources[i].url)
            for i in known
        ]


def _append(out: list[Inline], part: Inline) -> None:
    if out and isinstance(part, Words) and isinstance(last := out[-1], Words):
        out[-1] = Words(last.text + part.text)
    else:
        out.append(part)


def _take_blank(out: list[Inline]) -> str:
    """Take the blank at the end of the words so far; "" when there is none."""
    last = out[-1] if out else None
    if not isinstance(last, Words):
        return ""
    words = last.text.rstrip()
    out[-1] = Words(words)
    return last.text[len(words) :]


def _keeps_blank(part: Inline) -> bool:
    if isinstance(part, Words):
        marks = _MARKS.match(part.text)
        end = marks.end() if marks else 0
        return part.text[end : end + 1].isalnum()
    return not isinstance(part, Break | Marker)

"""Nodes written as a platform's text, from left to right, so that what is written stays.

`Dialect` says how one platform marks things; `Writer` keeps the rules that hold for all: bare
addresses become code, marks that would not be read as marks next to a letter get a space, blanks
wait until a word follows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, Protocol

from connectors.markup.tree import (
    Block,
    Break,
    CitationMark,
    CodeBlock,
    CodeWords,
    Heading,
    Inline,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Styled,
    TableBlock,
    Words,
)
from connectors.markup.words import spans, undecided_tail, visible

STYLES: Final = {"strong": "**", "emphasis": "*", "strike": "~~"}


class Dialect(Protocol):
    """How a platform marks things.

    `tight` says that a mark next to a letter is not read as one (Slack's mrkdwn), so that it
    needs a space on every side.
    """

    @property
    def tight(self) -> bool:
        """Whether marks need a space next to letters."""
        ...

    def style_mark(self, style: str) -> str:
        """The mark of a style."""
        ...

    def escape(self, text: str, *, line_start: bool) -> str:
        """Words that show as they are."""
        ...

    def code_words(self, text: str) -> str:
        """Code inside a line."""
        ...

    def address(self, text: str) -> str:
        """A bare address, which no client may link."""
        ...

    def citation(self, n: int, url: str) -> str:
        """A number, linked when `url` is not empty."""
        ...

    def heading(self, level: int, text: str) -> str:
        """A heading."""
        ...

    def item_mark(self, depth: int, number: int | None) -> str:
        """What stands before an item."""
        ...

    def rule(self) -> str:
        """A dividing line."""
        ...

    def fence(self, language: str) -> str:
        """The line that opens code."""
        ...

    def code_line(self, line: str) -> str:
        """A line of code."""
        ...

    def table(self, rows: Sequence[Sequence[str]]) -> str | None:
        """A table of cells already written; None when it has to be shown as aligned code."""
        ...


class Writer:
    """Writes blocks in one dialect. It holds no state between calls."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect: Final = dialect

    def block(self, block: Block) -> str:
        """A whole block, without blank lines around it; "" when nothing of it can be seen."""
        match block:
            case Quote(blocks):
                inner = self.blocks(blocks)
                return "\n".join(f"> {line}".rstrip() for line in inner.split("\n") if inner)
            case CodeBlock(language, lines):
                body = [self.dialect.code_line(line) for line in lines]
                return "\n".join((self.dialect.fence(language), *body, "```"))
            case TableBlock(rows):
                return self._table(rows)
            case Rule():
                return self.dialect.rule()
            case _:
                return self.text_block(block, closed=True)

    def blocks(self, blocks: Sequence[Block]) -> str:
        """Several blocks with the space between them."""
        out, before = "", None
        for block in blocks:
            if text := self.block(block):
                out += gap(before, block) + text
                before = block
        return out

    def text_block(self, block: Block, *, closed: bool) -> str:
        """A paragraph, list item or heading; an open one up to what is certain."""
        match block:
            case Heading(level, parts):
                text = self.inline(parts, line_start=False)
                return self.dialect.heading(level, text) if text else ""
            case ListItem(depth, number, parts):
                text = self.inline(parts, closed=closed)
                mark = self.dialect.item_mark(depth, number)
                indent = "\n" + " " * len(mark)
                return mark + text.replace("\n", indent) if text else ""
            case Paragraph(parts):
                return self.inline(parts, closed=closed)
            case _:
                return ""

    def inline(
        self, parts: Sequence[Inline], *, closed: bool = True, line_start: bool = True
    ) -> str:
        """Words with their marks; the last words of an open block wait for what follows."""
        run = _Run(self.dialect, line_start=line_start)
        parts = _flat(parts, self.dialect, frozenset())
        for n, part in enumerate(parts):
            run.add(part, last_of_open=not closed and n == len(parts) - 1)
        return run.text

    def _table(self, rows: Sequence[Sequence[Sequence[Inline]]]) -> str:
        written = [[self.inline(cell, line_start=False) for cell in row] for row in rows]
        table = self.dialect.table(written)
        if table is not None:
            return table
        plain = [[plain_words(cell) for cell in row] for row in rows]
        lines = [self.dialect.code_line(line) for line in aligned(plain)]
        return "\n".join((self.dialect.fence(""), *lines, "```"))


def gap(before: Block | None, block: Block) -> str:
    """What stands between two blocks: items of a list stay together."""
    if before is None:
        return ""
    return "\n" if isinstance(before, ListItem) and isinstance(block, ListItem) else "\n\n"


def plain_words(parts: Sequence[Inline]) -> str:
    """The words of a line without any marks, for places where marks are not read (code)."""
    out: list[str] = []
    for part in parts:
        match part:
            case Words(text) | CodeWords(text):
                out.append(visible(text))
            case Styled(_, inner):
                out.append(plain_words(inner))
            case CitationMark(n, _):
                out.append(f"[{n}]")
            case _:
                out.append(" ")
    return "".join(out).strip()


def _width(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) == "Mn" for c in text)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of equal columns; a wide character counts as two."""
    widths = [max(_width(row[n]) for row in rows) for n in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        padded = (c + " " * (w - _width(c)) for c, w in zip(row, widths, strict=True))
        return " | ".join(padded).rstrip()

    return [line(rows[0]), "-+-".join("-" * w for w in widths), *map(line, rows[1:])]


def _is_punctuation(c: str) -> bool:
    return unicodedata.category(c)[0] in "PS"


def _flat(parts: Sequence[Inline], dialect: Dialect, active: frozenset[str]) -> list[Inline]:
    """Parts without styles that would get no mark, so that their words are read as one."""
    out: list[Inline] = []
    for part in parts:
        pieces: Sequence[Inline] = (part,)
        if isinstance(part, Styled) and (
            part.style in active or not dialect.style_mark(part.style)
        ):
            pieces = _flat(part.parts, dialect, active)
        for piece in pieces:
            last = out[-1] if out else None
            if isinstance(piece, Words) and isinstance(last, Words):
                out[-1] = Words(last.text + piece.text)
            else:
                out.append(piece)
    return out


class _Run:
    """The words of one block while they are written."""

    def __init__(
        self, dialect: Dialect, *, line_start: bool, active: frozenset[str] = frozenset()
    ) -> None:
        self._dialect = dialect
        self._out: list[str] = []
        self._blank = ""
        self._line_start = line_start
        self._active = active
        self._shown = " "
        self._closed_style = ""

    @property
    def text(self) -> str:
        return "".join(self._out)

    def add(self, part: Inline, *, last_of_open: bool) -> None:
        match part:
            case Words(text):
                self._words(visible(text), open_end=last_of_open)
            case Styled(style, parts):
                self._styled(style, parts)
            case CodeWords(text):
                self._code(visible(text))
            case CitationMark(n, url):
                self._put(self._dialect.citation(n, url), shown="]")
            case Break():
                if self._out:
                    self._blank = "\n"
            case _:
                return

    def _put(self, text: str, *, shown: str, opener: bool = False) -> None:
        """Write a piece after the blanks that waited for it; `shown` is its last character."""
        if self._blank:
            self._out.append(self._blank)
            self._line_start = self._blank == "\n"
            self._shown = " "
        elif self._needs_space(text, opener=opener):
            self._out.append(" ")
        self._blank = ""
        self._out.append(text)
        self._shown = shown
        self._line_start = False
        self._closed_style = ""

    def _needs_space(self, text: str, *, opener: bool) -> bool:
        if not self._out:
            return False
        if text[0] == "`" and self._out[-1].endswith("`"):
            return True
        if self._closed_style:
            tight = self._dialect.tight or _is_punctuation(self._closed_style)
            return opener or (tight and text[0].isalnum())
        return False

    def _words(self, text: str, *, open_end: bool) -> None:
        if open_end:
            text = text[: undecided_tail(text)]
        for piece, address in spans(text, self._shown):
            if address:
                self._put(self._dialect.address(piece), shown="`")
            else:
                self._plain(piece)

    def _plain(self, text: str) -> None:
        words = text.strip()
        lead = text[: len(text) - len(text.lstrip())]
        if lead and self._out and not self._blank:
            self._blank = lead
        if not words:
            return
        at_start = (self._line_start and not self._out) or self._blank == "\n"
        self._put(self._dialect.escape(words, line_start=at_start), shown=words[-1])
        self._blank = text[len(lead) + len(words) :]

    def _code(self, text: str) -> None:
        if text.strip():
            self._put(self._dialect.code_words(text.strip()), shown="`")
        elif text and self._out and not self._blank:
            self._blank = " "  # what stands on its two sides must not join to an address

    def _styled(self, style: str, parts: Sequence[Inline]) -> None:
        mark = self._dialect.style_mark(style)
        active = self._active | {style}
        inner = _Run(self._dialect, line_start=False, active=active)
        for part in _flat(parts, self._dialect, active):
            inner.add(part, last_of_open=False)
        text = inner.text
        if not text:
            return
        if self._out and not self._blank and not self._closed_style:
            before = self._shown
            if (_is_punctuation(text[0]) or self._dialect.tight) and before.isalnum():
                self._blank = " "
        self._put(mark + text + mark, shown=inner._shown, opener=True)
        self._closed_style = text[-1]

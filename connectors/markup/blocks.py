"""Blocks cut from the lines of an answer as they come.

A block is handed on once, when nothing that follows can change it. The grammar is the part of
markdown that can be decided line by line: no setext headings, no reference definitions, no
indented code; a table needs a pipe at the start of its head row. Code goes on line by line; every
other block is handed on whole.
"""

from __future__ import annotations

from typing import Final, Protocol

from connectors.markup.inline import read_inline
from connectors.markup.lines import Line, begun_line, cells, closes_fence, is_delimiter, whole_line
from connectors.markup.tree import (
    Block,
    CodeBlock,
    Heading,
    Inline,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    TableBlock,
)

_DEEPEST_QUOTE: Final = 4


class Sink(Protocol):
    """Where blocks go. Code comes in three steps, all else in one."""

    def block(self, block: Block) -> None:
        """A whole block."""
        ...

    def code_begins(self, language: str) -> None:
        """A code block begins."""
        ...

    def code_line(self, line: str) -> None:
        """A whole line of code."""
        ...

    def code_ends(self) -> None:
        """The code block is closed."""
        ...


class BlockReader:
    """Reads an answer line by line and hands its blocks to a sink.

    Args:
        sink: receives the closed blocks in order.
        depth: how many quotes this text stands in.
    """

    def __init__(self, sink: Sink, depth: int = 0) -> None:
        self._sink = sink
        self._depth = depth
        self._fence: Line | None = None
        self._lines: list[str] = []
        self._kind = ""
        self._first: Line | None = None
        self._head: str | None = None
        self._indents: list[int] = []

    def line(self, text: str) -> None:
        """Take a whole line, without its newline."""
        if self._fence is not None:
            self._code(text, self._fence)
            return
        line = whole_line(text)
        if self._head is not None and self._after_head(line):
            return
        match line.kind:
            case "blank":
                self._close()
            case "fence":
                self._open_code(line)
            case "heading" | "rule":
                self._single(line)
            case "quote":
                self._quote(line)
            case "row":
                self._row(line)
            case "item" | "words":
                self._text(line)

    def end(self) -> None:
        """The text is over: hand on what is open."""
        if self._fence is not None:
            self._fence = None
            self._sink.code_ends()
        self._take_head_as_words()
        self._close()

    @property
    def open_length(self) -> int:
        """Characters of the open block's whole lines."""
        return sum(map(len, self._lines))

    def open_part(self, tail: str) -> Block | None:
        """The decided part of the open block, with the unfinished line `tail`; None for nothing."""
        if self._fence is not None or self._kind in ("quote", "table"):
            return None
        lines, first = self._lines, self._first
        begun = None if self._head is not None else begun_line(tail)
        if begun is not None:
            if self._goes_on(begun):
                lines = [*lines, _as_typed(begun)]
            elif not self._lines:
                lines, first = [begun.body], begun
            # A tail that opens the next block waits until the open one is handed on.
        return self._text_block(lines, first, closed=False) if lines and first else None

    # --- one method for each kind of line ------------------------------------------------------

    def _open_code(self, line: Line) -> None:
        self._close()
        self._fence = line
        self._sink.code_begins(line.body.split()[0] if line.body else "")

    def _single(self, line: Line) -> None:
        self._close()
        self._indents = []
        if line.kind == "rule":
            self._sink.block(Rule())
        else:
            self._sink.block(Heading(len(line.mark), read_inline(line.body, closed=True)))

    def _quote(self, line: Line) -> None:
        if self._kind != "quote":
            self._open("quote", line)
        self._lines.append(line.body)

    def _row(self, line: Line) -> None:
        if self._kind == "table":
            self._lines.append(line.body)
            return
        if self._kind == "quote":
            self._close()
        self._head = line.body

    def _text(self, line: Line) -> None:
        if self._goes_on(line):
            self._lines.append(_as_typed(line))
        else:
            self._open(line.kind, line)
            self._lines.append(line.body)

    # --- helpers of these ----------------------------------------------------------------------

    def _goes_on(self, line: Line) -> bool:
        """Whether the line belongs to the open paragraph or list item."""
        if self._kind not in ("words", "item"):
            return False
        if line.kind == "item":
            return self._kind == "words" and line.number is not None and line.number != 1
        return line.kind == "words"

    def _open(self, kind: str, line: Line) -> None:
        self._close()
        self._kind, self._first = kind, line
        if kind != "item" and not line.indent:
            self._indents = []

    def _close(self) -> None:
        lines, kind, first = self._lines, self._kind, self._first
        self._lines, self._kind, self._first = [], "", None
        if not lines or first is None:
            return
        if kind == "quote":
            self._sink.block(self._quoted(lines))
        elif kind == "table":
            self._sink.block(_table(lines))
        else:
            self._sink.block(self._text_block(lines, first, closed=True))
            if first.kind == "item":
                self._indents = [*self._outer(first), first.indent]

    def _outer(self, item: Line) -> list[int]:
        return [i for i in self._indents if i < item.indent]

    def _text_block(self, lines: list[str], first: Line, *, closed: bool) -> Block:
        parts: tuple[Inline, ...] = read_inline("\n".join(lines), closed)
        if first.kind == "item":
            return ListItem(min(len(self._outer(first)), 5), first.number, parts)
        return Paragraph(parts)

    def _quoted(self, lines: list[str]) -> Quote:
        collected = BlockList()
        if self._depth == _DEEPEST_QUOTE:
            lines = [line.lstrip("> \t") for line in lines]
        reader = BlockReader(collected, self._depth + 1)
        for line in lines:
            reader.line(line)
        reader.end()
        return Quote(tuple(collected.blocks))

    def _code(self, text: str, fence: Line) -> None:
        if closes_fence(text, fence.mark):
            self._fence = None
            self._sink.code_ends()
            return
        indent = len(text) - len(text.lstrip(" "))
        self._sink.code_line(text[min(indent, fence.indent) :])

    def _after_head(self, line: Line) -> bool:
        """Decide what a row that may head a table is; True when `line` was used up by it."""
        head = self._head
        if head is not None and line.kind == "row" and is_delimiter(line.body, len(cells(head))):
            self._open("table", Line("row", 0, head))
            self._lines = [head]
            self._head = None
            return True
        self._take_head_as_words()
        return False

    def _take_head_as_words(self) -> None:
        if self._head is not None:
            head, self._head = self._head, None
            self._text(Line("words", 0, head))


def _as_typed(line: Line) -> str:
    """The words of a line whose mark turned out to be no mark."""
    return line.mark + line.body if line.kind == "item" else line.body


def _table(lines: list[str]) -> TableBlock:
    rows = [cells(line) for line in lines]
    width = len(rows[0])
    return TableBlock(
        tuple(
            tuple(read_inline(cell, closed=True) for cell in (*row, *("",) * width)[:width])
            for row in rows
        )
    )


class BlockList:
    """A sink that keeps whole blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._language = ""
        self._code: list[str] = []

    def block(self, block: Block) -> None:
        """Keep a block."""
        self.blocks.append(block)

    def code_begins(self, language: str) -> None:
        """A code block begins."""
        self._language, self._code = language, []

    def code_line(self, line: str) -> None:
        """Keep a line of the code."""
        self._code.append(line)

    def code_ends(self) -> None:
        """The code block is whole."""
        self.blocks.append(CodeBlock(self._language, tuple(self._code)))


def read_blocks(text: str) -> tuple[Block, ...]:
    """Read a whole answer at once."""
    collected = BlockList()
    reader = BlockReader(collected)
    for line in text.split("\n"):
        reader.line(line)
    reader.end()
    return tuple(collected.blocks)

"""The incremental renderer: an answer's markdown so far in, a platform's text so far out.

Law: the render of any prefix is a prefix of the final render. Closed blocks are written once; of
the open block only what no later word can change is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent.domain import Source
from agent.markers import NO_ANSWER, without_refusal
from connectors.markup.blocks import BlockReader, read_blocks
from connectors.markup.resolve import Numbering
from connectors.markup.tree import Block, CodeBlock
from connectors.markup.writer import Writer, gap


class IncrementalRenderer:
    """Renders one growing answer.

    Args:
        writer: the platform's writer.
        sources: what the markers may mean, by source id; it must not change while the text grows.
    """

    def __init__(self, writer: Writer, sources: Mapping[str, Source]) -> None:
        self._writer = writer
        self._sources = sources
        self.parsed = 0
        """Characters read so far, an open block's every time: the law on cost counts these."""
        self._start_again()

    def _start_again(self) -> None:
        self.numbering = Numbering(self._sources)
        self._reader = BlockReader(self)
        self._text = ""
        self._at = 0
        self._done = ""
        self._before: Block | None = None

    def render(self, text_so_far: str, final: bool = False) -> str:
        """The platform's text for the markdown so far.

        A text that does not go on from the one before is rendered anew. After `final` the
        renderer begins anew with the next text.
        """
        text = _body(text_so_far, final)
        if not text.startswith(self._text):
            self._start_again()
        self._text = text
        while (end := text.find("\n", self._at)) >= 0:
            self._take(text[self._at : end])
            self._at = end + 1
        tail = text[self._at :]
        if final:
            self._take(tail)
            self._reader.end()
            done, self._text = self._done, "\0"
            return done
        part = self._reader.open_part(tail)
        if part is None:
            return self._done
        self.parsed += self._reader.open_length + len(tail)
        shown = self._writer.text_block(self.numbering.block(part), closed=False)
        return self._done + gap(self._before, part) + shown if shown else self._done

    def _take(self, line: str) -> None:
        self.parsed += len(line)
        self._reader.line(line)

    # --- the sink of the block reader ----------------------------------------------------------

    def block(self, block: Block) -> None:
        """A block is closed."""
        if text := self._writer.block(self.numbering.block(block)):
            self._done += gap(self._before, block) + text
            self._before = block

    def code_begins(self, language: str) -> None:
        """A code block begins."""
        block = CodeBlock(language, ())
        self._done += gap(self._before, block) + self._writer.dialect.fence(language)
        self._before = block

    def code_line(self, line: str) -> None:
        """A line of code is whole."""
        self._done += "\n" + self._writer.dialect.code_line(line)

    def code_ends(self) -> None:
        """The code block is closed."""
        self._done += "\n```"


def _body(text: str, final: bool) -> str:
    """The text without a refusal marker; "" while it may still become one."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = text[:64].lstrip()
    if not final and NO_ANSWER.startswith(start):
        return ""
    return without_refusal(text)


def document(text: str, sources: Mapping[str, Source]) -> tuple[tuple[Block, ...], Numbering]:
    """A whole answer as resolved blocks, and its numbering."""
    numbering = Numbering(sources)
    blocks = tuple(numbering.block(b) for b in read_blocks(_body(text, final=True)))
    return blocks, numbering

"""A long answer cut into messages at block boundaries; a block that is too long is halved."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from connectors.markup.tree import (
    Block,
    CodeBlock,
    CodeWords,
    Inline,
    ListItem,
    Paragraph,
    Quote,
    Styled,
    TableBlock,
    Words,
)

_ENDS: Final = re.compile(r"[。！？；]|[.!?;](?=\s)|\s")


def pages(
    blocks: Sequence[Block], written: Callable[[Sequence[Block]], int], limit: int
) -> tuple[tuple[Block, ...], ...]:
    """Pack blocks into pages; nothing is lost and the order is kept.

    Args:
        blocks: the resolved blocks of the answer.
        written: how large a run of blocks is once it is written, in the unit of `limit`.
        limit: the largest page.

    Returns:
        At least one page; a block that can not be cut any further may be larger than the limit.
    """
    out: list[list[Block]] = [[]]
    waiting = list(reversed(blocks))
    while waiting:
        block = waiting.pop()
        if written([*out[-1], block]) <= limit:
            out[-1].append(block)
        elif written([block]) > limit and (halves := _halves(block)):
            waiting.extend(reversed(halves))
        else:
            out.append([block])
    return tuple(tuple(page) for page in out if page) or ((),)


def split_exact(text: str, limit: int) -> list[str]:
    """Cut a text into pieces of at most `limit` characters that join to the very same text."""
    out: list[str] = []
    while len(text) > limit:
        at = max(text.rfind("\n", 0, limit), text.rfind(" ", 0, limit)) + 1
        at = at if at > limit // 2 else limit
        out.append(text[:at])
        text = text[at:]
    return [*out, text] if text else out


def _halves(block: Block) -> tuple[Block, ...]:
    """Two blocks of the same kind; () when the block can not be cut."""
    match block:
        case Paragraph(parts):
            return tuple(Paragraph(p) for p in _halve_inline(parts))
        case ListItem(depth, number, parts):
            cut = _halve_inline(parts)
            return (ListItem(depth, number, cut[0]), Paragraph(cut[1])) if cut else ()
        case CodeBlock(language, lines):
            return tuple(CodeBlock(language, part) for part in _halve_lines(lines))
        case TableBlock(rows) if len(rows) > 2:
            middle = (len(rows) + 1) // 2
            return (TableBlock(rows[:middle]), TableBlock((rows[0], *rows[middle:])))
        case Quote(blocks) if len(blocks) > 1:
            middle = len(blocks) // 2
            return (Quote(blocks[:middle]), Quote(blocks[middle:]))
        case Quote(blocks) if blocks:
            return tuple(Quote((half,)) for half in _halves(blocks[0]))
        case _:
            return ()


def _halve_lines(lines: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    if len(lines) > 1:
        return (lines[: len(lines) // 2], lines[len(lines) // 2 :])
    if lines and len(lines[0]) > 1:
        middle = len(lines[0]) // 2
        return ((lines[0][:middle],), (lines[0][middle:],))
    return ()


def _halve_inline(parts: tuple[Inline, ...]) -> tuple[tuple[Inline, ...], ...]:
    if len(parts) > 1:
        middle = len(parts) // 2
        return (parts[:middle], parts[middle:])
    match parts[0] if parts else None:
        case Words(text) if len(text) > 1:
            first, second = _halve_words(text)
            return ((Words(first),), (Words(second),))
        case CodeWords(text) if len(text) > 1:
            middle = len(text) // 2
            return ((CodeWords(text[:middle]),), (CodeWords(text[middle:]),))
        case Styled(style, inner):
            return tuple((Styled(style, half),) for half in _halve_inline(inner))
        case _:
            return ()


def _halve_words(text: str) -> tuple[str, str]:
    """Cut after the sentence or word that ends nearest behind the middle, else in the middle."""
    middle = len(text) // 2
    found = _ENDS.search(text, middle, len(text) - 1)
    at = found.end() if found else middle
    return text[:at], text[at:]

"""What one line of markdown opens, decided from as few of its characters as possible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["blank", "fence", "heading", "rule", "quote", "item", "row", "words"]

_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_RULE: Final = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*\Z")
_RULE_OPEN: Final = re.compile(r"([-*_])(?:[ \t]*\1)*[ \t]*\Z")
_ITEM: Final = re.compile(r"(?:[-*+]|(\d{1,9})[.)])[ \t]+(?=\S)")
_ITEM_OPEN: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)]?)[ \t]*\Z")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*\Z")
_FENCE_OPEN: Final = re.compile(r"(?:`{1,2}\Z|~{1,2}\Z|`{3,}[^`]*\Z|~{3,})")
_DELIMITER_CELL: Final = re.compile(r":?-+:?\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """A line and what it opens. `body` is what stands behind the block's own `mark`."""

    kind: Kind
    indent: int
    body: str
    mark: str = ""
    number: int | None = None


def _indent(line: str) -> int:
    return len((line[: len(line) - len(line.lstrip(" \t"))]).expandtabs(4))


def whole_line(line: str) -> Line:
    """Classify a line that has ended."""
    typed = line.lstrip(" \t")  # blanks at the end stay: a shown part was read with them
    words = typed.rstrip(" \t")
    indent = _indent(line)
    if not words:
        return Line("blank", indent, "")
    if fence := _FENCE.match(words):
        return Line("fence", indent, fence[2], mark=fence[1])
    if heading := _HEADING.match(words):
        return Line("heading", indent, heading[2] or "", mark=heading[1])
    if _RULE.match(words):
        return Line("rule", indent, "")
    if words[0] == ">":
        return Line("quote", indent, words[1:].removeprefix(" "))
    if words[0] == "|":
        return Line("row", indent, words)
    if item := _ITEM.match(words):
        number = int(item[1]) if item[1] else None
        return Line("item", indent, typed[item.end() :], item[0], number)
    return Line("words", indent, typed)


def begun_line(line: str) -> Line | None:
    """Classify a line that may still grow; None while its kind is open or not worth showing.

    Only list items and words are shown before their line ends, so only these are returned.
    """
    words = line.lstrip(" \t")
    if not words or words[0] in "#>|" or _RULE_OPEN.match(words) or _ITEM_OPEN.match(words):
        return None if not words or words[0] != "#" or not _is_words(words) else _words(line, words)
    if _FENCE_OPEN.match(words):
        return None
    if item := _ITEM.match(words):
        number = int(item[1]) if item[1] else None
        return Line("item", _indent(line), words[item.end() :], item[0], number)
    return _words(line, words)


def _is_words(words: str) -> bool:
    """Whether a line that starts with # can no longer be a heading (a hashtag, seven marks)."""
    marks = len(words) - len(words.lstrip("#"))
    return marks > 6 or (marks < len(words) and words[marks] not in " \t")


def _words(line: str, words: str) -> Line:
    return Line("words", _indent(line), words)


def closes_fence(line: str, mark: str) -> bool:
    """Whether a whole line ends the code block that `mark` opened."""
    words = line.strip(" \t")
    return len(words) >= len(mark) and not words.strip(mark[0])


def cells(row: str) -> tuple[str, ...]:
    """The cells of a table row; a pipe behind a backslash belongs to its cell."""
    inner = row.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner))


def is_delimiter(row: str, width: int) -> bool:
    """Whether a row is the line under a table head of so many cells."""
    parts = cells(row)
    return len(parts) == width and all(_DELIMITER_CELL.match(part) for part in parts)

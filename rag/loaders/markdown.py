"""Markdown with optional YAML front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.documents import Block, Reading
from rag.loaders.metadata import parse_properties
from rag.loaders.outline import Outline, table_block
from rag.loaders.plain_text import decode

_FRONT = re.compile(r"\A\s*---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


def load_markdown(data: bytes) -> Reading:
    """Sections by heading; text stays as it was typed, tables become `name: value` lines.

    A single heading of level 1 at the start is the title and not repeated in every path.

    Raises:
        DocumentRefused: the front matter is no YAML mapping.
    """
    text = decode(data)
    front = _FRONT.match(text)
    properties = parse_properties(front.group("yaml")) if front else {}
    body = text[front.end() :] if front else text
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    title = _title(tokens)
    outline = Outline()
    lines = body.split("\n")
    for index, token in enumerate(tokens):
        if token.level == 0 and not token.type.endswith("_close"):
            _take(outline, tokens, index, lines, title)
    return Reading(outline.sections(), title, properties)


def _take(
    outline: Outline, tokens: Sequence[Token], index: int, lines: Sequence[str], title: str
) -> None:
    token = tokens[index]
    if token.type == "heading_open":
        text = _plain(tokens[index + 1])
        if not (token.tag == "h1" and text == title):
            outline.heading(int(token.tag[1]), text)
    elif token.type == "table_open":
        outline.block(_table(tokens[index:]))
    elif token.map:
        raw = "\n".join(lines[token.map[0] : token.map[1]]).rstrip()
        outline.block(Block(raw, "code" if token.type in ("fence", "code_block") else "text"))


def _title(tokens: Sequence[Token]) -> str:
    top = [i for i, t in enumerate(tokens) if t.type == "heading_open" and t.tag == "h1"]
    return _plain(tokens[top[0] + 1]) if top == [0] else ""


def _plain(inline: Token) -> str:
    """The words of a heading or cell without its marks."""
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in inline.children or ()
    ).strip()


def _table(tokens: Sequence[Token]) -> Block:
    rows = list(_rows(tokens))
    return table_block(rows[0], rows[1:])


def _rows(tokens: Sequence[Token]) -> Iterator[list[str]]:
    row: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(_plain(token))
        elif token.type == "tr_close":
            yield row
        elif token.type == "table_close":
            return

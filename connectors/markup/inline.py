"""Words inside a block: cut into pieces whose meaning no later word can change, then parsed.

CommonMark decides emphasis and links only at the end of a block. A stream needs the decision
earlier, so a piece (code, link, emphasis, entity …) counts when it is closed within a window, and
everything else is literal; markdown-it reads each piece by itself. Because both the partial and
the whole answer are cut by these rules, what was decided once stays.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from agent.markers import CUT_OFF, MARKER, marker_ids
from connectors.markup.tree import Break, CodeWords, Inline, Marker, Styled, Words

WINDOW: Final = 1000
"""A piece that is not closed within so many characters is literal."""
_DEEPEST: Final = 8
_SPECIAL: Final = re.compile(r"[\\`*_~\[!<&]")
_INSIDE: Final = re.compile(r"[\\`*_~\[<]")
_BRACKET: Final = re.compile(r"[\\`\[\]]")
_TICKS: Final = re.compile(r"`+")
_LINK_TAIL: Final = re.compile(
    r"\(\s*(?:<[^<>\n]*>|[^\s()<]?[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"
    r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)"""
)
_AUTOLINK: Final = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>]*|[^\s<>@]+@[A-Za-z0-9.\-]+)>"
)
_AUTOLINK_OPEN: Final = re.compile(r"<[^\s<>]*\Z")
_ENTITY: Final = re.compile(r"&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});")
_ENTITY_OPEN: Final = re.compile(r"&[#A-Za-z0-9]{0,33}\Z")

Extent = int | None
"""Positive: a piece of that length. Negative: so many literal characters. None: undecided."""


def read_inline(text: str, closed: bool) -> tuple[Inline, ...]:
    """Parse the words of a block as far as they are decided.

    Args:
        text: the block's words; lines are joined by newlines, their indentation is gone.
        closed: whether the block ended. An open block stops before its first undecided piece.
    """
    parts: list[Inline] = []
    for piece, literal in _pieces(text, closed):
        for part in _lines(piece) if literal else _parsed(piece):
            _add(parts, part)
    return tuple(parts)


def _add(parts: list[Inline], part: Inline) -> None:
    last = parts[-1] if parts else None
    if isinstance(part, Words) and isinstance(last, Words):
        parts[-1] = Words(last.text + part.text)
    else:
        parts.append(part)


def _lines(text: str) -> Iterator[Inline]:
    for n, line in enumerate(text.split("\n")):
        if n:
            yield Break()
        if line:
            yield Words(line)


# --- cutting ---------------------------------------------------------------------------------


def _pieces(text: str, closed: bool) -> Iterator[tuple[str, bool]]:
    """Yield (piece, literal) up to the first undecided one."""
    at = 0
    while found := _SPECIAL.search(text, at):
        start = found.start()
        if start > at:
            yield text[at:start], True
        window = text[start : start + WINDOW]
        full = closed or len(text) >= start + WINDOW
        extent = _extent(window, full, text[start - 1] if start else " ")
        if extent is None:
            return
        at = start + abs(extent)
        yield text[start:at], extent < 0
    if at < len(text):
        yield text[at:], True


def _extent(s: str, closed: bool, before: str) -> Extent:
    match s[0]:
        case "\\":
            return _escape(s, closed)
        case "`":
            return _code(s, closed)
        case "!":
            return _image(s, closed)
        case "[":
            return _brackets(s, closed)
        case "<":
            return _angle(s, closed)
        case "&":
            return _entity(s, closed)
        case _:
            return _emphasis(s, closed, before)


def _escape(s: str, closed: bool) -> Extent:
    if len(s) < 2:
        return -1 if closed else None
    return 2 if s[1] in string.punctuation or s[1] == "\n" else -1


def _code(s: str, closed: bool) -> Extent:
    opener = len(s) - len(s.lstrip("`"))
    for run in _TICKS.finditer(s, opener):
        if run.end() == len(s) and not closed:
            return None
        if run.end() - run.start() == opener:
            return run.end()
    return -opener if closed else None


def _image(s: str, closed: bool) -> Extent:
    if len(s) < 2:
        return -1 if closed else None
    if s[1] != "[":
        return -1
    extent = _brackets(s[1:], closed)
    if extent is None:
        return None
    is_marker = MARKER.match(s, 1) is not None
    return -1 if extent < 0 or is_marker else extent + 1


def _brackets(s: str, closed: bool) -> Extent:
    """A citation marker or a link; anything else in brackets is literal."""
    if marker := MARKER.match(s):
        return marker.end()
    if closed and CUT_OFF.match(s):
        return len(s)
    end = _closing_bracket(s, closed)
    if end is None or end < 0:
        return end
    if end == len(s):
        return -1 if closed else None
    if s[end] != "(":
        return -1
    if tail := _LINK_TAIL.match(s, end):
        return tail.end()
    return -1 if closed else None


def _closing_bracket(s: str, closed: bool) -> Extent:
    depth, at = 0, 0
    while found := _BRACKET.search(s, at):
        at = found.end()
        match found[0]:
            case "[":
                depth += 1
                if depth > _DEEPEST:
                    return -1
            case "]":
                depth -= 1
                if not depth:
                    return at
            case _:
                extent = _extent(s[found.start() :], closed, " ")
                if extent is None:
                    return None
                at = found.start() + abs(extent)
    return -1 if closed else None


def _angle(s: str, closed: bool) -> Extent:
    if found := _AUTOLINK.match(s):
        return found.end()
    return None if not closed and _AUTOLINK_OPEN.match(s) else -1


def _entity(s: str, closed: bool) -> Extent:
    if found := _ENTITY.match(s):
        return found.end()
    return None if not closed and _ENTITY_OPEN.match(s) else -1


def _run(s: str, at: int) -> int:
    """Where the run of one character that starts at `at` ends."""
    end = at + 1
    while end < len(s) and s[end] == s[at]:
        end += 1
    return end


def _emphasis(s: str, closed: bool, before: str) -> Extent:
    run = _run(s, 0)
    if run == len(s):
        return -run if closed else None
    if not _opens(s[0], run, before, s[run]):
        return -run
    stack: list[list[str | int]] = []
    at = 0
    while found := _INSIDE.search(s, at):
        start = found.start()
        if s[start] in "\\`[<":
            extent = _extent(s[start:], closed, " ")
            if extent is None:
                return None
            at = start + abs(extent)
            continue
        end = _run(s, start)
        if end == len(s) and not closed:
            return None
        at = _delimiter(s, start, end, before, stack)
        if not stack:
            return at
        if len(stack) > _DEEPEST:
            return -run
    return -run if closed else None


def _delimiter(s: str, start: int, end: int, before: str, stack: list[list[str | int]]) -> int:
    """Close or open emphasis with one run of marks; says how far the run was used up."""
    mark, count = s[start], end - start
    previous = s[start - 1] if start else before
    following = s[end] if end < len(s) else " "
    own = next((n for n in reversed(range(len(stack))) if stack[n][0] == mark), None)
    if own is not None and _closes(mark, count, previous, following):
        left = int(stack[own][1])
        used = min(count, left)
        del stack[own + 1 :]
        if used == left:
            stack.pop()
        else:
            stack[own][1] = left - used
        return start + used
    if _opens(mark, count, previous, following):
        stack.append([mark, count])
    return end


def _opens(mark: str, count: int, previous: str, following: str) -> bool:
    fits = count == 2 if mark == "~" else count <= 3
    return fits and not following.isspace() and not (mark == "_" and previous.isalnum())


def _closes(mark: str, count: int, previous: str, following: str) -> bool:
    fits = count == 2 if mark == "~" else True
    return fits and not previous.isspace() and not (mark == "_" and following.isalnum())


# --- parsing ---------------------------------------------------------------------------------

_STYLES: Final[dict[str, Literal["strong", "emphasis", "strike"]]] = {
    "strong_open": "strong",
    "em_open": "emphasis",
    "s_open": "strike",
}


def _citation_rule(state: StateInline, silent: bool) -> bool:
    found = MARKER.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = found[1]
    state.pos = found.end()
    return True


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    parser.enable("strikethrough").disable("html_inline")
    parser.inline.ruler.before("link", "citation", _citation_rule)
    return parser


def _parsed(piece: str) -> tuple[Inline, ...]:
    if CUT_OFF.match(piece):
        return (Marker(()),)
    tokens = _parser().parseInline(piece)[0].children or []
    return _tree(tokens)


def _tree(tokens: Sequence[Token]) -> tuple[Inline, ...]:
    open_parts: list[list[Inline]] = [[]]
    for token in tokens:
        if token.type in _STYLES:
            open_parts.append([])
        elif token.type.removesuffix("_close") + "_open" in _STYLES and token.nesting < 0:
            style = _STYLES[token.type.removesuffix("_close") + "_open"]
            done = Styled(style, tuple(open_parts.pop()))
            open_parts[-1].append(done)
        else:
            for part in _leaf(token):
                _add(open_parts[-1], part)
    return tuple(open_parts[0])


def _leaf(token: Token) -> Iterator[Inline]:
    match token.type:
        case "text":
            yield from _lines(token.content)
        case "code_inline":
            yield CodeWords(token.content.replace("\n", " "))
        case "softbreak" | "hardbreak":
            yield Break()
        case "citation":
            yield Marker(marker_ids(token.content))
        case "image":
            yield from _tree(token.children or [])
        case _:
            return  # the ends of a link: its words stand between them

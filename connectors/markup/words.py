"""Plain words made safe: nothing in them can become a link, and nothing hides in them.

Chat clients turn bare addresses into links by themselves. A bare address of the model is shown as
code, which neither platform links: it stays readable and can be copied, needs no invisible
characters, and reads naturally for file names, which look the same. A dot between words that only
some clients take for an address gets a space behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_HIDDEN: Final = frozenset(("Cf", "Cc", "Cs"))
_JOINER: Final = "\u200d"
_DOTS: Final = ".。．｡․﹒"
SCHEMES: Final = (
    "mailto|tel|sms|javascript|vbscript|data|file|lark|feishu|slack|magnet|callto|skype|facetime"
    "|intent|market|tg"
)
"""Names of addresses without slashes, as alternatives of a pattern."""
_HOST: Final = r"(?:[A-Za-z0-9_%+\-]{1,63}\.)+[A-Za-z][A-Za-z0-9\-]{0,61}[A-Za-z0-9]"
_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]{0,30}://[!-_a-~]*"
    rf"|(?<![A-Za-z])(?:{SCHEMES}):[!-_a-~]+"
    rf"|(?:[A-Za-z0-9_%+.\-]{{1,64}}[@:])?{_HOST}(?:[_:][A-Za-z0-9_:]+)?(?:[/?#][!-_a-~]*)?"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:[/?#][!-_a-~]*)?",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?)]}'\"*_~|>"
_ODD_DOT: Final = re.compile(f"[{_DOTS}]")


def visible(text: str) -> str:
    """The text without characters that are not seen (zero width, direction, tags, controls).

    A joiner inside an emoji stays. Each character is judged by itself and the one before it.
    """
    if text.isascii() and text.isprintable():
        return text
    kept: list[str] = []
    for c in text:
        if c == "\t":
            kept.append(" ")
        elif unicodedata.category(c) not in _HIDDEN or (
            c == _JOINER and kept and (unicodedata.category(kept[-1]) in ("So", "Sk", "Mn"))
        ):
            kept.append(c)
    return "".join(kept)


def undecided_tail(text: str) -> int:
    """Where the part starts that a following word could turn into an address, or blank."""
    at = len(text)
    while at and ("!" <= text[at - 1] <= "~" or text[at - 1] in _DOTS):
        at -= 1
    while at and text[at - 1].isspace():
        at -= 1
    return at


def spans(text: str, before: str) -> Iterator[tuple[str, bool]]:
    """Split words into (piece, is an address); `before` is the character shown before them."""
    at = 0
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(_TRAILING)
        if found.start() > at:
            yield _spaced(text, at, found.start(), before), False
        if address:
            yield address, True
        at = found.start() + len(address)
    if at < len(text):
        yield _spaced(text, at, len(text), before), False


def _spaced(text: str, start: int, end: int, before: str) -> str:
    """A part of the text with a space behind dots that could join it to an address."""
    pieces: list[str] = []
    at = start
    for dot in _ODD_DOT.finditer(text, start, end):
        left = text[dot.start() - 1] if dot.start() else before
        right = text[dot.end()] if dot.end() < len(text) else " "
        if _joins(left, dot[0], right):
            pieces.append(text[at : dot.end()] + " ")
            at = dot.end()
    pieces.append(text[at:end])
    return "".join(pieces)


def _joins(left: str, dot: str, right: str) -> bool:
    plain_left = unicodedata.normalize("NFKC", left)[-1:]
    plain_right = unicodedata.normalize("NFKC", right)[:1]
    if not (plain_left.isalnum() and plain_right.isalnum()):
        return False
    if dot != ".":
        return plain_left.isascii() and plain_right.isascii()
    return not (left.isascii() and right.isascii())

"""How a Feishu card's markdown element marks things.

The card's markdown has no escape character; a special character is written as its numeric entity.
A card takes few tables, so `CardMarkdown` counts those it wrote and lets the rest become aligned
code; one is made for each card.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from connectors.markup.words import SCHEMES, spans, visible
from connectors.markup.writer import Writer

TABLES: Final = 5
"""Tables one card takes (FEISHU.md §4: 3 to 5; refused with 230099 / 11310 beyond)."""

_SPECIAL: Final = re.compile(r"[\\`*~\[\]<>&$|]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START: Final = re.compile(r"(?:[#+\-=:]|\d{1,9}(?=[.)]))")
_SCHEME: Final = re.compile(rf"((?:{SCHEMES})(?=:\S)|(?=:/)):", re.IGNORECASE)
_URL_UNSAFE: Final = str.maketrans({c: f"%{ord(c):02X}" for c in " <>()[]|\"'`\\^{}*"})


def _entity(c: str) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(c, f"&#{ord(c)};")


def escape(text: str, *, line_start: bool) -> str:
    """Words that show as they are in a card's markdown."""
    escaped = _SPECIAL.sub(lambda m: _entity(m[0]), text)
    if line_start and (found := _LINE_START.match(escaped)):
        at = found.end() if found[0][0].isdigit() else 0
        escaped = escaped[:at] + _entity(escaped[at]) + escaped[at + 1 :]
    return escaped


def safe_url(url: str) -> str:
    """An address of the source table in a form that can not end its link early; "" if unfit."""
    return url.translate(_URL_UNSAFE) if re.match(r"https?://[^\s]+\Z", url) else ""


class CardMarkdown:
    """The markdown of one card.

    Args:
        tables: how many tables may still be native ones.
    """

    tight = False

    def __init__(self, tables: int = TABLES) -> None:
        self._tables_left = tables

    def style_mark(self, style: str) -> str:
        """The mark of a style."""
        return {"strong": "**", "emphasis": "*"}.get(style, "~~")

    def escape(self, text: str, *, line_start: bool) -> str:
        """Words that show as they are."""
        return escape(text, line_start=line_start)

    def code_words(self, text: str) -> str:
        """Code inside a line."""
        return "`" + text.replace("`", "'") + "`"

    def address(self, text: str) -> str:
        """A bare address: clients link none in code."""
        return self.code_words(text)

    def citation(self, n: int, url: str) -> str:
        """A number, linked when there is an address."""
        address = safe_url(url)
        return f"[[{n}]]({address})" if address else f"&#91;{n}&#93;"

    def heading(self, level: int, text: str) -> str:
        """A heading."""
        return "#" * level + " " + text

    def item_mark(self, depth: int, number: int | None) -> str:
        """What stands before an item; a level is four blanks."""
        return "    " * depth + ("- " if number is None else f"{number}. ")

    def rule(self) -> str:
        """A dividing line."""
        return "---"

    def fence(self, language: str) -> str:
        """The line that opens code; no blanks may stand around it."""
        return "```" + re.sub(r"[^\w+#.\-]", "", language)

    def code_line(self, line: str) -> str:
        """A line of code, byte for byte unless it would end its block."""
        return re.sub("`{3,}", lambda m: " ".join(m[0]), line)

    def table(self, rows: Sequence[Sequence[str]]) -> str | None:
        """A native table while the card takes one more."""
        if not self._tables_left:
            return None
        self._tables_left -= 1
        lines = [
            "| " + " | ".join(cell.replace("|", "&#124;") for cell in row) + " |" for row in rows
        ]
        return "\n".join((lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]))


class PlainText(CardMarkdown):
    """Text messages, the last resort: no marks; clients link addresses, so these are broken up."""

    def __init__(self) -> None:
        super().__init__(tables=0)

    def style_mark(self, style: str) -> str:
        """Styles are not shown."""
        del style
        return ""

    def escape(self, text: str, *, line_start: bool) -> str:
        """Words; an angle bracket would be read as a mention's tag."""
        del line_start
        return text.replace("<", "＜").replace(">", "＞")

    def code_words(self, text: str) -> str:
        """Code inside a line, in quotes: it must not join the words beside it to an address."""
        return f"‘{self.code_line(text)}’"

    def address(self, text: str) -> str:
        """A bare address, broken up."""
        return self.code_line(text)

    def citation(self, n: int, url: str) -> str:
        """A number; the address stands in no text message."""
        del url
        return f"[{n}]"

    def heading(self, level: int, text: str) -> str:
        """A heading."""
        del level
        return text

    def fence(self, language: str) -> str:
        """The line that opens code; a language would be words like others."""
        del language
        return "```"

    def code_line(self, line: str) -> str:
        """A line of code whose addresses have a space behind each dot and colon."""
        pieces = (
            re.sub(r"([.:])(?=\S)", r"\1 ", piece) if address else piece
            for piece, address in spans(visible(line), " ")
        )
        return self.escape("".join(pieces), line_start=False)


def without_schemes(text: str) -> str:
    """A whole text message in which no pieces joined to the scheme of an address."""
    return _SCHEME.sub(r"\1: ", text)


def plain_writer() -> Writer:
    """A writer for text messages."""
    return Writer(PlainText())


def card_writer(tables: int = TABLES) -> Writer:
    """A writer for one card."""
    return Writer(CardMarkdown(tables))

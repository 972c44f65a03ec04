"""How Slack marks things: standard markdown for streams and markdown blocks, mrkdwn as fallback.

Slack reads `&`, `<` and `>` as its control characters in both forms, so they are always escaped in
words. Code keeps its bytes in standard markdown; mrkdwn needs the three escaped there too. Tables
are shown as aligned code, the one form that every client and both texts can show.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from connectors.markup.writer import Writer

_CONTROLS: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_MARKS: Final = re.compile(r"[\\`*~\[\]|]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START: Final = re.compile(r"(?:[#+\-=:]|\d{1,9}(?=[.)]))")
_URL_UNSAFE: Final = str.maketrans(
    {c: f"%{ord(c):02X}" for c in " <>()[]|\"'`\\^{}*_~" if c not in "_~"}
)


def safe_url(url: str) -> str:
    """An address of the source table in a form that can not end its link early; "" if unfit."""
    return url.translate(_URL_UNSAFE) if re.match(r"https?://[^\s]+\Z", url) else ""


def _unfence(line: str) -> str:
    """A line of code that can not end its block."""
    return re.sub("`{3,}", lambda m: " ".join(m[0]), line)


class Markdown:
    """Slack's standard markdown."""

    tight = False

    def style_mark(self, style: str) -> str:
        """The mark of a style."""
        return {"strong": "**", "emphasis": "*"}.get(style, "~~")

    def escape(self, text: str, *, line_start: bool) -> str:
        """Words that show as they are."""
        escaped = _MARKS.sub(r"\\\g<0>", text).translate(_CONTROLS)
        if line_start and (found := _LINE_START.match(escaped)):
            at = found.end() if found[0][0].isdigit() else 0
            escaped = escaped[:at] + "\\" + escaped[at:]
        return escaped

    def code_words(self, text: str) -> str:
        """Code inside a line."""
        return "`" + text.replace("`", "'") + "`"

    def address(self, text: str) -> str:
        """A bare address: clients link none in code."""
        return self.code_words(text)

    def citation(self, n: int, url: str) -> str:
        """A number, linked when there is an address."""
        address = safe_url(url)
        return f"[[{n}]]({address})" if address else f"\\[{n}\\]"

    def heading(self, level: int, text: str) -> str:
        """A heading."""
        return "#" * min(level, 4) + " " + text

    def item_mark(self, depth: int, number: int | None) -> str:
        """What stands before an item."""
        return "    " * depth + ("- " if number is None else f"{number}. ")

    def rule(self) -> str:
        """A dividing line."""
        return "---"

    def fence(self, language: str) -> str:
        """The line that opens code."""
        return "```" + re.sub(r"[^\w+#.\-]", "", language)

    def code_line(self, line: str) -> str:
        """A line of code, byte for byte unless it would end its block."""
        return _unfence(line)

    def table(self, rows: Sequence[Sequence[str]]) -> str | None:
        """Tables are shown as aligned code."""
        del rows


class Mrkdwn(Markdown):
    """Slack's older form, for text fields and section blocks. It has no escape character."""

    tight = True

    def style_mark(self, style: str) -> str:
        """The mark of a style."""
        return {"strong": "*", "emphasis": "_"}.get(style, "~")

    def escape(self, text: str, *, line_start: bool) -> str:
        """Words; a backtick, which can not be escaped, would pair with one of ours."""
        del line_start
        return text.replace("`", "'").translate(_CONTROLS)

    def code_words(self, text: str) -> str:
        """Code inside a line."""
        return super().code_words(text).translate(_CONTROLS)

    def citation(self, n: int, url: str) -> str:
        """A number, linked when there is an address."""
        address = safe_url(url).replace("&", "&amp;")
        return f"<{address}|[{n}]>" if address else f"[{n}]"

    def heading(self, level: int, text: str) -> str:
        """Headings are bold lines; bold inside bold is not read, a blank keeps its words apart."""
        del level
        return "*" + re.sub(r" *[*]+ *", " ", text).strip() + "*"

    def item_mark(self, depth: int, number: int | None) -> str:
        """What stands before an item."""
        return "    " * depth + ("• " if number is None else f"{number}. ")

    def rule(self) -> str:
        """A dividing line."""
        return "———"

    def fence(self, language: str) -> str:
        """The line that opens code; a language would be shown as code."""
        del language
        return "```"

    def code_line(self, line: str) -> str:
        """A line of code with the control characters escaped."""
        return _unfence(line).translate(_CONTROLS)


def markdown_writer() -> Writer:
    """The writer for streams and markdown blocks."""
    return Writer(Markdown())


def mrkdwn_writer() -> Writer:
    """The writer for text fields and section blocks."""
    return Writer(Mrkdwn())

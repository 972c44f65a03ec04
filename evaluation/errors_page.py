"""Writes docs/errors.md, the table from an error's code to what a person reads, from the code.

python -m evaluation.errors_page
"""

from __future__ import annotations

from pathlib import Path

from agent import phrases
from handlers.surface import connect, pages, replies

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"

_HEAD = """# Error codes

What a person reads when something goes wrong: always one sentence with the next step and its code.
Codes without a row of their own are told as PL-000 with their own number. Nothing is ever silent,
and no traceback reaches a chat. Made by `python -m evaluation.errors_page`.

| code | 中文 | English |
| --- | --- | --- |
"""


def page() -> str:
    """The whole page as markdown."""
    texts = {**phrases.error_codes(), **replies.codes(), **connect.codes(), **pages.codes()}
    rows = (f"| {code} | {text['zh']} | {text['en']} |" for code, text in sorted(texts.items()))
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""A table row in the words of a person, in place of `column: value; column: value`."""

from __future__ import annotations

import re
from typing import Final

from agent.domain import Language
from agent.language import detect

_LONGEST: Final[dict[Language, int]] = {"zh": 12, "en": 40}
"""Characters of a cell that still fits into a sentence; longer ones are sentences themselves."""
_CODE: Final = re.compile(r"(?=.*\d).{1,12}")
"""A first cell that says little without its column's name: 809, P6, 1–5 年."""
_SENTENCE: Final = re.compile(r"[。！？；;!?]|[.:：](?:\s|$)")
_COMMON: Final = frozenset(
    ("amount", "deadline", "fee", "limit", "owner", "price", "rate", "response", "use", "value")
)
"""Columns of one word that are no names of places, products or people."""

_Cells = list[tuple[str, str]]


def in_words(row: str) -> str:
    """The row in its own language: a sentence where its cells are short; as it is without names.

    Args:
        row: `name: value; name: value`; the first cell says what the row is about and may stand
            without a name.
    """
    first, *rest = (part.partition(": ") for part in row.split("; "))
    cells = [(name.strip(), value.strip()) for name, _, value in rest]
    name, value = first[0].strip(), first[2].strip()
    about = value or name
    if not about or not cells or not all(name and value for name, value in cells):
        return row
    if value and _CODE.fullmatch(value):
        about = f"{name} {value}"
    language = detect(row)
    short = all(len(v) <= _LONGEST[language] and not _SENTENCE.search(v) for _, v in cells)
    if language == "zh":
        return _chinese(about, cells) if short else f"{about}，" + _named("：", "；", cells)
    return _english(about, cells) if short else f"{about} – " + _named(": ", "; ", cells)


def _named(colon: str, joint: str, cells: _Cells) -> str:
    return joint.join(f"{name}{colon}{value}" for name, value in cells)


def _chinese(about: str, cells: _Cells) -> str:
    said = "，".join(f"{name}为{_apart(value)}" for name, value in cells)
    return f"{about}{' ' if about[-1].isascii() and about[-1].isalnum() else ''}的{said}"


def _apart(value: str) -> str:
    """A blank stands between Chinese and what is not."""
    return f" {value}" if value[0].isascii() and value[0].isalnum() else value


def _english(about: str, cells: _Cells) -> str:
    named = [(_lower(name), value) for name, value in cells]
    (name, value), *more = named
    if not more and name[0].islower() and not name.endswith("s"):
        return f"For {about}, the {name} is {value}"
    return f"For {about}: {', '.join(f'{name} {value}' for name, value in named)}"


def _lower(name: str) -> str:
    """A column's name inside a sentence; what may be a name or an abbreviation stays as it is."""
    plain = name[1:2].islower() and (" " in name or name.lower() in _COMMON)
    return name[0].lower() + name[1:] if plain else name

"""The bilingual glossary of the offline model: which Chinese and English words are one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_SPLIT = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing: its words in both languages, in lower case; `inside` names a place's larger one.

    The first word of a language is the one that is searched with.
    """

    zh: tuple[str, ...]
    en: tuple[str, ...]
    place: bool = False
    inside: str = ""


@lru_cache(maxsize=1)
def concepts() -> tuple[Concept, ...]:
    """All lines of glossary.txt."""
    text = files("agent.models.offline").joinpath("glossary.txt").read_text(encoding="utf-8")
    return tuple(_concepts(text))


def _concepts(text: str) -> Iterator[Concept]:
    place = False
    for line in text.splitlines():
        if line.startswith("["):
            place = line.strip() == "[places]"
        elif line.strip() and not line.startswith("#"):
            words, _, inside = line.partition("<")
            zh, _, en = words.partition("|")
            yield Concept(_words(zh), _words(en), place, inside.strip())


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _SPLIT.split(text.strip().lower()) if word)


@lru_cache(maxsize=1)
def places() -> tuple[Concept, ...]:
    """The places among them."""
    return tuple(c for c in concepts() if c.place)


def wider(place: Concept) -> tuple[Concept, ...]:
    """The place and all that hold it, the smallest first."""
    found = [place]
    while found[-1].inside:
        above = next((c for c in places() if found[-1].inside in c.zh), None)
        if above is None:
            break
        found.append(above)
    return tuple(found)

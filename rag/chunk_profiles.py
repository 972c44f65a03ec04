"""How a document is cut, by its kind: sizes, overlaps, and what stays whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.domain import Language
from rag.chunking import ChunkSize, chunk_sections
from rag.documents import Chunk, Section

_LEAD = r"^[ \t]*(?:[-*>][ \t]+)?[*_]{0,2}"
"""What Markdown may put in front of the words of a line."""
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?"

_CLAUSES = re.compile(
    rf"{_LEAD}(?:第[0-9一二三四五六七八九十百零]{{1,6}}条|(?:Clause|Article|Section|§)\s*\d+\b)",
    re.MULTILINE | re.IGNORECASE,
)
_PAIRS = re.compile(
    rf"{_LEAD}(?:Q|Question|问题?)[ \t]?\d*[ \t]*[:：.、]", re.MULTILINE | re.IGNORECASE
)
_TURNS = re.compile(
    rf"{_LEAD}(?:\[?{_TIME}\]?[ \t]*)?[^\s:：\[][^:：\n]{{0,30}}"
    rf"(?:[:：](?!\d)|[ \t]+[\[(（]?{_TIME}[\])）]?[*_]{{0,2}}[ \t]*[:：\n])",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Profile:
    """Sizes by language, and where begins what stays whole; None for running text."""

    sizes: Mapping[Language, ChunkSize]
    unit: re.Pattern[str] | None = None


def _sizes(zh: int, overlap: float) -> dict[Language, ChunkSize]:
    """For so many Chinese characters, and for the English ones that hold about as much."""
    return {"zh": ChunkSize(zh, overlap), "en": ChunkSize(zh * 12 // 5, overlap)}


DEFAULT = Profile(_sizes(500, 0.15))
PROFILES: Mapping[str, Profile] = {
    "manual": DEFAULT,
    "incident": Profile(_sizes(1000, 0.2)),
    "contract": Profile(_sizes(500, 0.1), _CLAUSES),
    "minutes": Profile(_sizes(500, 0.15), _TURNS),
    "faq": Profile(_sizes(500, 0.0), _PAIRS),
}
"""By the kind of a document (CAPABILITIES IN3): manuals 300-500 characters, incidents 800-1,200."""


def chunked(sections: Sequence[Section], kind: str, language: Language) -> tuple[Chunk, ...]:
    """A document's chunks in order, as is best for its kind; any unknown kind is cut as default."""
    profile = PROFILES.get(kind.strip().lower(), DEFAULT)
    return chunk_sections(sections, profile.sizes[language], profile.unit)

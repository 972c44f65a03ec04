"""Sections to passages: blocks of one section are packed, long ones cut at lines and sentences.

How a document is cut depends on its kind: rag.chunk_profiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.documents import Block, Chunk, Section


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """The aim of a chunk in characters and how much of the chunk before it repeats.

    No chunk has more than `target` characters of its own plus the overlap.
    """

    target: int
    overlap: float = 0.15

    @property
    def repeated(self) -> int:
        """The most characters that a chunk repeats."""
        return int(self.target * self.overlap)


_BLANK_LINE = "\n\n"

_SEAMS = (
    re.compile(r"(?<=\n)"),
    re.compile(r"(?<=[。！？；!?;])|(?<=[.!?;] )"),
    re.compile(r"(?<=[，、,: ])"),
)


def chunk_sections(
    sections: Sequence[Section], size: ChunkSize, unit: re.Pattern[str] | None = None
) -> tuple[Chunk, ...]:
    """The document's chunks in order; each says under which headings it stands.

    Nothing is lost: the texts without their overlaps, put together, are the blocks in order, each
    with a blank line behind it. Chunks of one section overlap, chunks of different sections do
    not. Small sections under the same heading share a chunk, their own headings kept as a line;
    where `unit` is given, none do.

    `unit` matches the beginning of what stays whole where it fits a chunk, such as a clause, a
    speaker's turn or a question with its answer; the blocks of one are put together with line ends.
    """
    chunks: list[Chunk] = []
    for place, texts in _runs(sections, size.target, unit):
        overlap = ""
        for own in _pack(texts, size.target):
            chunks.append(Chunk(len(chunks), overlap + own, place, len(overlap)))
            overlap = _tail(own, size.repeated)
    return tuple(chunks)


def _runs(
    sections: Sequence[Section], target: int, unit: re.Pattern[str] | None
) -> Iterator[tuple[str, Iterator[str]]]:
    """Texts that may share chunks and overlap, with the headings above them."""
    if unit is not None:
        yield from ((" > ".join(s.path), _units(s, unit)) for s in sections)
        return
    for group in _small_together(sections, target):
        common = _common(group)
        yield " > ".join(common), _texts(group, len(common))


def _units(section: Section, start: re.Pattern[str]) -> Iterator[str]:
    """A section's units in order; what stands before the first one is one too."""
    open_unit = ""
    for block in section.blocks:
        text = f"{block.text}\n"
        begins = [m.start() for m in start.finditer(text)] if block.kind == "text" else []
        for number, (at, end) in enumerate(pairwise((0, *begins, len(text)))):
            if number and open_unit.strip():
                yield open_unit.rstrip("\n")
                open_unit = ""
            open_unit += text[at:end]
    if open_unit.strip():
        yield open_unit.rstrip("\n")


def _small_together(sections: Sequence[Section], target: int) -> Iterator[list[Section]]:
    """Neighbouring sections below one heading, as long as together they fit one chunk."""
    group: list[Section] = []
    for section in sections:
        siblings = group and _same_parent(group[-1], section)
        if group and not (siblings and _length([*group, section]) <= target // 2):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _same_parent(one: Section, other: Section) -> bool:
    return bool(one.path) and len(one.path) > 1 and one.path[:-1] == other.path[:-1]


def _length(group: Sequence[Section]) -> int:
    return sum(len(text) + 2 for text in _texts(group, len(_common(group))))


def _common(group: Sequence[Section]) -> tuple[str, ...]:
    return group[0].path if len(group) == 1 else group[0].path[:-1]


def _texts(group: Sequence[Section], depth: int) -> Iterator[str]:
    for section in group:
        heading = " > ".join(section.path[depth:])
        for block in section.blocks:
            yield f"{heading}\n{block.text}" if heading else block.text
            heading = ""


def _pack(texts: Iterator[str], target: int) -> Iterator[str]:
    """Whole texts up to the target, each with a blank line behind it; a longer one is cut."""
    most = max(target - len(_BLANK_LINE), 1)
    open_text = ""
    for text in texts:
        if open_text and len(open_text) + len(text) > most:
            yield open_text
            open_text = ""
        pieces = [text] if len(text) <= most else list(_cut(text, most))
        yield from pieces[:-1]
        open_text += pieces[-1] + _BLANK_LINE
    if open_text:
        yield open_text


def _cut(text: str, target: int) -> Iterator[str]:
    """Pieces of at most `target` characters, cut at the best seam that there is."""
    rest = text
    while len(rest) > target:
        at = _seam(rest, target)
        yield rest[:at]
        rest = rest[at:]
    yield rest


def _seam(text: str, target: int) -> int:
    window = text[:target]
    for seam in _SEAMS:
        places = [m.start() for m in seam.finditer(window) if m.start() >= target // 2]
        if places:
            return places[-1]
    return target


def _tail(text: str, most: int) -> str:
    """The end of a text that the next chunk repeats, from the start of a sentence or line."""
    if most <= 0 or len(text) <= most:
        return ""
    window = text[-most:]
    for seam in _SEAMS:
        found = next((m.start() for m in seam.finditer(window) if 0 < m.start() < most), None)
        if found is not None:
            return window[found:]
    return window


def whole_text(chunks: Sequence[Chunk]) -> str:
    """The document's text put together again from its chunks, a section's headings on a line."""
    parts: list[str] = []
    place = ""
    for chunk in chunks:
        if chunk.place != place:
            parts.append(f"## {chunk.place}\n" if chunk.place else "")
            place = chunk.place
        parts.append(chunk.text[chunk.overlap :])
    return "".join(parts).strip()


def as_sections(text: str) -> tuple[Section, ...]:
    """One section without headings: for texts that are passages already."""
    return (Section((), (Block(text),)),)

"""Shown passages read back, and cut into what can be quoted: sentences, items, table rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import unescape

Kind = Literal["sentence", "item", "step", "row"]
"""A step is an item of a numbered list."""

_PASSAGE = re.compile(r"<passage\b([^\n]*?)>\n(.*?)(?:\n</passage\s*>|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-z]+)=(?:\"([^\"]*)\"|'([^']*)')")
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&#10;": " ", "&#13;": " ", "&#9;": " "}

_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+•]\s+)*(?:[-*+•]|(\d{1,2}[.)、]))\s+(.*)")
_PAIRED = re.compile(r"[^:;]{1,60}: ([^;]+);(?: [^:;]{1,60}:)? .*")
"""A table row as the knowledge base keeps it: `name: value; name: value`."""
_RULE = re.compile(r"\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*")
_SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z0-9“\"*`\u4e00-\u9fff])")
_QUESTION = re.compile(r"[?？][*_\s]*$")
_ASKED = re.compile(r"^[*_\s]*(?:问|Q|Question)\s*[:：]\s*")
_REPLIED = re.compile(r"^[*_\s]*(?:答|A|Answer)\s*[:：]\s*")
_BOX = re.compile(r"\[[ xX]\]\s+")
"""What a to-do list sets before an item."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_MARKER = re.compile(r"\[(?:src:|no-answer)[^\]\n]*\]")


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage as the model was shown it.

    `score` is None when none was given, `sort` is the kind of document.
    """

    source: str
    title: str
    text: str
    place: str = ""
    updated: str = ""
    obsolete: bool = False
    score: float | None = None
    sort: str = ""

    @property
    def cut(self) -> bool:
        """Whether the text breaks off: dots of omission, or a colon with nothing behind it."""
        return self.text.rstrip().endswith(("…", "...", ":", "："))


@dataclass(frozen=True, slots=True)
class Unit:
    """What can be quoted.

    `context` are the headings and the question above it; `group` numbers the list or table that it
    belongs to, `key` is a row's first cell, `heading` the
    nearest heading, `asked` the question that it answers in a list of questions.
    """

    shown: Shown
    kind: Kind
    text: str
    context: str
    group: int
    key: str = ""
    heading: str = ""
    asked: str = ""


def read_passages(texts: Iterable[str]) -> tuple[Shown, ...]:
    """All passages of these tool results, the best first as they came; repeats left out."""
    found: dict[tuple[str, str], Shown] = {}
    for match in (m for t in texts for m in _PASSAGE.finditer(t)):
        a = {k: unescape(d or s, _ENTITIES) for k, d, s in _ATTRIBUTE.findall(match[1])}
        if not a.get("src"):
            continue
        shown = Shown(
            a["src"],
            a.get("title", ""),
            match[2],
            a.get("place", ""),
            a.get("updated", ""),
            a.get("status") == "obsolete",
            _score(a.get("score", "")),
            a.get("kind", ""),
        )
        found.setdefault((shown.source, shown.text), shown)
    return tuple(found.values())


def units(shown: Shown) -> tuple[Unit, ...]:
    """The quotable parts of the passage in order."""
    return tuple(_Cutter(shown).cut())


class _Cutter:
    """Walks the lines once and remembers what stands above."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._heading = ""
        self._asked = ""
        self._columns: list[str] = []
        self._group = 0
        self._before = ""

    def cut(self) -> Iterator[Unit]:
        lines = self._shown.text.split("\n")
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            kind = _kind(line)
            if kind != self._before and kind != "blank":
                self._group += 1
            if kind != "row":
                self._columns = []
            yield from self._line(kind, line, following)
            self._before = kind if kind != "blank" else self._before

    def _line(self, kind: str, line: str, following: str) -> Iterator[Unit]:
        if kind == "heading":
            self._heading, self._asked = _plain(line.lstrip("# ")), ""
        elif kind == "row":
            yield from self._row(line, following)
        elif kind == "item":
            match = _ITEM.match(line)
            if match:
                yield self._unit("step" if match[1] else "item", _BOX.sub("", match[2], count=1))
        elif kind == "text":
            yield from self._sentences(line)

    def _row(self, line: str, following: str) -> Iterator[Unit]:
        if paired := _PAIRED.fullmatch(line.strip()):
            yield self._unit("row", line, _plain(paired[1]))
            return
        cells = [_plain(c) for c in line.strip().strip("|").split("|")]
        if _RULE.fullmatch(line):
            return
        if _RULE.fullmatch(following) and "|" in following:
            self._columns = cells
            return
        names = self._columns if len(self._columns) == len(cells) else [""] * len(cells)
        pairs = [f"{n}: {c}" if n else c for n, c in zip(names, cells, strict=True) if c]
        yield self._unit("row", "; ".join(pairs), cells[0])

    def _sentences(self, line: str) -> Iterator[Unit]:
        if _ASKED.match(line) or (_QUESTION.search(line) and line.strip().startswith("**")):
            self._asked = _plain(_ASKED.sub("", line))
            return
        told = _REPLIED.sub("", line)
        if told != line or self._asked:
            yield self._unit("sentence", told)
            return
        for sentence in _SENTENCE_END.split(told):
            if sentence.strip() and not _QUESTION.search(sentence):
                yield self._unit("sentence", sentence)

    def _unit(self, kind: Kind, text: str, key: str = "") -> Unit:
        above = f"{self._shown.title} {self._shown.place} {self._heading} {self._asked}"
        heading = self._heading or self._shown.place
        return Unit(self._shown, kind, _plain(text), above, self._group, key, heading, self._asked)


def _kind(line: str) -> str:
    if not line.strip() or line.lstrip().startswith(">"):
        return "blank"  # words of others that a document cites are nothing to answer with
    if _HEADING.match(line):
        return "heading"
    if (line.lstrip().startswith("|") and line.count("|") > 1) or _PAIRED.fullmatch(line.strip()):
        return "row"
    return "item" if _ITEM.match(line) else "text"


def _plain(text: str) -> str:
    """A quote carries neither links nor anything that looks like a marker of ours."""
    return _LINK.sub(r"\1", _MARKER.sub("", text)).strip()


def _score(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

"""Which sources a turn may cite, and how its evidence is shown to the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from xml.sax.saxutils import quoteattr

from agent.domain import Citation, Passage, Source
from agent.markers import cited
from agent.ports import ToolResult

NOTHING_FOUND = "No passages found."
PASSAGES_KEPT = 3
"""Passages of a cited source that stay with the answer, for the sources button."""
PASSAGE_KEPT = 1_200
"""Characters of a passage that stay with the answer."""

_SPECIAL = re.compile(r"[&<>\"\n\r\t]")
"""What an attribute's value has to be escaped for; most values have none of it."""
_CLOSING = re.compile(r"</(?=passage)", re.IGNORECASE)
_BROKEN_UP = "<\u200b/"
"""A passage's own text can not close the element that it stands in."""


class SourceCollector:
    """The sources that this turn's tools have shown: one entry per thing, whoever found it.

    A source that comes again through another tool or query variant keeps its entry; its readers
    become those who may read every passage that was shown, so the entry never widens.
    """

    __slots__ = ("_passages", "_table")

    def __init__(self) -> None:
        self._table: dict[str, Source] = {}
        self._passages: dict[str, dict[str, Passage]] = {}

    @property
    def table(self) -> Mapping[str, Source]:
        """Source id to source, in order of first appearance."""
        return self._table

    def add(self, passages: Iterable[Passage]) -> None:
        """Enter the sources of these passages."""
        for p in passages:
            self._passages.setdefault(p.source, {}).setdefault(p.text, p)
            known = self._table.get(p.source)
            if known is None:
                self._table[p.source] = Source(
                    p.source, p.title, p.url, p.kind, p.updated, p.status, p.readers, p.private
                )
            elif known.readers != p.readers or (p.private and not known.private):
                self._table[p.source] = Source(
                    known.source,
                    known.title,
                    known.url,
                    known.kind,
                    known.updated,
                    known.status,
                    known.readers & p.readers,
                    known.private or p.private,
                )

    def evidence(self, citations: Iterable[Citation]) -> tuple[Passage, ...]:
        """The passages of the cited sources as they were shown, in the order of the numbers.

        At most PASSAGES_KEPT of a source, each cut after PASSAGE_KEPT characters; none that is not
        to be kept.
        """
        return tuple(
            p if len(p.text) <= PASSAGE_KEPT else replace(p, text=p.text[:PASSAGE_KEPT] + "…")
            for c in citations
            for p in islice(filter(_kept, self._passages[c.source.source].values()), PASSAGES_KEPT)
        )

    def resolve(self, text: str) -> tuple[str, tuple[Citation, ...]]:
        """The text with markers of known sources only, and their citations, numbered from 1."""
        clean, order = cited(text, self._table)
        return clean, tuple(Citation(n, self._table[s]) for n, s in enumerate(order, start=1))


def _kept(p: Passage) -> bool:
    return p.keep


def present(result: ToolResult) -> str:
    """A tool's result as the model reads it: the note, then each passage in its own element."""
    parts = [result.note] if result.note else []
    parts += [_passage(p) for p in result.passages]
    return "\n\n".join(parts) or NOTHING_FOUND


def _passage(p: Passage) -> str:
    attributes = {
        "src": p.source,
        "title": p.title,
        "kind": p.kind,
        "place": p.place,
        "updated": p.updated,
        "version": p.version,
        "status": p.status,
        "score": f"{p.score:.2f}",
    }
    shown = " ".join([f"{k}={_quoted(v)}" for k, v in attributes.items() if v])
    text = _CLOSING.sub(_BROKEN_UP, p.text) if "</" in p.text else p.text
    return f"<passage {shown}>\n{text}\n</passage>"


def _quoted(value: str) -> str:
    return quoteattr(value) if _SPECIAL.search(value) else f'"{value}"'

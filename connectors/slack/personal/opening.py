"""Opens what a search of files named: as far as the asker may, and no more than a few at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.domain import Passage
from agent.errors import ToolFailed
from agent.ports import ToolResult
from agent.values import value
from connectors.access import ScopeMissing
from connectors.personal import evidence, limits
from connectors.slack.personal import canvases, files
from connectors.slack.personal.client import Denied, UserCalls
from connectors.slack.personal.kit import Kit
from connectors.slack.personal.search import File

MOST_OPENED: Final = 4
"""Hits that are opened, in rank order."""


@value
class Opened:
    """A file with its text; `whole` is False when only the search's part of it could be read."""

    file: File
    text: str
    whole: bool = True

    def pages(self, most: int = evidence.PAGE) -> list[str]:
        """The text in parts of at most so many characters."""
        return evidence.pages(self.text.split("\n"), most)

    def passage(self, kit: Kit, kind: str, text: str, place: str, score: float) -> Passage:
        """A part of it, which the asker alone is known to see."""
        return Passage(
            self.file.source,
            self.file.title,
            text,
            url=self.file.url,
            kind=kind,
            place=place,
            updated=self.file.updated,
            readers=kit.own(),
            score=score,
            private=True,
            keep=False,
        )


async def open_all(kit: Kit, calls: UserCalls, found: Sequence[File]) -> tuple[list[Opened], int]:
    """The first files opened, and how many gave no answer; those closed to the asker are left out.

    Raises:
        SignInNeeded, ScopeMissing: the person has to act.
        PlumblineError: the first fault, when none could be opened.
    """
    tried = await limits.all_of([open_one(kit, calls, file) for file in found[:MOST_OPENED]])
    there = [t for t in tried if not isinstance(t, Denied)]
    opened = limits.given(there)
    return opened, len(there) - len(opened)


async def open_one(kit: Kit, calls: UserCalls, file: File) -> Opened:
    """A file's text; the search's own part of it where the platform gives no text of such a file.

    Raises:
        Denied: the asker may not read this canvas, or it is gone.
    """
    if file.ident in kit.texts:
        return Opened(file, kit.texts[file.ident])
    if file.is_canvas:
        text = await canvases.text_of(calls, file.ident)
    else:
        try:
            text = await files.text_of(calls, file.ident)
        except (Denied, ScopeMissing):
            text = ""
    if not text:
        return Opened(file, file.excerpt or file.title, whole=False)
    kit.texts[file.ident] = text
    return Opened(file, text)


def page_of(kit: Kit, opened: Opened, kind: str, page: int) -> ToolResult:
    """One page of a thing in full.

    Raises:
        ToolFailed: there is no such page.
    """
    found = opened.pages()
    if page > len(found):
        raise ToolFailed(f"There are {len(found)} pages; there is no page {page}.")
    note = f"Page {page} of {len(found)}."
    if not opened.whole:
        note = "Only this part can be read; the person can open the file itself."
    return ToolResult(note, (opened.passage(kit, kind, found[page - 1], note.rstrip("."), 1.0),))


def on_shelf(kit: Kit, source: str) -> File:
    """What a search of this turn showed under a source id.

    Raises:
        ToolFailed: nothing.
    """
    file = kit.shelf.get(source.strip().removeprefix("[src:").rstrip("]"))
    if file is None:
        raise ToolFailed(f"There is no {source[:80]}. Search for it first.")
    return file

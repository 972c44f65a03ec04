"""The tools search_my_documents and read_my_document: canvases and files of the asker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta

from agent.domain import Language, Passage
from agent.errors import BadArguments
from agent.ports import Tool, ToolResult
from agent.tool import tool
from connectors.personal import evidence, limits
from connectors.personal.keywords import told_terms
from connectors.slack.personal.kit import Kit
from connectors.slack.personal.opening import Opened, on_shelf, open_all, open_one, page_of
from connectors.slack.personal.search import Wish

SCOPES: Final = ("search:read.public", "search:read.files", "canvases:read", "files:read")
TIMEOUT: Final = 10.0
_TOPIC: Final[Mapping[Language, str]] = {"zh": "你的文档", "en": "your documents"}
_PART: Final = 1_500
_PARTS: Final = 2
"""Parts of a document that are shown, and characters of each."""


def tools(kit: Kit) -> tuple[Tool, ...]:
    """Both tools for one asker; documents are read by the ids that this turn's searches showed."""

    @tool(topic=_TOPIC, permission="documents.read", effect="private-read", timeout=TIMEOUT)
    async def search_my_documents(
        query: Annotated[
            str,
            "text, one short question in the words that the document will have, with the names, "
            "products and numbers that matter",
        ],
    ) -> ToolResult:
        """Search the canvases and files in Slack that the asker can open.

        Each passage is a part of a document with its title and date; read_my_document gives the
        whole. No passages means that nothing the asker can open matches.
        """
        if not query.strip():
            raise BadArguments("query: say what to look for")
        with limits.told("The documents could not be searched"):
            async with kit.calls(TIMEOUT - 1) as calls:
                found, note = await kit.files(calls, Wish(query.strip(), "files"), "docs")
                opened, missed = await open_all(kit, calls, found)
        if missed:
            note = f"{note} {missed} more matched and could not be opened just now.".strip()
        asked = told_terms([query])
        return ToolResult(note, tuple(p for o in opened for p in _parts(kit, o, asked)))

    @tool(topic=_TOPIC, permission="documents.read", effect="private-read", timeout=TIMEOUT)
    async def read_my_document(
        source: Annotated[
            str, "text, the source id of a passage from search_my_documents, such as sc-ab12cd34ef"
        ],
        page: Annotated[
            int,
            "whole number from 1, the page to read; a page has about 6,000 characters",
            Meta(ge=1),
        ] = 1,
    ) -> ToolResult:
        """Read a canvas or file of the asker in full, page by page. Says how many pages it has."""
        file = on_shelf(kit, source)
        with limits.told("The document could not be read"):
            async with kit.calls(TIMEOUT - 1) as calls:
                opened = await open_one(kit, calls, file)
        return page_of(kit, opened, "document", page)

    return search_my_documents, read_my_document


def _parts(kit: Kit, opened: Opened, asked: frozenset[str]) -> list[Passage]:
    """The parts of a document that are most like the question."""
    parts = opened.pages(_PART)
    found: list[Passage] = []
    for n in evidence.best_pages(parts, asked, _PARTS):
        place = f"part {n + 1} of {len(parts)}" if len(parts) > 1 else ""
        score = evidence.likeness(asked, f"{opened.file.title}\n{parts[n]}")
        found.append(opened.passage(kit, "document", parts[n], place, score))
    return found

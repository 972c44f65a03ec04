"""The read_document tool: a whole document, page by page, if the asker may read it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from agent.domain import Passage
from agent.errors import PlumblineError, ToolFailed
from agent.ports import Tool, ToolResult
from agent.tool import tool
from rag.chunking import whole_text
from rag.documents import IndexedChunk
from rag.ports import SearchIndex
from rag.retrieval import may_read

PAGE = 6_000
"""Characters of a page at most."""

_ID = re.compile(r"[A-Za-z0-9._-]+")


def read_tool(index: SearchIndex, readers: frozenset[str]) -> Tool:
    """The tool for one asker; `readers` are the labels that this person carries."""

    @tool(topic={"zh": "知识库", "en": "the knowledge base"}, permission="kb.read", timeout=5.0)
    async def read_document(
        source: Annotated[
            str, "text, the source id of a passage from knowledge_search, such as kb-ab12cd34ef"
        ],
        page: Annotated[
            int,
            "whole number from 1, the page to read; a page has about 6,000 characters",
            Meta(ge=1),
        ] = 1,
    ) -> ToolResult:
        """Read a document of the knowledge base in full, page by page.

        Use it when a passage is cut off, or when steps, tables or conditions around it matter.
        Says how many pages there are.
        """
        found = _ID.search(source.removeprefix("[src:"))
        try:
            chunks = await index.read(found.group() if found else "", readers)
        except PlumblineError as error:
            raise ToolFailed(f"The document could not be read: {error}") from error
        if not all(may_read(chunk, readers) for chunk in chunks) or not chunks:
            raise ToolFailed(f"No such document: {source[:80]}")
        pages = split_pages(whole_text([c.chunk for c in chunks]))
        if page > len(pages):
            raise ToolFailed(f"The document has {len(pages)} pages; there is no page {page}.")
        note = f"Page {page} of {len(pages)}."
        return ToolResult(note, (_passage(chunks[0], pages[page - 1], note),))

    return read_document


def split_pages(text: str) -> list[str]:
    """Pages of at most PAGE characters, cut at the last line break or blank that there is."""
    pages: list[str] = []
    rest = text
    while len(rest) > PAGE:
        cut = max(rest.rfind("\n", PAGE // 2, PAGE), rest.rfind(" ", PAGE - 200, PAGE)) + 1 or PAGE
        pages.append(rest[:cut])
        rest = rest[cut:]
    return [*pages, rest]


def _passage(first: IndexedChunk, text: str, place: str) -> Passage:
    return replace(first.passage(1.0), text=text, place=place.rstrip("."))

"""The tools search_my_documents and read_my_document: documents and wiki pages of the asker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final

from msgspec import Meta

from agent.domain import Json, Language, Passage
from agent.errors import BadArguments, ToolFailed
from agent.ports import Tool, ToolResult
from agent.tool import tool
from agent.values import value
from connectors import wire
from connectors.access import ScopeMissing
from connectors.feishu.personal.client import Denied, UserCalls, path_part
from connectors.feishu.personal.days import day, seconds
from connectors.feishu.personal.kit import Kit
from connectors.personal import evidence, limits
from connectors.personal.keywords import fewer, keywords, told_terms

_MARKDOWN: Final = "docs:document.content:read"
SCOPES: Final = (
    "search:docs:read",
    "wiki:node:read",
    "docx:document:readonly",
    _MARKDOWN,
    "docs:permission.member:auth",
)
TIMEOUT: Final = 10.0
_TOPIC: Final[Mapping[Language, str]] = {"zh": "你的文档", "en": "your documents"}
_QUERY: Final = 30
"""Characters of a query (FEISHU.md §6)."""
_PAGE: Final = 10
_MOST_OPENED: Final = 4
"""Hits that are opened, in rank order."""
_PART: Final = 1_500
_PARTS: Final = 2
"""Parts of a document that are shown, and characters of each."""
_RIGHTS_KINDS: Final = frozenset(
    ("doc", "docx", "sheet", "file", "wiki", "bitable", "mindnote", "minutes", "slides")
)


@value
class Hit:
    """A document that a search named. `kind` is the platform's (docx, wiki, sheet …)."""

    token: str
    kind: str
    title: str
    summary: str
    url: str
    updated: str


@value
class _Opened:
    """A document that the asker may read, with its text as blocks."""

    hit: Hit
    blocks: tuple[str, ...]
    whole: bool
    """False when only the search's own summary of it could be read."""


def tools(kit: Kit) -> tuple[Tool, ...]:
    """Both tools for one asker; documents are read by the ids that this turn's searches showed."""
    shelf: dict[str, Hit] = {}
    return _search_tool(kit, shelf), _read_tool(kit, shelf)


def _search_tool(kit: Kit, shelf: dict[str, Hit]) -> Tool:
    @tool(topic=_TOPIC, permission="documents.read", effect="private-read", timeout=TIMEOUT)
    async def search_my_documents(
        queries: Annotated[
            list[str],
            "list of 1 or 2 short searches of about 2 to 4 keywords (names, products, numbers), "
            "not sentences; the second one in the other language, Chinese or English",
            Meta(min_length=1, max_length=2),
        ],
    ) -> ToolResult:
        """Search the documents and wiki pages that the asker can open.

        Each passage is a part of a document with its title and date; read_my_document gives the
        whole. No passages means that nothing the asker can open matches.
        """
        short = [q for q in dict.fromkeys(keywords(q, _QUERY) for q in queries) if q]
        if not short:
            raise BadArguments("queries: give at least one keyword")
        with limits.told("The documents could not be searched"):
            if limits.spent(kit.budget, "docs"):
                return ToolResult(limits.SPENT)
            async with kit.calls(TIMEOUT - 1) as calls:
                found = await (await _documents(kit, calls)).search(short)
        shelf.update({_source(o.hit): o.hit for o in found.opened})
        return found.result(kit, told_terms(queries))

    return search_my_documents


def _read_tool(kit: Kit, shelf: Mapping[str, Hit]) -> Tool:
    @tool(topic=_TOPIC, permission="documents.read", effect="private-read", timeout=TIMEOUT)
    async def read_my_document(
        source: Annotated[
            str, "text, the source id of a passage from search_my_documents, such as fd-ab12cd34ef"
        ],
        page: Annotated[
            int,
            "whole number from 1, the page to read; a page has about 6,000 characters",
            Meta(ge=1),
        ] = 1,
    ) -> ToolResult:
        """Read a document of the asker in full, page by page. Says how many pages there are."""
        hit = shelf.get(source.strip().removeprefix("[src:").rstrip("]"))
        if hit is None:
            raise ToolFailed(f"No such document: {source[:80]}. Search for it first.")
        with limits.told("The document could not be read"):
            async with kit.calls(TIMEOUT - 1) as calls:
                opened = await (await _documents(kit, calls)).open(hit)
        found = evidence.pages(opened.blocks)
        if page > len(found):
            raise ToolFailed(f"The document has {len(found)} pages; there is no page {page}.")
        note = f"Page {page} of {len(found)}."
        if not opened.whole:
            note = "Only this summary can be read; the person can open the document itself."
        return ToolResult(
            note, (_passage(kit, opened.hit, found[page - 1], note.rstrip("."), 1.0),)
        )

    return read_my_document


@value
class _Found:
    """What a search opened, and how many hits gave no answer in time."""

    opened: tuple[_Opened, ...]
    missed: int

    def result(self, kit: Kit, asked: frozenset[str]) -> ToolResult:
        """The parts of each document that are most like the question, best documents first."""
        passages: list[Passage] = []
        for opened in self.opened:
            parts = evidence.pages(opened.blocks, _PART)
            for n in evidence.best_pages(parts, asked, _PARTS):
                place = f"part {n + 1} of {len(parts)}" if len(parts) > 1 else ""
                score = evidence.likeness(asked, f"{opened.hit.title}\n{parts[n]}")
                passages.append(_passage(kit, opened.hit, parts[n], place, score))
        note = f"Documents that matched and could not be opened just now: {self.missed}."
        return ToolResult(note if self.missed else "", tuple(passages))


async def _documents(kit: Kit, calls: UserCalls) -> _Documents:
    return _Documents(kit, calls, markdown=_MARKDOWN in await kit.access.scopes())


class _Documents:
    """Searching and opening as one asker; `markdown` says whether texts may come in that form."""

    def __init__(self, kit: Kit, calls: UserCalls, *, markdown: bool) -> None:
        self._kit = kit
        self._calls = calls
        self._markdown = markdown

    async def search(self, queries: Sequence[str]) -> _Found:
        """The best hits of the queries in turn, opened; those closed to the asker are left out."""
        hits = limits.in_turn(limits.given(await limits.all_of([self._page(q) for q in queries])))
        if not hits and (second := fewer(queries[0], _QUERY)):
            hits = await self._page(second)
        tried = await limits.all_of([self.open(hit) for hit in _once_each(hits)[:_MOST_OPENED]])
        there = [t for t in tried if not isinstance(t, Denied)]
        opened = tuple(limits.given(there))
        return _Found(opened, len(there) - len(opened))

    async def _page(self, query: str) -> list[Hit]:
        body: dict[str, Json] = {
            "query": query,
            "doc_filter": {},
            "wiki_filter": {},
            "page_size": _PAGE,
        }
        page = await self._calls.post("docs.search", "search/v2/doc_wiki/search", body)
        found = [_hit(unit) for unit in wire.objects(page.get("res_units"))[:_PAGE]]
        return [hit for hit in found if hit is not None]

    async def open(self, hit: Hit) -> _Opened:
        """A hit's text; its summary where the platform gives no text of such a document.

        Raises:
            Denied: the asker may not read it, or it is gone.
        """
        await self._check(hit)
        kind, token, title = hit.kind, hit.token, hit.title
        if kind == "wiki":
            asked = {"token": token}
            answer = await self._calls.get("wiki.node", "wiki/v2/spaces/get_node", asked)
            node = wire.members(answer.get("node"))
            kind, token = wire.text(node.get("obj_type")), path_part(node.get("obj_token"))
            title = evidence.line(wire.text(node.get("title"))) or title
        text = await self._text(token) if kind == "docx" and token else ""
        if not text:
            return _Opened(replace(hit, title=title), (hit.summary or title,), whole=False)
        return _Opened(replace(hit, title=title), tuple(text.split("\n")), whole=True)

    async def _check(self, hit: Hit) -> None:
        """The search's index may lag behind the rights: ask before anything of the hit is shown."""
        kind = hit.kind if hit.kind in _RIGHTS_KINDS else "file"
        answer = await self._calls.get(
            "docs.auth",
            f"drive/v1/permissions/{hit.token}/members/auth",
            {"type": kind, "action": "view"},
        )
        if answer.get("auth_result") is not True:
            raise Denied("The person may not read this document", "auth_result")

    async def _text(self, token: str) -> str:
        """Markdown, which keeps tables; plain text where the person has not granted that."""
        await self._kit.pace.turn()
        if self._markdown:
            wanted = {"doc_token": token, "doc_type": "docx", "content_type": "markdown"}
            try:
                page = await self._calls.get("docs.markdown", "docs/v1/content", wanted)
            except (ScopeMissing, ToolFailed):
                page = dict[str, Json]()
            if text := evidence.long_text(page.get("content")):
                return text
            await self._kit.pace.turn()
        page = await self._calls.get(
            "docs.raw", f"docx/v1/documents/{token}/raw_content", {"lang": "0"}
        )
        return evidence.long_text(page.get("content"))


def _hit(unit: Mapping[str, Json]) -> Hit | None:
    meta = wire.members(unit.get("result_meta"))
    token = path_part(meta.get("token"))
    if not token:
        return None
    kind = wire.name(meta.get("doc_types")) or wire.name(unit.get("entity_type"))
    return Hit(
        token,
        kind.lower(),
        evidence.line(wire.text(unit.get("title_highlighted"))),
        evidence.clipped(evidence.plain(wire.text(unit.get("summary_highlighted"))), _PART),
        evidence.address(wire.text(meta.get("url"))),
        day(seconds(meta.get("update_time"))),
    )


def _once_each(hits: Sequence[Hit]) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.token, hit)
    return list(first.values())


def _source(hit: Hit) -> str:
    return evidence.source_id("fd", hit.token)


def _passage(kit: Kit, hit: Hit, text: str, place: str, score: float) -> Passage:
    return Passage(
        _source(hit),
        hit.title or "(untitled)",
        text,
        url=hit.url,
        kind="document",
        place=place,
        updated=hit.updated,
        readers=kit.own(),
        score=score,
        private=True,
    )

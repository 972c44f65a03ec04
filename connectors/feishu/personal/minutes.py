"""The tools search_my_minutes and read_my_minutes: meetings that the asker held or took part in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta

from agent.domain import Json, Language, Passage
from agent.errors import PlumblineError, ToolFailed
from agent.ports import Tool, ToolResult
from agent.tool import tool
from agent.values import value
from connectors import wire
from connectors.feishu.personal.client import Data, Denied, UserCalls, path_part
from connectors.feishu.personal.days import bounds, day, seconds, span
from connectors.feishu.personal.kit import Kit
from connectors.personal import evidence, limits
from connectors.personal.days import Span
from connectors.personal.keywords import keywords, told_terms

SCOPES: Final = (
    "minutes:minutes.search:read",
    "minutes:minutes:readonly",
    "minutes:minutes.artifacts:read",
    "minutes:minutes.transcript:export",
)
TIMEOUT: Final = 12.0
_TOPIC: Final[Mapping[Language, str]] = {"zh": "你的会议妙记", "en": "your meeting minutes"}
_QUERY: Final = 50
_MONTH: Final = 28 * 86_400.0
"""Seconds that one search looks back; the platform takes a month at most (FEISHU.md §6)."""
_MOST_SEARCHES: Final = 8
"""Requests to search by one tool call: as owner and as participant, for each query and month."""
_ENOUGH: Final = 3
"""Minutes that are opened; with so many found no older month is searched."""
_PAGE: Final = 15
_SUMMARY: Final = 3_000
_HEAD: Final = re.compile(
    r"(?P<who>[^,，.。:：;；!！?？]{1,60}?)[ \t]+(?P<at>\d{1,2}(?::\d{2}){1,2})(?:[.,]\d+)?"
)


@value
class Hit:
    """Minutes that a search named."""

    token: str
    title: str
    url: str


@value
class _Opened:
    """Minutes with their date and what the platform wrote about the meeting."""

    hit: Hit
    updated: str
    text: str


@value
class _Turn:
    """What one speaker said without a break; `at` as the transcript shows it."""

    who: str
    at: str
    text: str


def tools(kit: Kit) -> tuple[Tool, ...]:
    """Both tools for one asker; minutes are read by the ids that this turn's searches showed."""
    shelf: dict[str, _Opened] = {}
    return _search_tool(kit, shelf), _read_tool(kit, shelf)


def _search_tool(kit: Kit, shelf: dict[str, _Opened]) -> Tool:
    @tool(topic=_TOPIC, permission="minutes.read", effect="private-read", timeout=TIMEOUT)
    async def search_my_minutes(
        queries: Annotated[
            list[str],
            "list of 1 or 2 short searches of about 2 to 4 keywords (names, products, numbers), "
            "not sentences; the second one in the other language, Chinese or English; an empty "
            "list lists the newest meetings",
            Meta(max_length=2),
        ],
        since: Annotated[
            str, "ISO date such as 2026-11-01, the first day; empty looks back month by month"
        ] = "",
        until: Annotated[str, "ISO date such as 2026-11-30, the last day; empty for today"] = "",
    ) -> ToolResult:
        """Search the minutes of meetings that the asker held or took part in.

        Each passage is one meeting with summary, chapters and to-dos; read_my_minutes gives what
        was said word for word. No passages means that no such meeting was found in the time that
        the note names.
        """
        wanted = span(since, until)
        asked = told_terms(queries)
        with limits.told("The minutes could not be searched"):
            if limits.spent(kit.budget, "minutes"):
                return ToolResult(limits.SPENT)
            async with kit.calls(TIMEOUT - 1) as calls:
                minutes = _Minutes(kit, calls)
                opened = await minutes.search(queries, wanted, asked)
        shelf.update({_source(o.hit): o for o in opened})
        return ToolResult(minutes.note, tuple(_passage(kit, o, asked) for o in opened))

    return search_my_minutes


def _read_tool(kit: Kit, shelf: Mapping[str, _Opened]) -> Tool:
    @tool(topic=_TOPIC, permission="minutes.read", effect="private-read", timeout=TIMEOUT)
    async def read_my_minutes(
        source: Annotated[
            str, "text, the source id of a passage from search_my_minutes, such as fn-ab12cd34ef"
        ],
        page: Annotated[
            int,
            "whole number from 1, the page to read; a page has about 6,000 characters",
            Meta(ge=1),
        ] = 1,
    ) -> ToolResult:
        """Read what was said in a meeting, by speaker, page by page. Says how many pages."""
        opened = shelf.get(source.strip().removeprefix("[src:").rstrip("]"))
        if opened is None:
            raise ToolFailed(f"No such minutes: {source[:80]}. Search for them first.")
        with limits.told("The minutes could not be read"):
            async with kit.calls(TIMEOUT - 1) as calls:
                turns = await _Minutes(kit, calls).transcript(opened.hit.token)
        found = evidence.pages(f"{t.who} {t.at}: {t.text}".lstrip() for t in turns)
        if page > len(found):
            raise ToolFailed(f"The minutes have {len(found)} pages; there is no page {page}.")
        note = f"Page {page} of {len(found)}."
        if not found[0]:
            return ToolResult("These minutes have no transcript.")
        passage = _passage(kit, opened, frozenset(), found[page - 1], note.rstrip("."))
        return ToolResult(note, (passage,))

    return read_my_minutes


class _Minutes:
    """Searching and opening as one asker; `note` says what time was searched."""

    def __init__(self, kit: Kit, calls: UserCalls) -> None:
        self._kit = kit
        self._calls = calls
        self.note = ""

    async def search(
        self, queries: Sequence[str], wanted: Span, asked: frozenset[str]
    ) -> list[_Opened]:
        """The minutes that match, opened, those with more of the asked words first."""
        short = [q for q in dict.fromkeys(keywords(q, _QUERY) for q in queries[:2]) if q] or [""]
        hits = await self._found(short, wanted)
        tried = await limits.all_of([self._open(hit) for hit in hits[:_ENOUGH]])
        there = [t for t in tried if not isinstance(t, Denied)]
        opened = limits.given(there)
        if len(opened) < len(there):
            self.note += f" {len(there) - len(opened)} more could not be opened just now."
        return sorted(opened, key=lambda o: -evidence.likeness(asked, f"{o.hit.title}\n{o.text}"))

    async def _found(self, queries: Sequence[str], wanted: Span) -> list[Hit]:
        """Month by month from the newest on, until there is enough or the searches are used up."""
        found: dict[str, Hit] = {}
        end = wanted.end or self._kit.clock.now() + 60
        months = _MOST_SEARCHES // (2 * len(queries))
        looked = end
        for month in _months(end, wanted.start, months):
            calls = [self._page(q, role, month) for q in queries for role in _ROLES]
            for hit in limits.in_turn(limits.given(await limits.all_of(calls))):
                found.setdefault(hit.token, hit)
            looked = month.start or looked
            if len(found) >= _ENOUGH:
                break
        self.note = f"Searched from {day(looked)} to {day(end - 1)}."
        return list(found.values())

    async def _page(self, query: str, role: str, month: Span) -> list[Hit]:
        """One search as owner or participant."""
        wanted: dict[str, Json] = {role: [self._calls.asker], "create_time": bounds(month)}
        page = await self._calls.post(
            "minutes.search",
            "minutes/v1/minutes/search",
            {"query": query, "filter": wanted},
            {"page_size": str(_PAGE), "user_id_type": "open_id"},
        )
        hits: list[Hit] = []
        for item in wire.objects(page.get("items"))[:_PAGE]:
            if token := path_part(item.get("token")):
                title = evidence.line(wire.text(item.get("display_info")))
                meta = wire.members(item.get("meta_data"))
                hits.append(Hit(token, title, evidence.address(wire.text(meta.get("app_link")))))
        return hits

    async def _open(self, hit: Hit) -> _Opened:
        path = f"minutes/v1/minutes/{hit.token}"
        base, written = await limits.all_of(
            [
                self._calls.get("minutes.get", path, {"user_id_type": "open_id"}),
                self._calls.get("minutes.artifacts", f"{path}/artifacts"),
            ]
        )
        for answer in (base, written):
            if isinstance(answer, PlumblineError):
                raise answer
        minute = wire.members(_data(base).get("minute"))
        title = evidence.line(wire.text(minute.get("title"))) or hit.title
        url = evidence.address(wire.text(minute.get("url"))) or hit.url
        held = day(seconds(minute.get("create_time")))
        text = evidence.clipped(_written(_data(written), self._calls.asker), _SUMMARY)
        return _Opened(Hit(hit.token, title or "(untitled)", url), held, text)

    async def transcript(self, token: str) -> list[_Turn]:
        """The speakers' turns."""
        wanted = {"need_speaker": "true", "need_timestamp": "true", "file_format": "txt"}
        path = f"minutes/v1/minutes/{token}/transcript"
        return list(turns_of(await self._calls.text("minutes.transcript", path, wanted)))


_ROLES: Final = ("owner_ids", "participant_ids")


def turns_of(text: str) -> Iterator[_Turn]:
    """The turns of a transcript of alternating lines: speaker and time, then what was said.

    What stands before the first speaker belongs to nobody.
    """
    who, at = "", ""
    words: list[str] = []
    for row in evidence.long_text(text).splitlines():
        line = row.strip()
        if head := _HEAD.fullmatch(line):
            if who or words:
                yield _Turn(who, at, " ".join(words))
            who, at, words = evidence.line(head["who"], 60), head["at"], []
        elif line:
            words.append(line)
    if who or words:
        yield _Turn(who, at, " ".join(words))


def _months(end: float, start: float | None, most: int) -> Iterator[Span]:
    """Spans of a month at most, the newest first, each up to where the one before began."""
    for _ in range(most):
        first = max(end - _MONTH, start or 0.0)
        if first >= end:
            return
        yield Span(first, end)
        end = first


def _data(answer: Data | PlumblineError) -> Data:
    return {} if isinstance(answer, PlumblineError) else answer


def _written(artifacts: Data, asker: str) -> str:
    """Summary, to-dos and chapters in this order, so that a cut falls on the chapters."""
    parts = [evidence.plain(wire.text(artifacts.get("summary")))]
    todos = [_todo(t, asker) for t in wire.objects(artifacts.get("minute_todos"))[:50]]
    parts += ["To-dos:", *todos] if todos else []
    chapters = [_chapter(c) for c in wire.objects(artifacts.get("minute_chapters"))[:100]]
    parts += ["Chapters:", *chapters] if chapters else []
    return "\n".join(part for part in parts if part)


def _todo(todo: Data, asker: str) -> str:
    own = " (the asker's)" if asker in wire.entries(todo.get("assignees")) else ""
    done = " (done)" if todo.get("is_done") is True else ""
    return f"- {evidence.line(wire.text(todo.get('content')), 300)}{own}{done}"


def _chapter(chapter: Data) -> str:
    whole = wire.whole(chapter.get("start_ms")) // 1000
    title = evidence.line(wire.text(chapter.get("title")))
    words = evidence.clipped(evidence.plain(wire.text(chapter.get("summary_content"))), 600)
    return f"- [{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}] {title}: {words}"


def _source(hit: Hit) -> str:
    return evidence.source_id("fn", hit.token)


def _passage(
    kit: Kit, opened: _Opened, asked: frozenset[str], text: str = "", place: str = "summary"
) -> Passage:
    shown = text or opened.text
    return Passage(
        _source(opened.hit),
        opened.hit.title,
        shown,
        url=opened.hit.url,
        kind="minutes",
        place=place,
        updated=opened.updated,
        readers=kit.own(),
        score=1.0 if text else evidence.likeness(asked, f"{opened.hit.title}\n{shown}"),
        private=True,
    )

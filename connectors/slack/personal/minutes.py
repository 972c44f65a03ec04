"""The tools search_my_minutes and read_my_minutes: canvases that are the notes of a meeting.

Slack has no transcripts to read: its own notes of a huddle are a canvas, and so are people's.
"""

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
from connectors.slack.personal.canvases import is_minutes
from connectors.slack.personal.kit import Kit
from connectors.slack.personal.moments import span
from connectors.slack.personal.opening import Opened, on_shelf, open_all, open_one, page_of
from connectors.slack.personal.search import Wish

SCOPES: Final = ("search:read.public", "search:read.files", "canvases:read")
TIMEOUT: Final = 10.0
_TOPIC: Final[Mapping[Language, str]] = {"zh": "你的会议记录", "en": "your meeting notes"}
_PART: Final = 3_000


def tools(kit: Kit) -> tuple[Tool, ...]:
    """Both tools for one asker; notes are read by the ids that this turn's searches showed."""

    @tool(topic=_TOPIC, permission="minutes.read", effect="private-read", timeout=TIMEOUT)
    async def search_my_minutes(
        query: Annotated[
            str,
            "text, one short question in the words that the notes will have, with the names, "
            "products and numbers that matter",
        ],
        since: Annotated[str, "ISO date such as 2026-11-01, the first day; empty for any day"] = "",
        until: Annotated[str, "ISO date such as 2026-11-30, the last day; empty for today"] = "",
    ) -> ToolResult:
        """Search the notes of meetings and huddles that the asker can open.

        Each passage is the part of a meeting's notes that is most like the question;
        read_my_minutes gives all of them. No passages means that no such notes were found.
        """
        wish = Wish(query.strip(), "files", span(since, until))
        if not wish.query:
            raise BadArguments("query: say what to look for")
        with limits.told("The meeting notes could not be searched"):
            async with kit.calls(TIMEOUT - 1) as calls:
                found, note = await kit.files(calls, wish, "minutes")
                opened, missed = await open_all(kit, calls, [f for f in found if f.is_canvas])
        if missed:
            note = f"{note} {missed} more matched and could not be opened just now.".strip()
        asked = told_terms([query])
        meetings = [o for o in opened if is_minutes(o.file.title, o.text)]
        return ToolResult(note, tuple(_best(kit, o, asked) for o in meetings))

    @tool(topic=_TOPIC, permission="minutes.read", effect="private-read", timeout=TIMEOUT)
    async def read_my_minutes(
        source: Annotated[
            str, "text, the source id of a passage from search_my_minutes, such as sc-ab12cd34ef"
        ],
        page: Annotated[
            int,
            "whole number from 1, the page to read; a page has about 6,000 characters",
            Meta(ge=1),
        ] = 1,
    ) -> ToolResult:
        """Read the notes of a meeting in full, page by page. Says how many pages there are."""
        file = on_shelf(kit, source)
        with limits.told("The meeting notes could not be read"):
            async with kit.calls(TIMEOUT - 1) as calls:
                opened = await open_one(kit, calls, file)
        return page_of(kit, opened, "minutes", page)

    return search_my_minutes, read_my_minutes


def _best(kit: Kit, opened: Opened, asked: frozenset[str]) -> Passage:
    """The part of the notes that is most like the question."""
    parts = opened.pages(_PART)
    n = evidence.best_pages(parts, asked, 1)[0]
    place = f"part {n + 1} of {len(parts)}" if len(parts) > 1 else ""
    score = evidence.likeness(asked, f"{opened.file.title}\n{parts[n]}")
    return opened.passage(kit, "minutes", parts[n], place, score)

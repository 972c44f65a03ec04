"""The search_my_messages tool: what was said in the asker's own Feishu chats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta

from agent.domain import Json, Passage
from agent.errors import BadArguments, PlumblineError
from agent.ports import Tool, ToolResult
from agent.tool import tool
from agent.values import value
from connectors import wire
from connectors.feishu.personal.client import Data, UserCalls, path_part
from connectors.feishu.personal.days import bounds, clock_time, day, seconds, span
from connectors.feishu.personal.kit import Kit
from connectors.feishu.personal.said import Room, Said, chat_link, read_all, read_room
from connectors.personal import evidence, limits
from connectors.personal.days import Span
from connectors.personal.keywords import asks, fewer, keywords, told_terms

SCOPES: Final = (
    "search:message",
    "im:message.group_msg:get_as_user",
    "im:message.p2p_msg:get_as_user",
    "im:chat:read",
    "im:chat.members:read",
)
TIMEOUT: Final = 9.0
_QUERY: Final = 50
_PAGE: Final = 15
"""Hits of one query; the words of both queries' hits are fetched by one call of up to 50."""
_MOST_SHOWN: Final = 8
_MOST_TALKS: Final = 4
"""Hits that are shown with what was said around them, and chats whose names are asked for."""
_MOST_CHATS: Final = 10
"""Chats that a search is narrowed to by words of their name."""
_AROUND: Final = 20
_BEFORE: Final = 900.0
_AFTER: Final = 3_600.0
"""Seconds before and after a hit in a chat without topics that count as the same talk."""
_NEIGHBOURS_BEFORE: Final = 3
_NEIGHBOURS_AFTER: Final = 5
_SAME_TALK: Final = 1_800.0
"""Two hits of a chat that are closer than that (s) are looked at once."""
_TALK: Final = 3_000
"""Characters of one passage."""
_OWN_QUESTION: Final = 600.0
"""The asker's own messages are not found for so many seconds: one of them is the question."""


@value
class _Wish:
    """What the model asks for: queries, chats ("" for all), the span of time."""

    queries: tuple[str, ...]
    chats: tuple[str, ...]
    span: Span


def search_tool(kit: Kit) -> Tool:
    """The tool for one asker."""

    @tool(
        topic={"zh": "你的聊天记录", "en": "your chats"},
        permission="messages.read",
        effect="private-read",
        timeout=TIMEOUT,
    )
    async def search_my_messages(
        queries: Annotated[
            list[str],
            "list of 1 or 2 short searches of about 2 to 4 keywords (names, products, numbers), "
            "not sentences; the second one in the other language, Chinese or English; an empty "
            "list with a chat or dates lists the newest messages",
            Meta(max_length=2),
        ],
        chat: Annotated[str, "text, words from the name of a chat; empty searches all chats"] = "",
        since: Annotated[str, "ISO date such as 2026-11-01, the first day; empty for any day"] = "",
        until: Annotated[str, "ISO date such as 2026-11-30, the last day; empty for today"] = "",
    ) -> ToolResult:
        """Search the asker's own chats, direct and group, for what was said or decided.

        Each passage is one message with what was said around it, its date and its chat. Times are
        those of UTC+8. No passages means that nothing the asker can see matches.
        """
        wanted = span(since, until)
        given = [q for q in queries if keywords(q, _QUERY)]
        if not given and not chat.strip() and not bounds(wanted):
            raise BadArguments("queries: give keywords, or a chat or dates to list messages of")
        with limits.told("The chats could not be searched"):
            if limits.spent(kit.budget, "messages"):
                return ToolResult(limits.SPENT)
            async with kit.calls(TIMEOUT - 1) as calls:
                return await _Search(kit, calls, given).run(chat, wanted)

    return search_my_messages


class _Search:
    """One search of one asker."""

    def __init__(self, kit: Kit, calls: UserCalls, queries: Sequence[str]) -> None:
        self._kit = kit
        self._calls = calls
        self._given = queries
        self._asked = told_terms(queries)
        self._rooms: dict[str, Room] = {}

    async def run(self, chat: str, wanted: Span) -> ToolResult:
        notes: list[str] = []
        chats = await self._named(chat, notes)
        queries = tuple(dict.fromkeys(keywords(q, _QUERY) for q in self._given)) or ("",)
        found = await self._found(_Wish(queries, chats, wanted))
        said = self._ranked(await self._said(found))
        talks = await self._talks(said)
        await self._look_up({talk[0].chat for talk in talks})
        return ToolResult(" ".join(notes), tuple(self._passage(*talk) for talk in talks))

    # --- searching -----------------------------------------------------------------------------

    async def _named(self, words: str, notes: list[str]) -> tuple[str, ...]:
        """The chats whose names have these words."""
        if not words.strip():
            return ()
        params = {"query": keywords(words, _QUERY) or words.strip()[:_QUERY], "page_size": "20"}
        page = await self._calls.get("chat.search", "im/v1/chats/search", params)
        found: list[str] = []
        for item in wire.objects(page.get("items"))[:_MOST_CHATS]:
            if ident := path_part(item.get("chat_id")):
                found.append(ident)
        if not found:
            notes.append("No chat of the asker has such a name; all chats were searched.")
        return tuple(found)

    async def _found(self, wish: _Wish) -> list[str]:
        """Ids of messages, the queries' hits taken in turn; two words alone when none hits."""
        pages = await limits.all_of([self._page(query, wish) for query in wish.queries])
        hits = limits.in_turn(limits.given(pages))
        if not hits and (second := fewer(self._given[0], _QUERY) if self._given else ""):
            hits = await self._page(second, wish)
        return hits

    async def _page(self, query: str, wish: _Wish) -> list[str]:
        wanted: dict[str, Json] = {"exclude_from_types": ["bot"]}
        if wish.chats:
            wanted["chat_ids"] = list(wish.chats)
        if when := bounds(wish.span):
            wanted["time_range"] = when
        page = await self._calls.post(
            "message.search",
            "im/v1/messages/search",
            {"query": query, "filter": wanted},
            {"page_size": str(_PAGE), "user_id_type": "open_id"},
        )
        hits: list[str] = []
        for item in wire.objects(page.get("items"))[:_PAGE]:
            meta = wire.members(item.get("meta_data"))
            ident = path_part(meta.get("message_id") or item.get("id"))
            if ident and not self._is_question(
                meta.get("from_id"), seconds(meta.get("create_time"))
            ):
                hits.append(ident)
        return hits

    def _is_question(self, author: Json, at: float) -> bool:
        return author == self._calls.asker and self._kit.clock.now() - at < _OWN_QUESTION

    async def _said(self, idents: Sequence[str]) -> list[Said]:
        """The messages with their words, in the given order; those without words are left out."""
        if not idents:
            return []
        wanted = {"message_ids": list(idents), "user_id_type": "open_id"}
        page = await self._calls.get("message.mget", "im/v1/messages/mget", wanted)
        by_id = {s.ident: s for s in read_all(page)}
        return [by_id[ident] for ident in idents if ident in by_id]

    def _ranked(self, said: list[Said]) -> list[Said]:
        """Those with more of the asked words first, else in the platform's order.

        What the asker asked before (the bot, most of all) is much like what is asked now and tells
        least, so it comes last.
        """
        return sorted(
            said, key=lambda s: (self._asked_before(s), -evidence.likeness(self._asked, s.text))
        )

    def _asked_before(self, said: Said) -> bool:
        return said.author == self._calls.asker and asks(said.text)

    # --- what was said around ------------------------------------------------------------------

    async def _talks(self, said: Sequence[Said]) -> list[tuple[Said, list[Said]]]:
        """The best hits, each with its neighbours; one that stands in another's talk is not anew.

        A hit whose neighbours can not be read stands alone.
        """
        first = _apart(said)[:_MOST_TALKS]
        around = await limits.all_of([self._around(hit) for hit in first])
        talks: list[tuple[Said, list[Said]]] = []
        shown: set[str] = set()
        for hit, near in zip(first, around, strict=True):
            if hit.ident in shown:
                continue
            talk = [hit] if isinstance(near, PlumblineError) else near
            talk = [s for s in talk if s.ident == hit.ident or s.ident not in shown]
            shown |= {s.ident for s in talk}
            talks.append((hit, talk))
        talks += [(hit, [hit]) for hit in said if hit.ident not in shown and hit not in first]
        return [(hit, talk) for hit, talk in talks if not self._unanswered(talk)][:_MOST_SHOWN]

    def _unanswered(self, talk: Sequence[Said]) -> bool:
        """Nothing but questions of the asker: what the bot was asked, in most cases."""
        return all(self._asked_before(said) for said in talk)

    async def _around(self, hit: Said) -> list[Said]:
        params = {"page_size": str(_AROUND), "sort_type": "ByCreateTimeAsc"}
        if hit.topic:
            params |= {"container_id_type": "thread", "container_id": hit.topic}
        else:
            params |= {"container_id_type": "chat", "container_id": hit.chat}
            params |= {
                "start_time": f"{hit.at - _BEFORE:.0f}",
                "end_time": f"{hit.at + _AFTER:.0f}",
            }
        near = read_all(await self._calls.get("message.list", "im/v1/messages", params))
        near = [s for s in near if s.chat == hit.chat and not self._is_question(s.author, s.at)]
        place = next((n for n, s in enumerate(near) if s.ident == hit.ident), None)
        if place is None:
            return [hit]
        return near[max(place - _NEIGHBOURS_BEFORE, 0) : place + 1 + _NEIGHBOURS_AFTER]

    # --- names ---------------------------------------------------------------------------------

    async def _look_up(self, chats: set[str]) -> None:
        """The names of chats and of the people in them, as far as the platform tells them."""
        wanted = sorted(chats)[:_MOST_TALKS]
        rooms = await limits.all_of([self._room(chat) for chat in wanted])
        self._rooms = {c: r for c, r in zip(wanted, rooms, strict=True) if isinstance(r, Room)}

    async def _room(self, chat: str) -> Room:
        path = f"im/v1/chats/{chat}"
        people = {"member_id_type": "open_id", "page_size": "100"}
        info, members = await limits.all_of(
            [
                self._calls.get("chat.get", path),
                self._calls.get("chat.members", f"{path}/members", people),
            ]
        )
        empty: Data = {}
        return read_room(
            empty if isinstance(info, PlumblineError) else info,
            empty if isinstance(members, PlumblineError) else members,
        )

    # --- showing -------------------------------------------------------------------------------

    def _passage(self, hit: Said, talk: Sequence[Said]) -> Passage:
        room = self._rooms.get(hit.chat, Room())
        text = "\n".join(self._line(said, room) for said in talk)
        parts = (
            room.name_for(self._calls.asker),
            room.people.get(hit.author, ""),
            clock_time(hit.at),
        )
        return Passage(
            evidence.source_id("fm", hit.ident),
            " · ".join(part for part in parts if part),
            evidence.clipped(text, _TALK),
            url=hit.link or chat_link(hit.chat, self._kit.base_url),
            kind="message",
            updated=day(hit.at),
            readers=frozenset((f"chat:feishu:{hit.chat}", f"person:feishu:{self._calls.asker}")),
            score=evidence.likeness(self._asked, text),
            private=True,
        )

    def _line(self, said: Said, room: Room) -> str:
        stranger = "the asker" if said.author == self._calls.asker else "somebody"
        text = said.text.replace("\n", "\n    ")  # no line of it looks like another message
        return f"{clock_time(said.at)} {room.people.get(said.author) or stranger}: {text}"


def _apart(said: Sequence[Said]) -> list[Said]:
    """Those of the messages that do not stand in the same talk as one before them."""
    first: list[Said] = []
    for hit in said:
        if not any(_same_talk(hit, other) for other in first):
            first.append(hit)
    return first


def _same_talk(one: Said, other: Said) -> bool:
    if one.chat != other.chat or one.topic != other.topic:
        return False
    return bool(one.topic) or abs(one.at - other.at) < _SAME_TALK

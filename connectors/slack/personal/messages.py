"""The search_my_messages tool: what was said in the channels and chats that the asker can see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from agent.domain import EVERYONE, Passage
from agent.errors import BadArguments, PlumblineError
from agent.ports import Tool, ToolResult
from agent.tool import tool
from agent.values import value
from connectors import wire
from connectors.access import ScopeMissing, SignInNeeded
from connectors.personal import evidence, limits
from connectors.personal.keywords import told_terms
from connectors.slack.personal.client import Denied, TokenRefused, UserCalls, http_of
from connectors.slack.personal.kit import Kit
from connectors.slack.personal.moments import clock_time, day, span
from connectors.slack.personal.search import (
    CHANNELS,
    Found,
    Hit,
    Place,
    Said,
    Wish,
    form_of,
    messages_of,
)
from connectors.slack.personal.threads import around

SCOPES: Final = (
    "search:read.public",
    "search:read.private",
    "search:read.im",
    "search:read.mpim",
    "channels:history",
    "channels:read",
    "groups:history",
    "im:history",
    "mpim:history",
    "users:read",
)
TIMEOUT: Final = 9.0
_MOST_SHOWN: Final = 8
_MOST_TALKS: Final = 3
"""Hits that are shown with what was said around them."""
_MOST_ROOMS: Final = 5
_MOST_NAMES: Final = 5
"""Channels and people that one call asks about."""
_TALK: Final = 3_000
"""Characters of one passage."""
_SAME_TALK: Final = 1_800.0
"""Two hits of a channel that are closer than that (s) are looked at once."""
_OWN_QUESTION: Final = 600.0
"""The asker's own messages are not found for so many seconds: one of them is the question."""
_PERSON: Final = re.compile(r"@([UW][A-Z0-9]{5,20})\b")
_PUBLIC_ONLY: Final = "Only public channels were searched: the person has not connected Slack."


@value
class _Room:
    """A channel; `public` only if the platform says so, `partner` the other of a chat of two."""

    public: bool = False
    name: str = ""
    partner: str = ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of channels and people, by their ids."""

    rooms: dict[str, _Room] = field(default_factory=dict[str, _Room])
    names: dict[str, str] = field(default_factory=dict[str, str])


def search_tool(kit: Kit) -> Tool:
    """The tool for one asker."""

    @tool(
        topic={"zh": "你的聊天记录", "en": "your chats"},
        permission="messages.read",
        effect="private-read",
        timeout=TIMEOUT,
    )
    async def search_my_messages(
        query: Annotated[
            str,
            "text, one short question in the words that people will have used, with the names, "
            "products and numbers that matter",
        ],
        where: Annotated[
            Place, "one of anywhere, public, private, direct: the kind of channel to search"
        ] = "anywhere",
        chat: Annotated[str, "text, words from a channel's name; empty takes all channels"] = "",
        since: Annotated[str, "ISO date such as 2026-11-01, the first day; empty for any day"] = "",
        until: Annotated[str, "ISO date such as 2026-11-30, the last day; empty for today"] = "",
    ) -> ToolResult:
        """Search the asker's own channels and direct chats for what was said or decided.

        Each passage is one message with what was said around it, its date and its channel. Times
        are UTC. There are at most two searches for a question, so ask for all of it at once. No
        passages means that nothing the asker can see matches.
        """
        wish = Wish(query.strip(), "messages", span(since, until), CHANNELS[where])
        if not wish.query:
            raise BadArguments("query: say what to look for")
        with limits.told("The chats could not be searched"):
            if await _connected(kit):
                return await _as_the_asker(kit, wish, chat)
            return await _in_public(kit, wish, chat)

    return search_my_messages


async def _connected(kit: Kit) -> bool:
    """Whether to search as the asker; False when public channels are all there is.

    Raises:
        SignInNeeded: the asker has not connected Slack, and the event permits no search.
    """
    try:
        await kit.access.token()
    except SignInNeeded:
        if not kit.public or kit.access.asker.external:
            raise
        return False
    return True


async def _as_the_asker(kit: Kit, wish: Wish, chat: str) -> ToolResult:
    if limits.spent(kit.budget, "messages"):
        return ToolResult(limits.SPENT)
    async with kit.calls(TIMEOUT - 1) as calls:
        form = form_of(wish, semantic=await kit.semantic(calls))
        found = messages_of(await calls.call("assistant.search.context", form))
        hits, note = _chosen(kit, found.hits, wish, chat)
        seen = _Seen(names=dict(found.names))
        talks = await _talks(kit, calls, hits)
        await _look_up(calls, talks, seen)
    asked = told_terms([wish.query])
    return ToolResult(note, tuple(_passage(kit, asked, seen, hit, talk) for hit, talk in talks))


async def _in_public(kit: Kit, wish: Wish, chat: str) -> ToolResult:
    """Search public channels without a sign-in; nothing else is asked of Slack."""
    if "public_channel" not in wish.channels:
        raise SignInNeeded("private channels need a sign-in")
    if limits.spent(kit.budget, "messages"):
        return ToolResult(limits.SPENT)
    try:
        async with http_of(kit.connect, kit.clock) as http:
            found = messages_of(await kit.public.search(http, wish))
    except (Denied, TokenRefused, ScopeMissing) as refusal:
        raise SignInNeeded("public channels can not be searched without a sign-in") from refusal
    public = Found(tuple(h for h in found.hits if h.said.channel.startswith("C")), found.names)
    hits, note = _chosen(kit, public.hits, wish, chat)
    rooms = {h.said.channel: _Room(public=True, name=h.room) for h in hits}
    seen = _Seen(rooms, dict(found.names))
    asked = told_terms([wish.query])
    passages = (_passage(kit, asked, seen, h, [*h.before, h.said, *h.after]) for h in hits)
    return ToolResult(f"{_PUBLIC_ONLY} {note}".strip(), tuple(passages))


def _chosen(kit: Kit, hits: Sequence[Hit], wish: Wish, chat: str) -> tuple[list[Hit], str]:
    """The hits to show, those with more of the asked words first, and a note on the choice."""
    asked = told_terms([wish.query])
    kept = [hit for hit in hits if not _is_question(kit, hit.said)]
    kept.sort(key=lambda h: -evidence.likeness(asked, h.said.text))
    named = " ".join(chat.lower().lstrip("#").split())
    there = [hit for hit in kept if named in hit.room.lower()] if named else kept
    if named and kept and not there:
        return kept[:_MOST_SHOWN], "None of these is from a channel of that name."
    return there[:_MOST_SHOWN], ""


def _is_question(kit: Kit, said: Said) -> bool:
    return said.author == kit.asker and abs(kit.clock.now() - said.at) < _OWN_QUESTION


async def _talks(kit: Kit, calls: UserCalls, hits: Sequence[Hit]) -> list[tuple[Hit, list[Said]]]:
    """The best hits with what was said around them; one that stands in another's talk is not anew.

    A hit whose neighbours can not be read stands alone.
    """
    first: list[Hit] = []
    for hit in hits:
        if len(first) < _MOST_TALKS and not any(_same_talk(hit.said, o.said) for o in first):
            first.append(hit)
    read = await limits.all_of([around(calls, hit) for hit in first])
    talks: list[tuple[Hit, list[Said]]] = []
    shown: set[str] = set()
    for hit, near in zip(first, read, strict=True):
        if hit.said.ts in shown:
            continue
        talk = [hit.said] if isinstance(near, PlumblineError) else near
        talk = [s for s in talk if s.ts not in shown and not _is_question(kit, s)]
        shown |= {s.ts for s in talk}
        talks.append((hit, talk))
    return talks + [
        (hit, [hit.said]) for hit in hits if hit.said.ts not in shown and hit not in first
    ]


def _same_talk(one: Said, other: Said) -> bool:
    return one.channel == other.channel and abs(one.at - other.at) < _SAME_TALK


# --- names ---------------------------------------------------------------------------------------


async def _look_up(
    calls: UserCalls, talks: Sequence[tuple[Hit, Sequence[Said]]], seen: _Seen
) -> None:
    """What channels are, and the names of people; what the platform does not tell stays unknown."""
    channels = list(dict.fromkeys(hit.said.channel for hit, _ in talks))[:_MOST_ROOMS]
    rooms = await limits.all_of([_room(calls, channel) for channel in channels])
    for channel, room in zip(channels, rooms, strict=True):
        seen.rooms[channel] = room if isinstance(room, _Room) else _Room()
    wanted = [room.partner for room in seen.rooms.values()]
    for _, talk in talks:
        wanted += [user for said in talk for user in (said.author, *_PERSON.findall(said.text))]
    unknown = [u for u in dict.fromkeys(wanted) if u and u not in seen.names][:_MOST_NAMES]
    names = await limits.all_of([_name(calls, user) for user in unknown])
    seen.names.update({u: n for u, n in zip(unknown, names, strict=True) if isinstance(n, str)})


async def _room(calls: UserCalls, channel: str) -> _Room:
    info = wire.members(
        (await calls.call("conversations.info", {"channel": channel})).get("channel")
    )
    closed = any(info.get(key) is not False for key in ("is_private", "is_im", "is_mpim"))
    public = not closed and info.get("id") == channel and channel.startswith("C")
    name = evidence.line(wire.name(info.get("name")), 80)
    return _Room(public, name, wire.identifier(info.get("user")))


async def _name(calls: UserCalls, user: str) -> str:
    person = wire.members((await calls.call("users.info", {"user": user})).get("user"))
    shown = wire.members(person.get("profile")).get("display_name")
    return evidence.line(wire.name(shown or person.get("real_name") or person.get("name")), 60)


# --- showing -------------------------------------------------------------------------------------


def _passage(
    kit: Kit, asked: frozenset[str], seen: _Seen, hit: Hit, talk: Sequence[Said]
) -> Passage:
    said = hit.said
    room = seen.rooms.get(said.channel, _Room())
    text = "\n".join(_line(kit, other, seen.names) for other in talk)
    place = seen.names.get(room.partner, "") or room.name or hit.room
    parts = (place, seen.names.get(said.author, ""), clock_time(said.at))
    readers = {EVERYONE} if room.public else {f"chat:slack:{said.channel}", *kit.own()}
    return Passage(
        evidence.source_id("sm", f"{said.channel}:{said.ts}"),
        " · ".join(part for part in parts if part),
        evidence.clipped(text, _TALK),
        url=hit.url,
        kind="message",
        updated=day(said.at),
        readers=frozenset(readers),
        score=evidence.likeness(asked, text),
        private=not room.public,
        keep=False,
    )


def _line(kit: Kit, said: Said, names: Mapping[str, str]) -> str:
    """One message on lines of its own: no line of it looks like another message."""
    stranger = "the asker" if said.author == kit.asker else "somebody"
    text = _PERSON.sub(lambda m: f"@{names.get(m[1], m[1])}", said.text).replace("\n", "\n    ")
    return f"{clock_time(said.at)} {names.get(said.author) or stranger}: {text}"

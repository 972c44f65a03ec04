"""Real-time Search: what is asked of it, and its answers as our own values (SLACK.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from agent.domain import Json
from agent.values import value
from connectors import wire
from connectors.personal import evidence
from connectors.personal.days import Span
from connectors.personal.keywords import keywords
from connectors.slack import mrkdwn
from connectors.slack.personal.client import Data, Wire
from connectors.slack.personal.moments import bounds, day

WORDS: Final = 1_200
"""Characters kept of one message."""
_LIMIT: Final = 20
"""Results of a search; Slack gives no more at once."""
_QUERY: Final = 250
_KEYWORDS: Final = 50
"""Characters of a keyword search: every word has to be there, so few find more."""
_NEAR: Final = 5
_EXCERPT: Final = 1_500
_HIGHLIGHT: Final = str.maketrans("", "", "\ue000\ue001")

Place = Literal["anywhere", "public", "private", "direct"]
CHANNELS: Final[Mapping[Place, str]] = {
    "anywhere": "public_channel,private_channel,mpim,im",
    "public": "public_channel",
    "private": "private_channel",
    "direct": "im,mpim",
}


@value
class Wish:
    """What is asked for; `channels` as Slack takes it, "" for files."""

    query: str
    content: Literal["messages", "files"]
    span: Span = field(default_factory=Span)
    channels: str = ""


@value
class Said:
    """One message. `ts` is Slack's id of it within its channel and its time in seconds."""

    channel: str
    ts: str
    author: str
    text: str

    @property
    def at(self) -> float:
        """When it was said, in seconds since the epoch."""
        return wire.seconds(self.ts)


@value
class Hit:
    """A message that a search named, with what the search showed around it, oldest first."""

    said: Said
    url: str
    room: str
    before: tuple[Said, ...] = ()
    after: tuple[Said, ...] = ()


@value
class Found:
    """The messages of a search, best first, and the shown names of people in it by user id."""

    hits: tuple[Hit, ...]
    names: Mapping[str, str]


@value
class File:
    """A file or canvas that a search named, with the part of its text that the search showed."""

    ident: str
    kind: str
    title: str
    url: str
    updated: str
    excerpt: str

    @property
    def is_canvas(self) -> bool:
        """Whether its text is read as a canvas."""
        return self.kind in ("canvas", "quip")

    @property
    def source(self) -> str:
        """The id under which it is cited."""
        return evidence.source_id("sc" if self.is_canvas else "sf", self.ident)


@value
class Public:
    """What a search of public channels needs without a sign-in: our token, and the event's."""

    bot_token: str
    action_token: str

    def __bool__(self) -> bool:
        return bool(self.bot_token and self.action_token)

    async def search(self, http: Wire, wish: Wish) -> Data:
        """Search messages of public channels; whatever the wish says, of no others.

        Raises:
            ToolFailed: the event's token is too old, or the search is not allowed.
            ScopeMissing, RateLimited, Unavailable: what the answer says.
        """
        form = {
            **form_of(wish, semantic=False),
            "channel_types": CHANNELS["public"],
            "action_token": self.action_token,
        }
        return await http.call("assistant.search.context", form, self.bot_token)


def form_of(wish: Wish, *, semantic: bool) -> dict[str, str]:
    """The arguments of a search: the question as it is, or its telling words."""
    query = evidence.line(wish.query, _QUERY)
    form = {
        "query": query if semantic else keywords(wish.query, _KEYWORDS) or query,
        "content_types": wish.content,
        "limit": str(_LIMIT),
        "highlight": "false",
        **bounds(wish.span),
    }
    if wish.content == "messages":
        form |= {"channel_types": wish.channels, "include_context_messages": "true"}
        form |= {"include_bots": "false"}
    return form


def messages_of(answer: Data) -> Found:
    """The messages of an answer; those of bots and without words are left out."""
    results = wire.members(answer.get("results"))
    hits: dict[tuple[str, str], Hit] = {}
    names: dict[str, str] = {}
    for item in wire.objects(results.get("messages"))[:_LIMIT]:
        said = _said(item, wire.identifier(item.get("channel_id")), names)
        if said is None or item.get("is_author_bot") is True:
            continue
        around = wire.members(item.get("context_messages"))
        before, after = (_around(around.get(k), said.channel, names) for k in ("before", "after"))
        url = evidence.address(wire.text(item.get("permalink")))
        room = evidence.line(wire.name(item.get("channel_name")), 80)
        hits.setdefault((said.channel, said.ts), Hit(said, url, room, before, after))
    return Found(tuple(hits.values()), names)


def files_of(answer: Data) -> tuple[File, ...]:
    """The files of an answer, each once."""
    results = wire.members(answer.get("results"))
    found: dict[str, File] = {}
    for item in wire.objects(results.get("files"))[:_LIMIT]:
        if ident := wire.identifier(item.get("file_id")):
            found.setdefault(ident, _file(ident, item))
    return tuple(found.values())


def words(text: Json) -> str:
    """A message's text in plain words: no highlights, no markup, no control characters."""
    cleaned = evidence.plain(_unlit(text))
    return evidence.clipped(mrkdwn.plain(cleaned, frozenset()).text, WORDS)


def _unlit(text: Json) -> str:
    """A text without the two characters that Slack puts around what matched."""
    return wire.text(text).translate(_HIGHLIGHT)


def _file(ident: str, item: Data) -> File:
    return File(
        ident,
        wire.name(item.get("file_type")).lower(),
        evidence.line(_unlit(item.get("title"))) or "(untitled)",
        evidence.address(wire.text(item.get("permalink"))),
        day(wire.seconds(item.get("date_updated")) or wire.seconds(item.get("date_created"))),
        evidence.clipped(evidence.plain(_unlit(item.get("content"))), _EXCERPT),
    )


def _around(given: Json, channel: str, names: dict[str, str]) -> tuple[Said, ...]:
    """Messages beside a hit. Their form is not documented: names of both APIs are tried."""
    read = (_said(item, channel, names) for item in wire.objects(given)[:_NEAR])
    return tuple(sorted((said for said in read if said is not None), key=lambda s: s.at))


def _said(item: Data, channel: str, names: dict[str, str]) -> Said | None:
    """One message of a search; its author's name is noted."""
    ts = wire.identifier(item.get("message_ts") or item.get("ts"))
    author = wire.identifier(item.get("author_user_id") or item.get("user_id") or item.get("user"))
    text = words(item.get("content") or item.get("text"))
    if not channel or not wire.seconds(ts) or not text:
        return None
    if author and (name := evidence.line(wire.name(item.get("author_name")), 60)):
        names[author] = name
    return Said(channel, ts, author, text)

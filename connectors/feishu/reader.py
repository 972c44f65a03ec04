"""Reads a Feishu message into plain words, attachments and mentions (formats: FEISHU.md 2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.domain import Attachment, Json, Mention
from connectors import wire

MAX_PARTS = 100
"""Most attachments and most mentions kept of one message."""

_DEPTH = 12
_PLACEHOLDER = re.compile(r"( ?)(@_user_\d+|@_all(?![A-Za-z0-9_]))( ?)")
_EVERYONE = re.compile(r"@_all(?![A-Za-z0-9_])")
_ITEM = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Mentions:
    """Who is named in a message: people by placeholder and by id, and which ones are the bot."""

    by_key: Mapping[str, Mention]
    own: frozenset[str]
    """Placeholders and ids of our bot."""

    @property
    def people(self) -> tuple[Mention, ...]:
        """Everybody but the bot, in the order of the event, each once."""
        found = (m for key, m in self.by_key.items() if key not in self.own)
        return tuple(dict.fromkeys(found))[:MAX_PARTS]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message holds.

    `unsupported` names a kind that can not be read, `deferred` what the worker has to fetch; both
    are empty for most messages.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    unsupported: str = ""
    deferred: str = ""


@dataclass(slots=True)
class _Page:
    """The parts of a rich text while it is read."""

    mentions: Mentions
    images: list[Attachment] = field(default_factory=list[Attachment])


def read_mentions(value: Json, bot: str) -> Mentions:
    """The mentions of a message.

    The bot is known by its open_id; when `bot` is empty every mentioned bot counts as ours, since
    an event does not say which one we are.
    """
    by_key: dict[str, Mention] = {}
    own: set[str] = set()
    for entry in wire.objects(value)[: 2 * MAX_PARTS]:
        key, ident = wire.text(entry.get("key")), entry.get("id")
        user = wire.identifier(wire.members(ident).get("open_id") or ident)
        if not key or key == "@_all":
            continue
        by_key[key] = Mention(user, wire.name(entry.get("name")))
        if user == bot if bot else entry.get("mentioned_type") == "bot":
            own |= {key, user} - {""}
    return Mentions(by_key, frozenset(own))


def mentions_everyone(message: Mapping[str, Json]) -> bool:
    """Whether a message calls @all; it may do so without an entry among its mentions."""
    keys = (entry.get("key") for entry in wire.objects(message.get("mentions")))
    return "@_all" in keys or bool(_EVERYONE.search(wire.text(message.get("content"))))


def read(kind: str, content: str, mentions: Mentions) -> Reading:
    """What a message of this `message_type` holds; `content` is its JSON text.

    The content of a merged forward is a placeholder sentence and never read as the question.
    """
    if kind == "merge_forward":
        return Reading(deferred="merge_forward")
    body = wire.parse(content) or {}
    if kind == "text":
        return Reading(resolve(wire.text(body.get("text")), mentions))
    if kind in ("post", "interactive"):
        return _rich(body, mentions)
    if kind == "image":
        found = _attachment("image", body.get("image_key"))
        return Reading(attachments=found, unsupported="" if found else kind)
    if kind == "file":
        found = _attachment("file", body.get("file_key"), wire.name(body.get("file_name")))
        return Reading(attachments=found, unsupported="" if found else kind)
    return Reading(unsupported=wire.identifier(kind) or "unknown")


def resolve(text: str, mentions: Mentions) -> str:
    """The text with @Name for each placeholder and without the mention of the bot.

    Of the two spaces around a removed mention one stays. Placeholders of nobody stay as typed.
    """

    def shown(match: re.Match[str]) -> str:
        before, key, after = match.groups()
        if key in mentions.own:
            return " " if before and after else before + after
        if key == "@_all":
            return f"{before}@all{after}"
        person = mentions.by_key.get(key)
        return f"{before}@{person.name}{after}" if person and person.name else match.group()

    return _PLACEHOLDER.sub(shown, text).strip()


def _attachment(kind: str, key: Json, name: str = "") -> tuple[Attachment, ...]:
    ident = wire.identifier(key)
    if not ident:
        return ()
    return (Attachment("image" if kind == "image" else "file", ident, name),)


def _rich(body: Mapping[str, Json], mentions: Mentions) -> Reading:
    """A post (title, paragraphs) or a forwarded card (title, rows of elements)."""
    page = _Page(mentions)
    body = _unwrapped(body)
    lines = [_title(body)]
    for row in _rows(body):
        parts = row if isinstance(row, list) else [row]
        lines.append("".join(_element(part, page, _DEPTH) for part in parts).strip(" "))
    text = _ITEM.sub("\n\n", "\n".join(lines)).strip()
    text = re.sub(r" {2,}", " ", text) if "```" not in text else text
    return Reading(wire.clip(text), tuple(page.images[:MAX_PARTS]))


def _unwrapped(body: Mapping[str, Json]) -> Mapping[str, Json]:
    """Without the locale around it, which a post has when it is sent and sometimes when read."""
    if any(key in body for key in ("content", "elements", "body", "title")):
        return body
    inner = (wire.members(part) for part in body.values())
    return next((part for part in inner if "content" in part), body)


def _title(body: Mapping[str, Json]) -> str:
    title = body.get("title") or wire.members(body.get("header")).get("title")
    return wire.text(wire.members(title).get("content") or title).strip()


def _rows(body: Mapping[str, Json]) -> list[Json]:
    for holder in (body, wire.members(body.get("body"))):
        for key in ("content", "elements"):
            if rows := wire.entries(holder.get(key)):
                return rows
    return []


def _element(value: Json, page: _Page, depth: int) -> str:
    """The words of one element; images go to the page, decoration gives nothing."""
    element = wire.members(value)
    tag = element.get("tag")
    words = wire.text(element.get("text"))
    match tag:
        case "at":
            return _at(element, page.mentions)
        case "a":
            return _link(words, wire.text(element.get("href")))
        case "img":
            page.images += _attachment("image", element.get("image_key") or element.get("img_key"))
            return ""
        case "code_block":
            language = wire.name(element.get("language")).lower()
            return f"```{language}\n{words.rstrip()}\n```"
        case "hr":
            return "---"
        case "media":
            return "[video]"
        case "emotion":
            return ""
        case _:
            return words or _nested(element, page, depth)


def _nested(element: Mapping[str, Json], page: _Page, depth: int) -> str:
    """The words of a tag we do not know, or of a container: whatever text stands in it."""
    if depth <= 0:
        return ""
    inner = wire.members(element.get("text"))
    found = [wire.text(inner.get("content") or element.get("content"))]
    for key in ("elements", "content", "columns", "fields", "items", "actions"):
        for part in wire.entries(element.get(key)):
            found += [_element(p, page, depth - 1) for p in wire.entries(part) or [part]]
    return "\n".join(word for word in found if word)


def _at(element: Mapping[str, Json], mentions: Mentions) -> str:
    key = wire.text(element.get("user_id"))
    if key in mentions.own:
        return ""
    if key in ("all", "@_all"):
        return "@all"
    known = mentions.by_key.get(key)
    name = wire.name(element.get("user_name")) or (known.name if known else "")
    return f"@{name or key}"


def _link(words: str, address: str) -> str:
    if not address or not words or words == address:
        return words or address
    return f"[{words}]({address})"

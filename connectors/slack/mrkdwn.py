"""Reads Slack's text forms (mrkdwn and blocks) into plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.domain import Json
from connectors import wire

_REFERENCE = re.compile(r"( ?)<([^<>\n]{1,4000})>( ?)")
_DEPTH = 12
_MARKED = {
    "channel": ("#", "channel_id"),
    "usergroup": ("@", "usergroup_id"),
    "broadcast": ("@", "range"),
    "date": ("", "fallback"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """Plain words, the people they name as (user id, shown name or ""), and if they name us."""

    text: str
    people: tuple[tuple[str, str], ...] = ()
    addressed: bool = False


@dataclass(slots=True)
class _Names:
    """Who was named so far; `own` are the ids of our bot."""

    own: frozenset[str]
    people: dict[str, str] = field(default_factory=dict[str, str])
    addressed: bool = False

    def is_own(self, user: str) -> bool:
        """Whether this is our bot, which is then noted."""
        if user in self.own:
            self.addressed = True
            return True
        return False

    def words(self, text: str) -> Words:
        """The text together with everybody it named."""
        return Words(wire.clip(text.strip()), tuple(self.people.items()), self.addressed)


def plain(text: str, own: frozenset[str]) -> Words:
    """Words of an mrkdwn text: references spelled out, escapes undone, our own mention removed.

    Of the two spaces around a removed mention one stays.
    """
    names = _Names(own)
    return names.words(_plain(text, names))


def blocks(value: Json, own: frozenset[str]) -> Words:
    """Words of a message's blocks in reading order, one line for each part."""
    names = _Names(own)
    lines = [_block(block, names) for block in wire.objects(value)]
    return names.words("\n".join(line for line in lines if line.strip()))


def unescape(text: str) -> str:
    """Undoes the three escapes that Slack uses."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _plain(text: str, names: _Names) -> str:
    parts: list[str] = []
    end = 0
    for match in _REFERENCE.finditer(text):
        before, inside, after = match.groups()
        target, _, label = inside.partition("|")
        parts.append(unescape(text[end : match.start()]))
        if target[:1] == "@" and names.is_own(target[1:]):
            parts.append(" " if before and after else before + after)
        else:
            if target[:1] == "@" and wire.identifier(target[1:]):
                names.people.setdefault(target[1:], label)
            parts.append(before + _spelled(target, unescape(label)) + after)
        end = match.end()
    parts.append(unescape(text[end:]))
    return "".join(parts)


def _spelled(target: str, label: str) -> str:
    kind = target[:1]
    if kind in ("@", "#"):
        return kind + (label or target[1:])
    if kind == "!":
        return label if label else f"@{target[1:].partition('^')[0]}"
    return _link(label, unescape(target).removeprefix("mailto:"))


def _link(label: str, address: str) -> str:
    if not label or not address or address.endswith(label):
        return address or label
    return f"[{label}]({address})"


def _block(block: Mapping[str, Json], names: _Names) -> str:
    kind = block.get("type")
    if kind == "rich_text":
        parts = wire.objects(block.get("elements"))
        return "\n".join(_rich(part, names, _DEPTH) for part in parts)
    if kind in ("image", "video"):
        title = wire.members(block.get("title")).get("text") or block.get("title")
        return wire.text(block.get("alt_text") or title)
    holders = [block, *wire.objects(block.get("fields")), *wire.objects(block.get("elements"))]
    found = [_worded(holder, names) for holder in holders]
    return "\n".join(words for words in found if words)


def _worded(holder: Mapping[str, Json], names: _Names) -> str:
    """Words of a text object, or of a block or element that holds one."""
    inner = holder.get("text")
    source = wire.members(inner) if isinstance(inner, dict) else holder
    words = wire.text(source.get("text"))
    return _plain(words, names).strip() if source.get("type") == "mrkdwn" else words


def _rich(part: Mapping[str, Json], names: _Names, depth: int) -> str:
    """One part of a rich text: a section, a list, a quotation or a code fence."""
    kind = part.get("type")
    inner = wire.objects(part.get("elements"))
    if kind == "rich_text_list":
        pad = "  " * min(wire.whole(part.get("indent")), 8)
        rows = [_rich(row, names, depth - 1) for row in inner] if depth > 0 else []
        ordered = part.get("style") == "ordered"
        marks = (f"{n}." if ordered else "-" for n in range(1, len(rows) + 1))
        return "\n".join(f"{pad}{mark} {row}" for mark, row in zip(marks, rows, strict=True))
    words = "".join(_inline(element, names) for element in inner)
    if kind == "rich_text_preformatted":
        return f"```\n{words.rstrip()}\n```"
    words = words.strip()
    return "> " + words.replace("\n", "\n> ") if kind == "rich_text_quote" else words


def _inline(element: Mapping[str, Json], names: _Names) -> str:
    kind = element.get("type")
    if kind == "user":
        user = wire.identifier(element.get("user_id"))
        if not user or names.is_own(user):
            return ""
        names.people.setdefault(user, "")
        return f"@{user}"
    if kind == "link":
        return _link(wire.text(element.get("text")), wire.text(element.get("url")))
    if kind == "emoji":
        return f":{wire.name(element.get('name'))}:"
    mark, key = _MARKED.get(kind, ("", "text")) if isinstance(kind, str) else ("", "text")
    return mark + wire.text(element.get(key))

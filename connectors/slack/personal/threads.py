"""What was said around a message: its thread, or the channel's flow (SLACK.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from connectors import wire
from connectors.personal import evidence
from connectors.slack import reader
from connectors.slack.personal.client import Data, UserCalls
from connectors.slack.personal.search import WORDS, Hit, Said

_PAGE: Final = 15
"""Messages of a page: Slack gives apps outside its marketplace no more."""
_BEFORE: Final = 900.0
_AFTER: Final = 3_600.0
"""Seconds before and after a hit in a channel's flow that count as the same talk."""
_NEIGHBOURS_BEFORE: Final = 3
_NEIGHBOURS_AFTER: Final = 6


async def around(calls: UserCalls, hit: Hit) -> list[Said]:
    """The hit with what was said around it, oldest first; at most three calls.

    A thread counts before what the search itself showed, and that before the channel's flow.
    """
    said = hit.said
    thread = await _thread(calls, said)
    if len(thread) > 1:
        return [*_root(thread, said), *_near(thread, said)]
    if hit.before or hit.after:
        return [*hit.before, said, *hit.after]
    form = {
        "channel": said.channel,
        "oldest": f"{said.at - _BEFORE:.6f}",
        "latest": f"{said.at + _AFTER:.6f}",
        "limit": str(_PAGE),
    }
    flow = _read(await calls.call("conversations.history", form), said.channel)
    return _near(sorted(flow, key=lambda s: s.at), said)


async def _thread(calls: UserCalls, said: Said) -> list[Said]:
    """The thread of a message, oldest first; in a long one the root and what follows the message.

    The first page is given up when the message stands behind it; there are at most two calls.
    """
    form = {"channel": said.channel, "ts": said.ts, "limit": str(_PAGE)}
    first = await calls.call("conversations.replies", form)
    found = _read(first, said.channel)
    after = wire.members(first.get("response_metadata")).get("next_cursor")
    if not after or any(other.ts == said.ts for other in found):
        return found
    form |= {"oldest": said.ts, "inclusive": "true"}
    return _read(await calls.call("conversations.replies", form), said.channel)


def _near(talk: Sequence[Said], said: Said) -> list[Said]:
    """The message with its neighbours."""
    place = next((n for n, other in enumerate(talk) if other.ts == said.ts), None)
    if place is None:
        return [said]
    return [*talk[max(place - _NEIGHBOURS_BEFORE, 0) : place + 1 + _NEIGHBOURS_AFTER]]


def _root(thread: Sequence[Said], said: Said) -> Sequence[Said]:
    """The thread's first message, which says its topic, unless it stands beside the message."""
    return thread[:1] if thread[0] not in _near(thread, said) else ()


def _read(answer: Data, channel: str) -> list[Said]:
    """The messages of an answer that people wrote; those of bots and without words are left out."""
    found: list[Said] = []
    for item in wire.objects(answer.get("messages"))[:_PAGE]:
        ts = wire.identifier(item.get("ts"))
        if item.get("bot_id") or item.get("subtype") not in _SPOKEN or not wire.seconds(ts):
            continue
        text = evidence.clipped(evidence.plain(reader.spoken(item, frozenset())), WORDS)
        if text:
            found.append(Said(channel, ts, wire.identifier(item.get("user")), text))
    return found


_SPOKEN: Final = (None, "file_share", "thread_broadcast", "me_message")

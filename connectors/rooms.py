"""Who reads along in a chat: asked of the platform, kept for ten minutes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final, cast

from agent.domain import ChatRef, Identity
from agent.durable import keys
from agent.durable.records import check_format, new_item, time_of
from agent.errors import PlumblineError
from agent.jsontext import packed, unpacked
from agent.ports import Clock, Item, Table
from agent.values import value

log = logging.getLogger(__name__)

KEPT: Final = 600.0
"""Seconds that a list of members counts (DATA_MODEL.md)."""
MOST: Final = 200
"""A chat with more people has no list: each of them would have to be looked up."""


@value
class Roster:
    """The people of a chat as (user id, tenant, external), bots left out.

    `people` is None when they are too many or not known. `outsiders` says whether guests or people
    of another company are among them; for a chat without a list, what the platform says of it.
    """

    people: tuple[tuple[str, str, bool], ...] | None
    outsiders: bool


UNKNOWN: Final = Roster(None, outsiders=True)

Fetch = Callable[[ChatRef, Identity], Awaitable[Roster]]


class PlatformRooms:
    """The rooms of one platform.

    A list that could not be read is not kept, and its chat counts as one with outsiders.

    Args:
        table: Where lists are kept.
        clock: Time.
        fetch: Asks the platform.
    """

    def __init__(self, table: Table, clock: Clock, fetch: Fetch) -> None:
        self._table = table
        self._clock = clock
        self._fetch = fetch

    async def members(self, chat: ChatRef, asker: Identity) -> tuple[Identity, ...] | None:
        """The people of a chat; None when they are too many or not known."""
        people = (await self._roster(chat, asker)).people
        if people is None:
            return None
        return tuple(
            Identity(asker.org, asker.platform, asker.app, tenant, user, external=external)
            for user, tenant, external in people
        )

    async def outsiders(self, chat: ChatRef, asker: Identity) -> bool:
        """Whether guests or people of another company read along; True when nobody can tell."""
        return (await self._roster(chat, asker)).outsiders

    async def _roster(self, chat: ChatRef, asker: Identity) -> Roster:
        workspace = f"{asker.platform}:{asker.app}:{asker.tenant}"
        key = keys.chat_members(asker.org, workspace, chat.chat)
        now = self._clock.now()
        item = await self._table.get(key)
        if item is not None and time_of(item, "until") > now:
            return _read(item)
        try:
            roster = await self._fetch(chat, asker)
        except PlumblineError as fault:
            log.warning("the members of a %s chat are not known: %s", asker.platform, fault)
            return UNKNOWN
        item = new_item(key, "chat", asker.org, now)
        item["until"] = now + KEPT
        item["people"] = packed(None if roster.people is None else [[*p] for p in roster.people])
        item["outsiders"] = roster.outsiders
        await self._table.put(item)
        return roster


def _read(item: Item) -> Roster:
    rows = cast(
        "list[tuple[str, str, bool]] | None", unpacked(check_format(item, "chat")["people"])
    )
    people = None if rows is None else tuple((user, tenant, ext) for user, tenant, ext in rows)
    return Roster(people, bool(item["outsiders"]))

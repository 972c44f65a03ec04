"""The members of a Slack channel: who is a guest, a stranger or a bot is asked for each of them.

Field names of the user object are [memory] (SLACK.md §5): is_bot, is_restricted,
is_ultra_restricted, is_stranger, team_id.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final, Literal

from agent.domain import ChatRef, Identity
from agent.errors import PlatformRefused, PlumblineError
from agent.ports import Clock
from connectors.rooms import MOST, Roster
from connectors.slack.api import Body, SlackApi
from connectors.web import part
from connectors.wire import identifier, whole

log = logging.getLogger(__name__)

_SHARED: Final = ("is_ext_shared", "is_pending_ext_shared")
_GUEST: Final = ("is_restricted", "is_ultra_restricted", "is_stranger")
_GONE: Final = frozenset(("user_not_found", "user_not_visible", "users_not_found"))
_AT_ONCE: Final = 8
_KNOWN_FOR: Final = 86_400.0
"""Seconds that a person's standing counts: people's state is looked up daily (SECURITY.md)."""
_MOST_KNOWN: Final = 5_000

Sort = Literal["member", "outsider", "bot"]
_NOBODY: Final[tuple[Sort, str, float]] = ("outsider", "", 0.0)


class SlackMembers:
    """Asks Slack who is in a channel; what it says of a person is remembered for a day.

    Args:
        api: The client, as the bot.
        clock: Time.
    """

    def __init__(self, api: SlackApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._known: dict[str, tuple[Sort, str, float]] = {}  # sort, tenant, until when

    async def roster(self, chat: ChatRef, asker: Identity) -> Roster:
        """The people of a channel; raises what the client's calls raise."""
        info = await self._api.channel(chat.chat)
        if any(info.get(sign) is True for sign in _SHARED):
            return Roster(None, outsiders=True)
        users: list[str] = []
        cursor, more = "", whole(info.get("num_members")) <= MOST
        while more and len(users) <= MOST:
            page, cursor = await self._api.channel_members(chat.chat, MOST, cursor)
            users += [user for one in page if (user := identifier(one))]
            more = bool(cursor)
        if more or len(users) > MOST or not users:
            return Roster(None, outsiders=False)
        return await self._sorted(users, asker.tenant)

    async def _sorted(self, users: list[str], home: str) -> Roster:
        """The people among the users, without a list when somebody could not be looked up."""
        now, gate = self._clock.now(), asyncio.Semaphore(_AT_ONCE)

        async def look(user: str) -> None:
            async with gate:
                try:
                    self._known[user] = (*await self._asked(user, home), now + _KNOWN_FOR)
                except PlumblineError as fault:
                    log.warning("Slack does not say who a member is: %s", fault)

        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        async with asyncio.TaskGroup() as group:
            for user in users:
                if self._known.get(user, _NOBODY)[2] <= now:
                    group.create_task(look(user))
        found = {user: self._known.get(user, _NOBODY) for user in users}
        outsiders = any(sort == "outsider" for sort, _, _ in found.values())
        if any(until <= now for _, _, until in found.values()):
            return Roster(None, outsiders)
        people = (
            (user, tenant, sort == "outsider")
            for user, (sort, tenant, _) in found.items()
            if sort != "bot"
        )
        return Roster(tuple(people), outsiders)

    async def _asked(self, user: str, home: str) -> tuple[Sort, str]:
        try:
            found = await self._api.person(user)
        except PlatformRefused as refusal:
            if refusal.reason not in _GONE:
                raise
            return "outsider", ""
        if found.get("is_bot") is True or found.get("deleted") is True or user == "USLACKBOT":
            return "bot", home
        tenant = identifier(found.get("team_id")) or home
        guest = any(found.get(sign) is True for sign in _GUEST)
        return ("outsider" if guest or not _at_home(found, tenant, home) else "member"), tenant


def _at_home(found: Body, tenant: str, home: str) -> bool:
    """Whether a person belongs to the workspace, or to the organisation that it is part of."""
    grid = part(found, "enterprise_user").get("enterprise_id")
    return home in (tenant, grid)

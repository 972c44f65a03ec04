"""Who somebody is in Slack: member, guest, of another workspace or deleted; and user groups."""

from __future__ import annotations

import logging
from typing import Final

from agent.domain import Identity
from agent.errors import PlatformRefused, PlumblineError
from agent.ports import Clock
from connectors.directory import Standing
from connectors.slack.api import Body, SlackApi

log = logging.getLogger(__name__)

GROUPS_KEPT: Final = 60.0
_GUEST: Final = ("is_restricted", "is_ultra_restricted")
_GONE: Final = frozenset(("user_not_found", "user_not_visible", "users_not_found"))


class SlackPeople:
    """A workspace's directory. User groups are read only where `wanted` names some.

    Slack gives all groups of a workspace in one answer and takes 20 such calls a minute (Tier 2):
    one answer serves everybody who is looked up within GROUPS_KEPT seconds.
    """

    unknown = Standing("guest", whole=False)

    def __init__(self, api: SlackApi, clock: Clock, wanted: frozenset[str]) -> None:
        self._api = api
        self._clock = clock
        self._known: dict[str, tuple[float, list[Body]]] = {}
        self._groups = any(name.startswith("usergroup:") for name in wanted)

    async def standing(self, person: Identity) -> Standing:
        """What Slack says of a user id."""
        try:
            found = await self._api.person(person.user)
        except PlatformRefused as refusal:
            if refusal.reason in _GONE:
                return Standing("gone")
            raise
        if found.get("deleted") is True or found.get("is_bot") is True:
            return Standing("gone")
        if found.get("is_stranger") is True:
            return Standing("stranger")
        name = str(found.get("real_name") or found.get("name") or "")
        if any(found.get(sign) is True for sign in _GUEST):
            return Standing("guest", name)
        if not self._groups:
            return Standing("member", name)
        # An organisation-wide token has to name the workspace (SLACK.md §6).
        team = str(found.get("team_id") or "") if person.tenant.startswith("E") else ""
        try:
            groups = await self._user_groups(team)
        except PlumblineError as fault:
            log.warning("Slack's user groups can not be read: %s", fault)
            return Standing("member", name, whole=False)
        own = (f"usergroup:{g.get('id')}" for g in groups if _holds(g, person.user))
        return Standing("member", name, frozenset(own))

    async def _user_groups(self, team: str) -> list[Body]:
        read_at, groups = self._known.get(team, (-GROUPS_KEPT, []))
        if self._clock.monotonic() - read_at >= GROUPS_KEPT:
            groups = await self._api.user_groups(team)
            self._known[team] = self._clock.monotonic(), groups
        return groups


def _holds(group: Body, user: str) -> bool:
    return not group.get("date_delete") and user in (group.get("users") or ())

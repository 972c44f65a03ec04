"""Who somebody is in Slack: member, guest, of another workspace or deleted; and user groups."""

from __future__ import annotations

import logging
from typing import Final

from agent.domain import Identity
from agent.errors import PlatformRefused, PlumblineError
from connectors.directory import Standing
from connectors.slack.api import Body, SlackApi

log = logging.getLogger(__name__)

_GUEST: Final = ("is_restricted", "is_ultra_restricted")
_GONE: Final = frozenset(("user_not_found", "user_not_visible", "users_not_found"))


class SlackPeople:
    """A workspace's directory. User groups are read only where `wanted` names some."""

    unknown = Standing("guest", whole=False)

    def __init__(self, api: SlackApi, wanted: frozenset[str]) -> None:
        self._api = api
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
        groups, whole = await self._user_groups(person)
        return Standing("member", name, groups, whole)

    async def _user_groups(self, person: Identity) -> tuple[frozenset[str], bool]:
        """The groups with this person, and whether they could be read."""
        try:
            groups = await self._api.user_groups()
        except PlumblineError as fault:
            log.warning("Slack's user groups can not be read: %s", fault)
            return frozenset(), False
        return frozenset(f"usergroup:{g.get('id')}" for g in groups if _holds(g, person.user)), True


def _holds(group: Body, user: str) -> bool:
    return not group.get("date_delete") and user in (group.get("users") or ())

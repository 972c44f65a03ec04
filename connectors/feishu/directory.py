"""Who somebody is in Feishu: still employed or not, departments with those above, user groups.

Shapes: the SDK's contact/v3 models; the meaning of the status flags and of the codes is from
memory [FEISHU.md's mark]: `plumbline doctor` settles them on a real tenant.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Final

from agent.domain import Identity
from agent.errors import PlatformRefused, PlumblineError
from connectors.directory import Standing
from connectors.feishu.api import Body, FeishuApi
from connectors.web import part

log = logging.getLogger(__name__)

_UNKNOWN_PERSON: Final = frozenset(("99992351", "41012"))
_OUT_OF_REACH: Final = frozenset(("41050", "40004", "40014"))
"""Person or department is outside the app's contact range; the tenant is ours all the same."""
_LEFT: Final = ("is_resigned", "is_exited", "is_frozen")
_PAGE: Final = "50"
_MOST_PAGES: Final = 20
_GROUP_TYPES: Final = ("1", "2")
"""Groups with fixed members, and groups that follow a rule."""


class FeishuPeople:
    """A tenant's directory. Departments and user groups are read only where `wanted` names some."""

    unknown = Standing("member", whole=False)

    def __init__(self, api: FeishuApi, wanted: frozenset[str]) -> None:
        self._api = api
        self._departments = any(name.startswith("department:") for name in wanted)
        self._groups = any(name.startswith("user-group:") for name in wanted)

    async def standing(self, person: Identity) -> Standing:
        """What Feishu says of an open_id."""
        ids = {"user_id_type": "open_id", "department_id_type": "open_department_id"}
        try:
            found = part(await self._api.address_book(f"users/{person.user}", ids), "user")
        except PlatformRefused as refusal:
            if refusal.reason in _UNKNOWN_PERSON:
                return Standing("gone")
            if refusal.reason in _OUT_OF_REACH:
                return self.unknown
            raise
        status = part(found, "status")
        if any(status.get(sign) is True for sign in _LEFT):
            return Standing("gone")
        name = str(found.get("name") or "")
        try:
            return Standing("member", name, await self._memberships(person, found))
        except PlumblineError as fault:
            log.warning("Feishu's departments or user groups can not be read: %s", fault)
            return Standing("member", name, whole=False)

    async def _memberships(self, person: Identity, found: Body) -> frozenset[str]:
        groups: set[str] = set()
        if self._departments:
            groups |= {f"department:{one}" for one in await self._above(found)}
        if self._groups:
            groups |= {f"user-group:{one}" for one in await self._user_groups(person)}
        return frozenset(groups)

    async def _above(self, found: Body) -> set[str]:
        """The departments of a person and all that these are part of."""
        reached: set[str] = set()
        for own in found.get("department_ids") or ():
            department = str(own)
            if department in reached or department == "0":
                continue
            reached.add(department)
            wanted = {"department_id": department, "department_id_type": "open_department_id"}
            async for page in self._pages("departments/parent", wanted):
                items = page.get("items") or ()
                reached |= {str(item.get("open_department_id") or "") for item in items} - {"", "0"}
        return reached

    async def _user_groups(self, person: Identity) -> set[str]:
        reached: set[str] = set()
        for kind in _GROUP_TYPES:
            wanted = {
                "member_id": person.user,
                "member_id_type": "open_id",
                "group_type": kind,
            }
            async for page in self._pages("group/member_belong", wanted):
                reached |= {str(one) for one in page.get("group_list") or ()}
        return reached

    async def _pages(self, path: str, wanted: Mapping[str, str]) -> AsyncIterator[Body]:
        token = ""
        for _ in range(_MOST_PAGES):
            more = {"page_token": token} if token else {}
            page = await self._api.address_book(path, {**wanted, "page_size": _PAGE, **more})
            yield page
            token = str(page.get("page_token") or "")
            if not token or not page.get("has_more"):
                return

"""The members of a Feishu chat.

The platform lists people only, no bots (FEISHU.md gives the calls; the fields are the SDK's
`im/v1` models). A person whose tenant is another one than the asker's is external.
"""

from __future__ import annotations

from agent.domain import ChatRef, Identity
from connectors.feishu.api import FeishuApi
from connectors.rooms import MOST, Roster
from connectors.wire import identifier, objects, whole

_PAGE = 100
_MOST_PAGES = MOST // _PAGE


class FeishuMembers:
    """Asks Feishu who is in a chat.

    Args:
        api: The client, as the app.
    """

    def __init__(self, api: FeishuApi) -> None:
        self._api = api

    async def roster(self, chat: ChatRef, asker: Identity) -> Roster:
        """The people of a chat; raises what the client's calls raise."""
        info = await self._api.chat_info(chat.chat)
        external = info.get("external") is not False
        if whole(info.get("user_count")) > MOST:
            return Roster(None, external)
        people: list[tuple[str, str, bool]] = []
        token = ""
        for _ in range(_MOST_PAGES):
            page = await self._api.chat_members(chat.chat, _PAGE, token)
            for member in objects(page.get("items")):
                tenant = identifier(member.get("tenant_key")) or asker.tenant
                user = identifier(member.get("member_id"))
                people.append((user, tenant, tenant != asker.tenant))
            token = str(page.get("page_token") or "")
            if page.get("has_more") is not True or not token:
                break
        else:
            return Roster(None, external)
        return Roster(tuple(people), external or any(outside for _, _, outside in people))

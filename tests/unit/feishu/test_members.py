"""Who is in a Feishu chat: pages, people of another tenant, and chats without a list."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from agent.domain import ChatRef, Identity
from agent.errors import PlumblineError
from connectors.feishu.api import FeishuApi
from connectors.feishu.members import FeishuMembers
from connectors.rooms import MOST, Roster
from tests.fakes.clock import FakeClock

ASKER = Identity("hengxing", "feishu", "cli_1", "tenant_demo", "ou_alice")
CHAT = ChatRef("oc_room", "group", "om_1")
Json = dict[str, Any]


class Group:
    """A chat of these open_ids with their tenants."""

    def __init__(self, people: dict[str, str], page: int = 100, **info: object) -> None:
        self.people = people
        self.page = page
        self.info: Json = {"external": False, "user_count": str(len(people))} | info
        self.calls: list[str] = []
        self.code = 0
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self.answer), base_url="http://feishu.test"
        )
        api = FeishuApi("cli_1", "s", "http://feishu.test", FakeClock(), client=client)
        self.members = FeishuMembers(api)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "tenant_access_token" in path:
            body = {"code": 0, "tenant_access_token": "t", "expire": 7200}
            return httpx.Response(200, json=body)
        self.calls.append(path.removeprefix("/open-apis/im/v1/chats/oc_room"))
        data = self.info
        if path.endswith("/members"):
            assert request.url.params["member_id_type"] == "open_id"
            at = int(request.url.params.get("page_token", "0"))
            rows = list(self.people.items())
            data = {
                "items": [
                    {"member_id": user, "member_id_type": "open_id", "tenant_key": tenant}
                    for user, tenant in rows[at : at + self.page]
                ],
                "has_more": at + self.page < len(rows),
                "page_token": str(at + self.page),
            }
        return httpx.Response(200, json={"code": self.code, "data": data})

    async def roster(self) -> Roster:
        return await self.members.roster(CHAT, ASKER)


async def test_people_come_page_by_page() -> None:
    room = Group({f"ou_{n}": "tenant_demo" for n in range(150)})
    roster = await room.roster()
    assert roster.people is not None
    assert [user for user, _, _ in roster.people] == list(room.people)
    assert not roster.outsiders
    assert room.calls == ["", "/members", "/members"]


async def test_people_of_another_tenant_are_external() -> None:
    room = Group({"ou_a": "tenant_demo", "ou_b": "tenant_other"})
    people = (("ou_a", "tenant_demo", False), ("ou_b", "tenant_other", True))
    assert await room.roster() == Roster(people, outsiders=True)


@pytest.mark.parametrize("external", [True, None, "yes"])
async def test_an_external_chat_has_outsiders_whoever_is_listed(external: object) -> None:
    room = Group({"ou_a": "tenant_demo"}, external=external)
    assert (await room.roster()).outsiders


async def test_too_many_people_have_no_list() -> None:
    many = {f"ou_{n}": "tenant_demo" for n in range(MOST + 1)}
    told = Group(many)
    assert await told.roster() == Roster(None, outsiders=False)
    assert told.calls == [""]
    assert await Group(many, user_count="?").roster() == Roster(None, outsiders=False)


async def test_a_chat_that_can_not_be_read_is_a_fault() -> None:
    room = Group({"ou_a": "tenant_demo"})
    room.code = 99991672
    with pytest.raises(PlumblineError):
        await room.roster()

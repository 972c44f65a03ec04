"""Who is in a Slack channel: pages, bots, guests, people of elsewhere, and what is not asked."""

from __future__ import annotations

import json
import urllib.parse
from typing import Any

import httpx
import pytest

from agent.domain import ChatRef, Identity
from agent.errors import PlumblineError
from connectors.rooms import MOST, Roster
from connectors.slack.api import SlackApi
from connectors.slack.members import SlackMembers
from tests.fakes.clock import FakeClock

ASKER = Identity("hengxing", "slack", "A0", "T0", "U0ALICE001")
CHAT = ChatRef("C0ROOM", "group", "1.0")
Json = dict[str, Any]


class Channel:
    """A channel with these users; `people` holds what users.info says beside the id."""

    def __init__(self, people: dict[str, Json], page: int = 1_000, **channel: object) -> None:
        self.people = people
        self.page = page
        self.channel: Json = {"num_members": len(people), "is_ext_shared": False} | channel
        self.calls: list[str] = []
        self.broken: set[str] = set()
        self.clock = FakeClock()
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self.answer), base_url="http://slack.test/api/"
        )
        self.members = SlackMembers(
            SlackApi("xoxb", "http://slack.test/api/", self.clock, client), self.clock
        )

    def answer(self, request: httpx.Request) -> httpx.Response:
        method = request.url.path.removeprefix("/api/")
        form = dict(urllib.parse.parse_qsl(request.content.decode()))
        self.calls.append(f"{method} {form.get('user', '')}".strip())
        if method in self.broken or form.get("user") in self.broken:
            return httpx.Response(200, json={"ok": False, "error": "internal_error"})
        body: Json = {"channel": self.channel}
        if method == "conversations.members":
            assert form["channel"] == CHAT.chat
            at = int(form.get("cursor", "0"))
            users = list(self.people)
            rest = at + self.page < len(users)
            body = {
                "members": users[at : at + self.page],
                "response_metadata": {"next_cursor": str(at + self.page) if rest else ""},
            }
        if method == "users.info":
            found = self.people[form["user"]]
            if "error" in found:
                return httpx.Response(200, json={"ok": False, **found})
            body = {"user": {"id": form["user"], "team_id": "T0", **found}}
        return httpx.Response(200, content=json.dumps({"ok": True, **body}))

    async def roster(self) -> Roster:
        return await self.members.roster(CHAT, ASKER)


async def test_people_come_page_by_page_and_bots_are_left_out() -> None:
    people: dict[str, Json] = {f"U{n}": {} for n in range(7)}
    room = Channel(people | {"U0BOT": {"is_bot": True}, "U0OLD": {"deleted": True}}, page=3)
    roster = await room.roster()
    assert roster == Roster(tuple((user, "T0", False) for user in people), outsiders=False)
    assert room.calls.count("conversations.members") == 3


@pytest.mark.parametrize(
    ("said", "tenant"),
    [
        ({"is_restricted": True}, "T0"),
        ({"is_ultra_restricted": True}, "T0"),
        ({"is_stranger": True}, "T0"),
        ({"team_id": "T9OTHER"}, "T9OTHER"),
    ],
)
async def test_guests_and_people_of_elsewhere_are_external(said: Json, tenant: str) -> None:
    room = Channel({"U1": {}, "U2": said})
    assert await room.roster() == Roster((("U1", "T0", False), ("U2", tenant, True)), True)


async def test_a_person_whom_slack_does_not_show_is_external() -> None:
    room = Channel({"U1": {}, "U2": {"error": "user_not_visible"}})
    assert (await room.roster()).outsiders


async def test_a_person_of_another_workspace_of_the_organisation_is_at_home() -> None:
    grid = {"team_id": "T9", "enterprise_user": {"enterprise_id": "T0"}}
    assert not (await Channel({"U1": {}, "U2": grid}).roster()).outsiders


@pytest.mark.parametrize("sign", ["is_ext_shared", "is_pending_ext_shared"])
async def test_a_shared_channel_needs_no_list(sign: str) -> None:
    room = Channel({"U1": {}}, **{sign: True})
    assert await room.roster() == Roster(None, outsiders=True)
    assert room.calls == ["conversations.info"]


async def test_too_many_people_have_no_list() -> None:
    many: dict[str, Json] = {f"U{n}": {} for n in range(MOST + 1)}
    told = Channel(many)
    assert await told.roster() == Roster(None, outsiders=False)
    assert told.calls == ["conversations.info"]
    silent = Channel(many, page=MOST, num_members=0)  # the number was not told
    assert await silent.roster() == Roster(None, outsiders=False)
    assert not any(c.startswith("users.info") for c in silent.calls)


async def test_somebody_who_can_not_be_looked_up_leaves_no_list() -> None:
    room = Channel({"U1": {}, "U2": {"is_restricted": True}, "U3": {}})
    room.broken.add("U3")
    assert await room.roster() == Roster(None, outsiders=True)


@pytest.mark.parametrize("method", ["conversations.info", "conversations.members"])
async def test_a_channel_that_can_not_be_read_is_a_fault(method: str) -> None:
    room = Channel({"U1": {}})
    room.broken.add(method)
    with pytest.raises(PlumblineError):
        await room.roster()


async def test_people_are_looked_up_once_a_day() -> None:
    room = Channel({"U1": {}, "U2": {}})
    await room.roster()
    room.clock.advance(3_600)
    await room.roster()
    assert room.calls.count("users.info U1") == 1
    room.people["U2"] = {"is_restricted": True}
    room.clock.advance(86_400)
    assert (await room.roster()).outsiders

"""The address books of both platforms, as their answers look; people are changed by tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx

from connectors.feishu.api import FeishuApi
from connectors.slack.api import SlackApi
from tests.fakes.clock import FakeClock

Json = dict[str, Any]


@dataclass
class AddressBook:
    """Feishu users by open_id and Slack users by id, in the platforms' own words.

    `parents` gives the departments above one, `user_groups` the members of Feishu user groups,
    `usergroups` those of Slack. `down` makes all calls fail with a 503, `refused` answers a path or
    method with a code or error name.
    """

    feishu: dict[str, Json] = field(default_factory=dict[str, Json])
    slack: dict[str, Json] = field(default_factory=dict[str, Json])
    parents: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    user_groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    usergroups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    refused: dict[str, Any] = field(default_factory=dict[str, Any])
    down: bool = False
    calls: list[str] = field(default_factory=list[str])

    def feishu_api(self, clock: FakeClock) -> FeishuApi:
        """A client whose other end is this book."""
        client = httpx.AsyncClient(
            base_url="http://lark.test", transport=httpx.MockTransport(self._feishu)
        )
        return FeishuApi("cli_x", "secret", "http://lark.test", clock, client=client)

    def slack_api(self, clock: FakeClock) -> SlackApi:
        """A client whose other end is this book."""
        base = "http://slack.test/api/"
        client = httpx.AsyncClient(base_url=base, transport=httpx.MockTransport(self._slack))
        return SlackApi("xoxb-x", base, clock, client)

    def _feishu(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.endswith("tenant_access_token/internal"):
            return httpx.Response(200, json={"code": 0, "tenant_access_token": "t", "expire": 7200})
        path = path.removeprefix("/open-apis/contact/v3/")
        self.calls.append(path)
        if self.down:
            return httpx.Response(503)
        if path in self.refused:
            return httpx.Response(400, json={"code": self.refused[path], "msg": "no"})
        kind, _, who = path.partition("/")
        query = dict(request.url.params)
        if kind == "users":
            found = self.feishu.get(who)
            if found is None:
                return httpx.Response(400, json={"code": 99992351, "msg": "not a valid open_id"})
            return httpx.Response(200, json={"code": 0, "data": {"user": found}})
        data: Json = {"has_more": False}
        if path == "departments/parent":
            names = self.parents.get(query["department_id"], [])
            data["items"] = [{"open_department_id": one} for one in names]
        elif query["group_type"] == "1":
            groups = self.user_groups.items()
            data["group_list"] = [g for g, people in groups if query["member_id"] in people]
        return httpx.Response(200, json={"code": 0, "data": data})

    def _slack(self, request: httpx.Request) -> httpx.Response:
        method = request.url.path.removeprefix("/api/")
        self.calls.append(method)
        if self.down:
            return httpx.Response(503)
        if method in self.refused:
            return httpx.Response(200, json={"ok": False, "error": self.refused[method]})
        if method == "usergroups.list":
            groups = [{"id": g, "users": people} for g, people in self.usergroups.items()]
            return httpx.Response(200, json={"ok": True, "usergroups": groups})
        found = self.slack.get(parse_qs(request.content.decode())["user"][0])
        if found is None:
            return httpx.Response(200, json={"ok": False, "error": "user_not_found"})
        return httpx.Response(200, json={"ok": True, "user": found})

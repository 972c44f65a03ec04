"""The directory against the simulated platforms, and these against the vendors' own clients."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk import WebClient

from agent.domain import EVERYONE, Identity, Platform
from agent.stores.memory_table import MemoryTable
from connectors.directory import OrganisationDirectory, People
from connectors.feishu.api import FeishuApi
from connectors.feishu.directory import FeishuPeople
from connectors.slack.api import SlackApi
from connectors.slack.directory import SlackPeople
from handlers.configuration import Configuration
from tests.contract.test_simulator_feishu import TokenCache
from tests.fakes.clock import FakeClock
from tests.fakes.simulator_process import RunningSimulator

RULES = Configuration(
    groups={
        "engineering": ("feishu:department:od-demo-engineering", "slack:usergroup:S0DEMOENGI"),
        "leadership": ("feishu:user-group:g-demo-leadership", "slack:usergroup:S0DEMOLEAD"),
        "company": ("feishu:department:od-demo-company",),
    }
)
CHEN = {
    "feishu": Identity("demo", "feishu", "cli_demo0000000001", "tenant_demo", "ou_demo_chen"),
    "slack": Identity("demo", "slack", "A0DEMO0001", "T0DEMO0001", "U0CHEN0001"),
}


@pytest.mark.parametrize("platform", ["feishu", "slack"])
async def test_groups_of_the_platform_become_reader_groups(
    simulator: RunningSimulator, platform: Platform
) -> None:
    clock = FakeClock()
    feishu = FeishuApi("cli_demo0000000001", "demo-app-secret", simulator.origin, clock)
    slack = SlackApi("xoxb-demo-bot", f"{simulator.origin}/api/", clock)

    def people(wanted: Platform) -> People:
        named = RULES.platform_groups(wanted)
        return (
            FeishuPeople(feishu, named) if wanted == "feishu" else SlackPeople(slack, clock, named)
        )

    directory = OrganisationDirectory(MemoryTable(), clock, "demo", RULES, people)
    person = CHEN[platform]
    company = {"group:company"} if platform == "feishu" else set[str]()
    assert await directory.labels(person) == {
        f"person:{platform}:{person.user}",
        EVERYONE,
        "group:engineering",
        "group:leadership",
        *company,
    }
    await feishu.close()
    await slack.close()


def test_the_vendors_clients_read_the_same(simulator: RunningSimulator) -> None:
    from lark_oapi import Client  # its import costs seconds
    from lark_oapi.api.contact.v3 import MemberBelongGroupRequest, ParentDepartmentRequest

    client: Any = Client.builder().app_id("cli_demo0000000001").app_secret("demo-app-secret")
    feishu: Any = client.domain(simulator.origin).cache(TokenCache()).build()
    belongs = MemberBelongGroupRequest.builder().member_id("ou_demo_chen")
    answer = feishu.contact.v3.group.member_belong(
        belongs.member_id_type("open_id").group_type(1).build()
    )
    assert answer.data.group_list == ["g-demo-engineering", "g-demo-leadership"]
    wanted = ParentDepartmentRequest.builder().department_id("od-demo-engineering")
    answer = feishu.contact.v3.department.parent(
        wanted.department_id_type("open_department_id").build()
    )
    assert [one.open_department_id for one in answer.data.items] == ["od-demo-company"]
    slack: Any = WebClient("xoxb-demo-bot", base_url=f"{simulator.origin}/api/")
    groups = slack.usergroups_list(include_users=True)["usergroups"]
    members = {group["handle"]: group["users"] for group in groups}
    assert members["leadership"] == ["U0CHEN0001", "U0EMIL0001"]

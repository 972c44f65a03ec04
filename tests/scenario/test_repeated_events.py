"""One act of a person is one turn, however often and under whatever time its event comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import phrases
from agent.domain import Platform
from agent.durable.snapshot import Snapshot
from tests.fakes.corner import Corner
from tests.fakes.scripted_model import ScriptedModel

HOTEL = "What is the hotel limit?"


@pytest.fixture(params=["feishu", "slack"])
def platform(request: pytest.FixtureRequest) -> Platform:
    return request.param


@pytest.fixture
def feishu(tmp_path: Path) -> Corner:
    return Corner(tmp_path, "feishu", ScriptedModel(lambda _: "Words."))


@pytest.fixture
def slack(tmp_path: Path) -> Corner:
    return Corner(tmp_path, "slack", ScriptedModel(lambda _: "Words."))


def menu(by: str = "ou_alice", entry: str = "status", **more: object) -> dict[str, object]:
    return {"operator": {"operator_id": {"open_id": by}, **more}, "event_key": entry}


MENU = "application.bot.menu_v6"


@pytest.mark.parametrize("answered", [True, False])
async def test_a_slash_command_that_comes_again_is_one_turn(slack: Corner, answered: bool) -> None:
    for _ in range(3):
        await slack.command("status", "trigger1")
        if answered:
            await slack.work()
        slack.hands.advance(140)
    await slack.work()
    assert len(slack.talk.said) == 1
    await slack.command("status", "trigger2")
    await slack.work()
    assert len(slack.talk.said) == 2, "asking again is another turn"


async def test_a_question_behind_a_slash_command_is_posted_once(slack: Corner) -> None:
    for _ in range(2):
        await slack.command(f"ask {HOTEL}", "trigger1", channel_id="C0ALL")
        await slack.work()
        slack.hands.advance(120)
    assert slack.talk.said == [HOTEL]
    assert slack.answers == ["Words."]


@pytest.mark.parametrize("answered", [True, False])
async def test_a_menu_entry_that_comes_again_is_one_turn(feishu: Corner, answered: bool) -> None:
    for _ in range(3):
        await feishu.deliver(MENU, menu(), "ev-menu")
        if answered:
            await feishu.work()
        feishu.hands.advance(140)
    await feishu.work()
    assert len(feishu.talk.said) == 1
    await feishu.deliver(MENU, menu(), "ev-menu-2")
    await feishu.work()
    assert len(feishu.talk.said) == 2


@pytest.mark.parametrize("answered", [True, False])
async def test_a_message_under_another_time_is_the_same_message(
    feishu: Corner, answered: bool
) -> None:
    for late in (0, 3, -2):
        await feishu.say(1, HOTEL, late=late, event=f"ev{late}")
        if answered:
            await feishu.work()
    await feishu.work()
    assert feishu.answers == ["Words."]
    assert len(await feishu.turns()) == 1


# --- the menu's "new" -----------------------------------------------------------------------------


async def cleared(bot: Corner, number: int) -> bool:
    return (await bot.remembered(number)).exchanges == Snapshot().exchanges


async def test_the_menus_new_forgets_the_direct_chat_of_that_person(feishu: Corner) -> None:
    for number in range(5, 12):  # sessions of groups stand before and behind the direct chat's
        await feishu.say(number, "What is the meal limit?", direct=False, mention=True)
    await feishu.say(1, HOTEL)
    await feishu.work()
    assert not await cleared(feishu, 1)
    await feishu.deliver(MENU, menu("ou_bob", "new"))
    await feishu.work()
    assert not await cleared(feishu, 1), "bob's menu is not alice's"
    for _ in range(2):
        await feishu.deliver(MENU, menu("ou_alice", "new"), "ev-new")
        await feishu.work()
    assert await cleared(feishu, 1)
    assert len((await feishu.remembered(5, direct=False)).exchanges) == 1
    assert feishu.talk.said == [phrases.cleared("zh")] * 2


async def test_the_menus_new_waits_for_the_question_that_is_before_it(feishu: Corner) -> None:
    await feishu.say(1, HOTEL)
    await feishu.work()
    await feishu.say(2, "And in Beijing?")
    feishu.hands.advance(30)
    await feishu.deliver(MENU, menu("ou_alice", "new"))
    await feishu.work()
    assert feishu.answers == ["Words.", "Words."]
    assert await cleared(feishu, 1)


# --- who it was -----------------------------------------------------------------------------------


async def askers(bot: Corner) -> list[tuple[str, bool]]:
    return [(r.question.act, r.question.asker.external) for r in await bot.turns()]


async def test_a_menu_entry_of_another_tenants_person_is_external(feishu: Corner) -> None:
    await feishu.deliver(MENU, menu(tenant_key="tenant"))
    await feishu.deliver(MENU, menu(tenant_key="elsewhere"))
    await feishu.work()
    assert await askers(feishu) == [("command", False), ("command", True)]
    assert phrases.external("zh") == feishu.talk.said[1], "no word of ours to strangers"


async def test_who_adds_us_to_an_external_group_is_known_as_such(feishu: Corner) -> None:
    added = {"chat_id": "oc_new", "operator_id": {"open_id": "ou_eve"}, "external": True}
    added["operator_tenant_key"] = "elsewhere"
    await feishu.deliver("im.chat.member.bot.added_v1", added)
    (record,) = await feishu.turns()
    assert record.question.asker.external
    assert record.question.platform_hints == {"outsiders": "1"}


async def test_a_person_of_another_tenant_makes_the_chat_one_with_outsiders(
    feishu: Corner,
) -> None:
    await feishu.say(1, HOTEL, direct=False, mention=True)
    await feishu.say(2, HOTEL, direct=False, mention=True, foreign=True)
    fields = feishu.message_event(3, HOTEL, direct=False, mention=True, named=("eve",))
    fields["message"]["mentions"][1]["tenant_key"] = "elsewhere"
    await feishu.deliver("im.message.receive_v1", fields)
    hints = {r.question.chat.message: r.question.platform_hints for r in await feishu.turns()}
    assert [hints[feishu.message(n)].get("outsiders", "") for n in (1, 2, 3)] == ["", "1", "1"]


async def test_a_slash_command_carries_the_workspace_or_enterprise_of_its_install(
    slack: Corner,
) -> None:
    await slack.command("status", "trigger1")
    await slack.command(
        "status",
        "trigger2",
        is_enterprise_install="true",
        team_id="T0SECOND",
        enterprise_id="E0ORG",
    )
    await slack.work()
    found = [r.question.asker.tenant for r in await slack.turns()]
    assert found == ["T0TEAM", "E0ORG"]


async def test_a_first_meeting_with_a_person_of_another_company_is_external(
    slack: Corner,
) -> None:
    opened = {"type": "app_home_opened", "tab": "messages", "channel": "D0ONE", "user": "U0EVE"}
    await slack.deliver("", opened | {"user_team": "T0ELSE"})
    await slack.deliver("", opened | {"user": "U0BOB", "user_team": "T0TEAM"})
    assert await askers(slack) == [("welcome", True), ("welcome", False)]

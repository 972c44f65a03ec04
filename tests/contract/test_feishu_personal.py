"""The six people of the sample company ask their own Feishu: who finds what, and who must not."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.domain import Identity, Json, Passage
from agent.errors import ToolFailed
from agent.ports import Tool, ToolResult
from agent.stores.system_clock import SystemClock
from connectors.access import ScopeMissing, SearchBudget, SignInNeeded
from connectors.feishu.personal import SCOPES, build_tools
from tests.fakes.access import FixedAccess
from tests.fakes.simulator_process import RunningSimulator

COMPANY = Path(__file__).parents[2] / "simulator" / "company"
PEOPLE = ("alice", "bob", "chen", "dana", "emil", "fang")
MESSAGES, DOCUMENTS, MINUTES = "search_my_messages", "search_my_documents", "search_my_minutes"
ALL_SCOPES = frozenset(scope for scopes in SCOPES.values() for scope in scopes)


def data(name: str) -> list[dict[str, Any]]:
    return json.loads((COMPANY / name).read_text("utf-8"))


ASKED: list[tuple[str, list[str], str, str]] = [
    # tool, queries (one language each, or both as the model is told to), words found, who may
    (MESSAGES, ["X-300 的发布日最后定在哪天？"], "3 月 18 日", "alice bob chen fang"),
    (MESSAGES, ["When is the X-300 launch?"], "3 月 18 日", "alice bob chen fang"),
    (MESSAGES, ["Which lidar supplier did we choose for the X-300?"], "600", "alice bob chen fang"),
    (MESSAGES, ["激光雷达最后选了哪家供应商？"], "Lumenkraft", "alice bob chen fang"),
    (
        MESSAGES,
        ["Why did the European robots stand still on 19 November?"],
        "mq-03",
        "alice bob chen",
    ),
    (MESSAGES, ["11月19日 mq-03 握手为什么失败？"], "expired", "alice bob chen"),
    (MESSAGES, ["充电桩供应商最后选了哪家？"], "恒电", "chen emil fang"),
    (MESSAGES, ["Dongqi liability cap"], "恒电", "chen emil fang"),
    (
        MESSAGES,
        ["When do we move to the fourth floor in Berlin?"],
        "12 December",
        "alice dana emil",
    ),
    (MESSAGES, ["Which raise did HR agree on for Bob?", "retention bonus"], "6 %", "dana emil"),
    (MESSAGES, ["Kingfisher 对赌怎么谈？"], "3900 万", "chen emil"),
    (MESSAGES, ["How many spare batteries do we bring?"], "Six", "alice bob"),
    (DOCUMENTS, ["How many robots go to the Rotterdam pilot?"], "Maashaven", "alice bob chen"),
    (DOCUMENTS, ["跑团每周几点在哪里集合？"], "7 号门", "alice bob chen dana emil fang"),
    (DOCUMENTS, ["德语课公司出多少？", "German course"], "80 %", "alice bob chen dana emil fang"),
    (DOCUMENTS, ["2027 招聘计划净增多少人？"], "61", "chen dana emil"),
    (DOCUMENTS, ["When does the Lyon service contract end?"], "2027-03-31", "alice emil fang"),
    (DOCUMENTS, ["月结检查清单有哪些？"], "暂估入账", "fang"),
    (DOCUMENTS, ["Austin lab shopping list"], "Torque wrench", "bob"),
    (DOCUMENTS, ["值班电话是多少？"], "8809", "alice bob chen"),
    (MINUTES, ["Which credit do customers get for the broker outage?"], "5 %", "alice bob chen"),
    (MINUTES, ["X-300 电池备件定价多少？"], "9,800", "alice bob chen fang"),
    (MINUTES, ["研发预算最后谈到多少？"], "2.26", "chen emil fang"),
    (MINUTES, ["What did the works council agree to?"], "80 hours", "dana emil"),
    (MINUTES, ["Who does the penetration test in January?"], "Kestrel", "bob chen emil"),
    (MINUTES, ["脚轮轴承的不良率是多少？"], "1,150", "chen fang"),
    (MINUTES, ["How many desks does the fourth floor get?"], "34", "alice dana emil"),
]


class Asker:
    """A person with fresh tools for each question."""

    def __init__(self, simulator: RunningSimulator, login: str, token: str = "") -> None:
        who = Identity("demo", "feishu", "cli_demo0000000001", "tenant_demo", f"ou_demo_{login}")
        self.access = FixedAccess(who, token or f"u-demo-{login}", ALL_SCOPES)
        self._origin = simulator.origin

    def tools(self) -> dict[str, Tool]:
        made = build_tools(self.access, self._origin, SystemClock(), SearchBudget(3))
        return {t.spec.name: t for tools in made.values() for t in tools}

    async def ask(self, tool: str, *queries: str, **more: Json) -> ToolResult:
        asked: list[Json] = list(queries)
        return await self.tools()[tool].call({"queries": asked, **more})


def words(passages: tuple[Passage, ...]) -> str:
    return "\n".join(f"{p.title}\n{p.text}" for p in passages)


def rest(simulator: RunningSimulator) -> None:
    """Let the platform's minute pass."""
    simulator.advance(61)


@pytest.mark.parametrize(("tool", "queries", "wanted", "who"), ASKED)
async def test_whoever_may_see_it_finds_it_and_nobody_else(
    simulator: RunningSimulator, tool: str, queries: list[str], wanted: str, who: str
) -> None:
    for login in PEOPLE:
        found = await Asker(simulator, login).ask(tool, *queries)
        assert (wanted in words(found.passages)) == (login in who.split()), login
        rest(simulator)


async def test_nobody_finds_what_another_sees(simulator: RunningSimulator) -> None:
    """Every passage of broad searches is of a chat, document or meeting of the asker."""
    chats = {c["feishu"]["chat_id"]: (set(c["members"]), c["messages"]) for c in data("chats.json")}
    docs = {d["title"]: d["readers"] for d in data("docs.json")}
    meetings = {m["title"]: {m["owner"], *m["participants"]} for m in data("minutes.json")}
    found = 0
    for login in PEOPLE:
        asker = Asker(simulator, login)
        unseen = [
            m["text"] for members, said in chats.values() if login not in members for m in said
        ]
        for broad in ("X-300", "Velta Berlin", "预算", "11 月"):
            for tool in (MESSAGES, DOCUMENTS, MINUTES):
                for p in (await asker.ask(tool, broad)).passages:
                    found += 1
                    assert f"person:feishu:ou_demo_{login}" in p.readers
                    if p.kind == "message":
                        (label,) = [r for r in p.readers if r.startswith("chat:")]
                        chat = label.removeprefix("chat:feishu:")
                        assert login in chats[chat][0]
                        assert not [text for text in unseen if len(text) > 12 and text in p.text]
                    elif p.kind == "document":
                        assert docs[p.title] == "everyone" or login in docs[p.title]
                    else:
                        assert login in meetings[p.title]
            rest(simulator)
    assert found > 60


async def test_every_call_is_the_askers_own(simulator: RunningSimulator) -> None:
    asker = Asker(simulator, "alice")
    tools = asker.tools()
    await tools[MESSAGES].call({"queries": ["X-300", "Velta"], "chat": "x300"})
    (first, *_) = (await tools[DOCUMENTS].call({"queries": ["Rotterdam"]})).passages
    (held, *_) = (await tools[MINUTES].call({"queries": ["Velta"]})).passages
    await tools["read_my_document"].call({"source": first.source})
    await tools["read_my_minutes"].call({"source": held.source})
    calls = simulator.get("calls")
    assert len(calls) > 20
    assert {call["person"] for call in calls} == {"alice"}
    assert {call["status"] for call in calls} == {200}


async def test_names_days_links_and_neighbours(simulator: RunningSimulator) -> None:
    (best, *_) = (await Asker(simulator, "emil").ask(MESSAGES, "retention bonus")).passages
    assert best.title.startswith("hr-confidential · ")
    assert "Emil" in best.text
    assert best.updated == "2026-11-05"
    assert best.text.count("\n") == 2
    assert best.url.startswith(f"{simulator.origin}/#platform=feishu&as=emil&chat=")
    (topic, *_) = (await Asker(simulator, "bob").ask(MESSAGES, "mq-03 certificate")).passages
    assert topic.text.startswith("2026-11-19 10:42 Alice Wagner: Topic:")
    (doc, *_) = (await Asker(simulator, "alice").ask(DOCUMENTS, "Rotterdam plan")).passages
    assert (doc.title, doc.updated) == ("Rotterdam pilot: installation plan", "2026-11-23")
    (held, *_) = (await Asker(simulator, "alice").ask(MINUTES, "Velta")).passages
    assert (held.title, held.updated) == ("Velta call", "2026-11-26")


async def test_days_and_chat_names_narrow_a_search(simulator: RunningSimulator) -> None:
    fang = Asker(simulator, "fang")
    early = await fang.ask(MESSAGES, "X-300", until="2026-10-31")
    assert {p.updated for p in early.passages} == {"2026-10-26"}
    lunch = await fang.ask(MESSAGES, chat="lunch", since="2026-11-18", until="2026-11-18")
    assert "兰州拉面" in words(lunch.passages)
    assert all("oc_demo_lunch_shanghai" in str(p.readers) for p in lunch.passages)
    held = await fang.ask(MINUTES, since="2026-11-09", until="2026-11-09")
    assert [p.title for p in held.passages] == ["供应链质量月会"]


async def test_what_is_said_in_a_meeting_is_read_by_speaker(simulator: RunningSimulator) -> None:
    tools = Asker(simulator, "chen").tools()
    (best, *_) = (await tools[MINUTES].call({"queries": ["预算 外包"]})).passages
    (read,) = (await tools["read_my_minutes"].call({"source": best.source})).passages
    assert "陈浩 00:03:20: 外包减 14 个，可以到 2.26 亿。" in read.text.splitlines()


async def test_a_question_just_asked_is_not_its_own_answer(simulator: RunningSimulator) -> None:
    simulator.say("feishu", "alice", "oc_demo_p2p_alice", "Where is the zebra badge?")
    assert (await Asker(simulator, "alice").ask(MESSAGES, "zebra badge")).passages == ()


async def test_a_busy_platform_is_waited_for(simulator: RunningSimulator) -> None:
    fault = {"kind": "rate_limit", "platform": "feishu", "path": "*/doc_wiki/search"}
    simulator.post("faults", {**fault, "retry_after": 0.05, "form": "decimal", "count": 1})
    assert (await Asker(simulator, "fang").ask(DOCUMENTS, "衡星跑团")).passages
    simulator.post("faults", {**fault, "retry_after": 60})
    with pytest.raises(ToolFailed, match="ask again in about 60 seconds"):
        await Asker(simulator, "fang").ask(DOCUMENTS, "衡星跑团")


@pytest.mark.parametrize("kind", ["html", "status", "drop", "bad_json"])
async def test_a_broken_platform_is_said(simulator: RunningSimulator, kind: str) -> None:
    simulator.post("faults", {"kind": kind, "platform": "feishu", "path": "*/minutes/search"})
    with pytest.raises(ToolFailed, match="minutes could not be searched"):
        await Asker(simulator, "chen").ask(MINUTES, "预算")
    assert (await Asker(simulator, "chen").ask(MESSAGES, "X-300")).passages


def signed_in(simulator: RunningSimulator, login: str, *scopes: str) -> str:
    app = {"client_id": "cli_demo0000000001"}
    query = {**app, "redirect_uri": "http://x/", "as": login, "scope": " ".join(scopes)}
    page = simulator.client.get("/open-apis/authen/v1/authorize", params=query)
    code = page.headers["location"].split("code=")[1].split("&")[0]
    body = {**app, "client_secret": "demo-app-secret", "code": code}
    answer = simulator.client.post(
        "/open-apis/authen/v2/oauth/token", json={**body, "grant_type": "authorization_code"}
    )
    return str(answer.json()["access_token"])


@pytest.mark.parametrize(("kind", "tool"), [("messages", MESSAGES), ("docs", DOCUMENTS)])
async def test_the_named_scopes_are_enough_and_each_is_needed(
    simulator: RunningSimulator, kind: str, tool: str
) -> None:
    asker = Asker(simulator, "bob", signed_in(simulator, "bob", *SCOPES[kind]))
    found = (await asker.ask(tool, "X-300")).passages
    assert found
    assert "somebody" not in words(found)
    with pytest.raises(ScopeMissing) as missing:
        await Asker(simulator, "bob", signed_in(simulator, "bob", "offline_access")).ask(tool, "X")
    assert missing.value.scopes <= set(SCOPES[kind])


async def test_the_scopes_of_minutes_are_enough(simulator: RunningSimulator) -> None:
    token = signed_in(simulator, "bob", *SCOPES["minutes"])
    tools = Asker(simulator, "bob", token).tools()
    (held, *_) = (await tools[MINUTES].call({"queries": ["Velta"]})).passages
    assert (await tools["read_my_minutes"].call({"source": held.source})).passages


async def test_a_token_that_ended_is_renewed_once(simulator: RunningSimulator) -> None:
    asker = Asker(simulator, "bob", signed_in(simulator, "bob", *ALL_SCOPES))
    simulator.post("revoke", {"platform": "feishu", "as": "bob"})
    asker.access.spares = ["u-demo-bob"]
    assert (await asker.ask(DOCUMENTS, "Rotterdam")).passages
    asker.access.current = "u-of-nobody"
    with pytest.raises(SignInNeeded):
        await asker.ask(DOCUMENTS, "Rotterdam")

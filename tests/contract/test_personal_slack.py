"""What each person finds in the simulated Slack with a token of their own, and nobody else does."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from slack_sdk import WebClient

from agent.domain import EVERYONE, Identity, Json, Passage
from agent.errors import ToolFailed
from agent.ports import Tool, ToolResult
from connectors.access import ScopeMissing, SearchBudget, SignInNeeded
from connectors.slack.personal import SCOPES, build_tools
from tests.fakes.access import FixedAccess
from tests.fakes.clock import FakeClock
from tests.fakes.simulator_process import RunningSimulator

LOGINS = ("alice", "bob", "chen", "dana", "emil", "fang")
USERS = {
    "alice": "U0ALICE001",
    "bob": "U0BOB00001",
    "chen": "U0CHEN0001",
    "dana": "U0DANA0001",
    "emil": "U0EMIL0001",
    "fang": "U0FANG0001",
}
ALL_SCOPES = frozenset(scope for scopes in SCOPES.values() for scope in scopes)
MOST_CALLS = {
    "search_my_messages": 1 + 1 + 3 * 3 + 5 + 5,
    "search_my_documents": 1 + 1 + 4,
    "search_my_minutes": 1 + 1 + 4,
}


class Person:
    """One person's tools in one turn."""

    def __init__(
        self, simulator: RunningSimulator, login: str, token: str = "", **hints: str
    ) -> None:
        who = Identity("demo", "slack", "A0DEMO0001", "T0DEMO0001", USERS[login])
        self.simulator = simulator
        self.access = FixedAccess(who, token or f"xoxp-demo-{login}", ALL_SCOPES)
        self.budget = SearchBudget(2)
        self._hints = hints

    @property
    def tools(self) -> dict[str, Tool]:
        built = build_tools(
            self.access,
            f"{self.simulator.origin}/api/",
            FakeClock(),
            self.budget,
            self._hints,
            "xoxb-demo-bot",
        )
        return {t.spec.name: t for kind in built.values() for t in kind}

    async def call(self, name: str, **arguments: Json) -> ToolResult:
        return await self.tools[name].call(arguments)


async def found(simulator: RunningSimulator, login: str, tool: str, query: str) -> list[Passage]:
    return list((await Person(simulator, login).call(tool, query=query)).passages)


def action_token(simulator: RunningSimulator) -> str:
    """The token that came with the first event."""
    event: Any = json.loads(simulator.wait_for(1)[0].body)["event"]
    return str(event["assistant_thread"]["action_token"])


def issued(simulator: RunningSimulator, login: str, scopes: frozenset[str]) -> str:
    """A token of a consent to these scopes alone."""
    asked = {"redirect_uri": "http://x/cb", "user_scope": ",".join(scopes), "as": login}
    back = simulator.client.get("/oauth/v2/authorize", params={**asked, "state": "s"})
    code = parse_qs(back.headers["location"].partition("?")[2])["code"][0]
    nobody: Any = WebClient(base_url=f"{simulator.origin}/api/")
    granted = nobody.oauth_v2_access(client_id="a", client_secret="b", code=code)
    return str(granted["authed_user"]["access_token"])


@pytest.mark.parametrize(
    ("query", "words", "readers", "channel"),
    [
        ("retention bonus for Bob, claw-back", "USD 15,000", ("dana", "emil"), "C0DEMO0005"),
        ("Kingfisher earn-out ceiling", "EUR 39 million", ("chen", "emil"), "C0DEMO0007"),
        ("Which firmware goes to the Rotterdam pilot?", "3.0.6", ("alice", "bob"), "D0DEMO0011"),
        ("年终奖的发放日定了吗", "1 月 29 日", ("dana", "fang"), "D0DEMO0012"),
    ],
)
async def test_private_words_are_found_by_their_readers_alone(
    simulator: RunningSimulator, query: str, words: str, readers: tuple[str, ...], channel: str
) -> None:
    for login in LOGINS:
        passages = await found(simulator, login, "search_my_messages", query)
        hits = [p for p in passages if words in p.text]
        assert bool(hits) == (login in readers), login
        for hit in hits:
            assert hit.private
            assert hit.readers == {f"chat:slack:{channel}", f"person:slack:{USERS[login]}"}
            assert channel in hit.url
            assert hit.kind == "message"
            assert hit.updated.startswith("2026-")


async def test_public_channels_are_everybodys(simulator: RunningSimulator) -> None:
    for login in LOGINS:
        hit = (await found(simulator, login, "search_my_messages", "CE testing slot lab"))[0]
        assert "CE testing slot slipped" in hit.text
        assert hit.readers == {EVERYONE}
        assert not hit.private
        assert hit.title.startswith("x300-launch · Bob Carter · 2026-10-26")


@pytest.mark.parametrize("tool", ["search_my_documents", "search_my_minutes"])
@pytest.mark.parametrize(
    ("query", "title", "readers", "meeting"),
    [
        ("Austin lab shopping list", "Austin lab shopping list", ("bob",), False),
        ("月结检查清单", "月结检查清单", ("fang",), False),
        ("Kingfisher board agenda", "Board agenda 17 December 2026", ("emil", "chen"), False),
        ("2027 预算第二轮", "2027 预算第二轮", ("fang", "chen", "emil"), True),
        ("HR round on-call and leave", "HR round: on-call and leave", ("dana", "emil"), True),
    ],
)
async def test_canvases_are_found_by_their_readers_alone(
    simulator: RunningSimulator,
    tool: str,
    query: str,
    title: str,
    readers: tuple[str, ...],
    meeting: bool,
) -> None:
    for login in LOGINS:
        hits = [p for p in await found(simulator, login, tool, query) if p.title == title]
        wanted = login in readers and (meeting or tool == "search_my_documents")
        assert bool(hits) == wanted, login
        for hit in hits:
            assert hit.source.startswith("sc-")
            assert hit.private
            assert hit.readers == {f"person:slack:{USERS[login]}"}
            assert hit.kind == ("document" if tool == "search_my_documents" else "minutes")
            assert hit.url.startswith("https://hengxing-demo.slack.com/docs/")


async def test_a_found_canvas_is_read_in_full(simulator: RunningSimulator) -> None:
    chen = Person(simulator, "chen")
    tools = chen.tools
    hits = (await tools["search_my_minutes"].call({"query": "2027 预算第二轮"})).passages
    source = next(p.source for p in hits if p.title == "2027 预算第二轮")
    whole = await tools["read_my_minutes"].call({"source": f"[src:{source}]"})
    (passage,) = whole.passages
    assert (passage.source, passage.score) == (source, 1.0)
    assert "**Fang Li" in passage.text or "**李芳" in passage.text
    assert whole.note.startswith("Page 1 of ")
    with pytest.raises(ToolFailed, match="no page 99"):
        await tools["read_my_minutes"].call({"source": source, "page": 99})


async def test_what_another_turn_found_can_not_be_read(simulator: RunningSimulator) -> None:
    query = {"query": "月结检查清单"}
    hits = (await Person(simulator, "fang").tools["search_my_documents"].call(query)).passages
    for login in ("alice", "fang"):
        with pytest.raises(ToolFailed, match="Search for it first"):
            await Person(simulator, login).call("read_my_document", source=hits[0].source)


async def test_uploaded_text_files_are_read_and_others_are_named(
    simulator: RunningSimulator,
) -> None:
    alice: Any = WebClient("xoxp-demo-alice", base_url=f"{simulator.origin}/api/")
    for name, content in (
        ("spare-parts.txt", "Gearbox list. " * 40 + "GX-7 costs EUR 410."),
        ("spare.pdf", "%PDF"),
    ):
        alice.files_upload_v2(channel="D0DEMO0011", filename=name, content=content)
    for login in LOGINS:
        hits = await found(simulator, login, "search_my_documents", "spare parts gearbox GX-7")
        mine = [p for p in hits if p.source.startswith("sf-")]
        assert bool(mine) == (login in ("alice", "bob")), login
        assert all("EUR 410" in p.text for p in mine if p.title == "spare-parts.txt")
    (pdf,) = [
        p
        for p in await found(simulator, "bob", "search_my_documents", "spare.pdf")
        if p.title == "spare.pdf"
    ]
    assert pdf.text == "spare.pdf"


@pytest.mark.parametrize("tool", sorted(MOST_CALLS))
async def test_a_tool_call_makes_few_calls_and_all_of_them_as_the_asker(
    simulator: RunningSimulator, tool: str
) -> None:
    before = len(simulator.get("calls"))
    assert await found(simulator, "chen", tool, "X-300 launch")
    made = simulator.get("calls")[before:]
    assert 0 < len(made) <= MOST_CALLS[tool]
    assert {call["person"] for call in made} == {"chen"}
    searches = [c for c in made if c["path"].endswith("assistant.search.context")]
    assert len(searches) == 1


async def test_without_a_sign_in_public_channels_alone_are_searched(
    simulator: RunningSimulator,
) -> None:
    simulator.say("slack", "dana", "D0DANA0001", "hello")
    token = action_token(simulator)
    dana = Person(simulator, "dana", action_token=token)
    dana.access.current = ""
    before = len(simulator.get("calls"))
    result = await dana.call("search_my_messages", query="CE testing slot lab")
    assert "Only public channels" in result.note
    assert result.passages[0].readers == {EVERYONE}
    assert not result.passages[0].private
    bonus = await dana.call("search_my_messages", query="retention bonus claw-back USD 15,000")
    assert not any("15,000" in p.text for p in bonus.passages)
    made = simulator.get("calls")[before:]
    assert [c["path"] for c in made] == ["/api/assistant.search.context"] * 2
    assert {c["body"]["channel_types"] for c in made} == {"public_channel"}
    for tool in ("search_my_documents", "search_my_minutes"):
        with pytest.raises(SignInNeeded):
            await dana.call(tool, query="x")
    with pytest.raises(SignInNeeded):
        await dana.call("search_my_messages", query="bonus", where="private")
    assert len(simulator.get("calls")) == before + 2


async def test_an_old_token_of_the_event_asks_for_a_sign_in(simulator: RunningSimulator) -> None:
    simulator.say("slack", "dana", "D0DANA0001", "hello")
    dana = Person(simulator, "dana", action_token=action_token(simulator))
    dana.access.current = ""
    simulator.advance(601)
    with pytest.raises(SignInNeeded, match="without a sign-in"):
        await dana.call("search_my_messages", query="CE testing slot lab")


async def test_fewer_scopes_are_said(simulator: RunningSimulator) -> None:
    scopes = ALL_SCOPES - {"search:read.private"}
    alice = Person(simulator, "alice", issued(simulator, "alice", scopes))
    with pytest.raises(ScopeMissing) as missing:
        await alice.call("search_my_messages", query="firmware")
    assert missing.value.scopes == {"search:read.private"}
    assert (await alice.call("search_my_messages", query="CE testing", where="public")).passages
    alice = Person(
        simulator, "alice", issued(simulator, "alice", ALL_SCOPES - {"search:read.files"})
    )
    with pytest.raises(ScopeMissing) as missing:
        await alice.call("search_my_minutes", query="Velta call")
    assert missing.value.scopes == {"search:read.files"}


async def test_the_vendors_client_finds_the_same(simulator: RunningSimulator) -> None:
    client: Any = WebClient("xoxp-demo-dana", base_url=f"{simulator.origin}/api/")
    answer = client.assistant_search_context(
        query="retention bonus competitor", channel_types=["private_channel"], limit=20
    )
    theirs = {hit["permalink"] for hit in answer["results"]["messages"]}
    dana = Person(simulator, "dana")
    ours = await dana.call(
        "search_my_messages", query="retention bonus competitor", where="private"
    )
    assert theirs
    assert {p.url for p in ours.passages} <= theirs

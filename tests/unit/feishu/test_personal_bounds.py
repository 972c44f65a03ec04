"""Whatever Feishu answers: few calls, bounded passages, no fault but our own."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import PlumblineError
from agent.ports import ToolResult
from connectors import wire
from connectors.feishu.personal import build_tools
from tests.fakes.clock import FakeClock
from tests.fakes.feishu_reading import ASKER, CHAT, ReadFeishu, fine, said

MOST_CALLS = {
    "search_my_messages": 16,
    "search_my_documents": 18,
    "search_my_minutes": 14,
    "read_my_document": 4,
    "read_my_minutes": 1,
}
"""HTTP calls of one tool call when nothing fails."""
NAMES = (
    *("message.search", "message.mget", "message.list", "chat.search", "chat.get", "chat.members"),
    *("docs.search", "docs.auth", "docs.markdown", "docs.raw", "wiki.node"),
    *("minutes.search", "minutes.artifacts", "minutes.transcript", "minutes.get"),
)
KEYS = (
    *("items", "meta_data", "message_id", "create_time", "from_id", "chat_id", "sender", "body"),
    *("content", "res_units", "result_meta", "token", "doc_types", "url", "node", "obj_token"),
    *("minute", "summary", "minute_todos", "minute_chapters", "start_ms", "title", "auth_result"),
    *("thread_id", "name", "display_info", "mentions", "deleted", "msg_type", "update_time"),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.text(max_size=20),
    st.sampled_from(["om_1", "oc_1", "docx", "wiki", "text", "../x", "1e999", '{"text":"a\\nb"}']),
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=25,
)


def check(result: ToolResult) -> None:
    assert len(result.passages) <= 8
    assert len(result.note) <= 300
    for p in result.passages:
        assert len(p.text) <= (6_000 if p.place.startswith("Page ") else 3_000)
        assert len(p.title) <= 300
        assert p.private
        assert f"person:feishu:{ASKER.user}" in p.readers
        assert all(r.startswith(("chat:feishu:", "person:feishu:")) for r in p.readers)
        assert p.url == "" or p.url.startswith(("https://", "http://"))
        json.dumps([p.text, p.title]).encode()
        f"{p.text}{p.title}{p.url}".encode()


@given(st.dictionaries(st.sampled_from(NAMES), DATA), st.sampled_from(sorted(MOST_CALLS)))
@settings(max_examples=150)
def test_nonsense_is_no_more_than_nonsense(answers: dict[str, Any], name: str) -> None:
    feishu = ReadFeishu()
    for called, data in answers.items():
        body = json.dumps({"code": 0, "data": data}, ensure_ascii=True)
        feishu.always[called] = httpx.Response(
            200, content=body.encode(), headers={"content-type": "application/json"}
        )
    arguments: Any = {"source": "fd-x"} if name.startswith("read") else {"queries": ["a b", "缓存"]}

    async def run() -> None:
        try:
            check(await feishu.tools[name].call(arguments))
        except PlumblineError:
            return

    asyncio.run(run())
    assert len(feishu.requests) <= MOST_CALLS[name]


def everything() -> ReadFeishu:
    """A platform with more of everything than is wanted."""
    feishu = ReadFeishu()
    feishu.budget.left = 9
    many = range(60)
    now = feishu.clock.now()
    messages = [
        said(f"om_{n}", "cache " * 2_000, now - 90_000 * (n + 1), chat_id=f"oc_{n}") for n in many
    ]
    feishu.always["message.search"] = fine({"items": [{"id": f"om_{n}"} for n in many]})
    feishu.always["message.mget"] = fine({"items": messages})
    first = messages[0]
    talk = [said(f"om_t{n}", "cache " * 2_000, now - 90_000, chat_id="oc_0") for n in range(19)]
    feishu.always["message.list"] = fine({"items": [*talk[:9], first, *talk[9:]]})
    feishu.always["chat.search"] = fine({"items": [{"chat_id": f"oc_{n}"} for n in many]})
    units = [
        {"result_meta": {"token": f"tok{n}", "doc_types": "WIKI"}, "title_highlighted": "x" * 900}
        for n in many
    ]
    feishu.always["docs.search"] = fine({"res_units": units, "has_more": True, "page_token": "2"})
    feishu.always["docs.raw"] = fine({"content": "cache " * 200_000})
    minutes = {"items": [{"token": f"m{n}"} for n in many], "has_more": True, "page_token": "2"}
    feishu.always["minutes.search"] = fine(minutes)
    feishu.always["minutes.artifacts"] = fine({"summary": "cache " * 9_000})
    feishu.always["minutes.transcript"] = httpx.Response(
        200, text="Ada 00:00:01\n" + "cache " * 200_000, headers={"content-type": "text/plain"}
    )
    return feishu


@pytest.mark.parametrize("name", ["search_my_messages", "search_my_documents", "search_my_minutes"])
async def test_a_flood_is_cut_to_the_bounds(name: str) -> None:
    feishu = everything()
    tools = feishu.tools
    more: dict[str, Any] = {"chat": "x"} if name == "search_my_messages" else {}
    found = await tools[name].call({"queries": ["cache", "缓存"], **more})
    check(found)
    assert found.passages
    assert len(feishu.requests) <= MOST_CALLS[name]
    reader = name.replace("search", "read").replace("documents", "document")
    if reader in tools:
        before = len(feishu.requests)
        check(await tools[reader].call({"source": found.passages[0].source, "page": 2}))
        assert len(feishu.requests) - before <= MOST_CALLS[reader]
    for query in feishu.queries("message.mget"):
        assert len(query["message_ids"].split(",")) <= 50


async def test_the_figures_of_the_bounds_are_reached() -> None:
    """So that the table above stays true, neither too small nor too large."""
    feishu = everything()
    tools = feishu.tools
    feishu.script["minutes.search"] = [fine({})] * 7
    feishu.script["minutes.search"].append(fine({"items": [{"token": f"m{n}"} for n in range(3)]}))
    queries: Any = {"queries": ["cache", "缓存"]}
    made: dict[str, int] = {}
    seen: dict[str, str] = {}
    for name, arguments in (
        ("search_my_messages", {**queries, "chat": "x"}),
        ("search_my_documents", queries),
        ("search_my_minutes", queries),
    ):
        feishu.requests.clear()
        found = await tools[name].call(arguments)
        made[name], seen[name] = len(feishu.requests), found.passages[0].source
    for name, search in (
        ("read_my_document", "search_my_documents"),
        ("read_my_minutes", "search_my_minutes"),
    ):
        feishu.requests.clear()
        await tools[name].call({"source": seen[search]})
        made[name] = len(feishu.requests)
    assert made == MOST_CALLS


def test_no_tool_lets_the_model_name_a_person_or_a_token() -> None:
    feishu = ReadFeishu()
    made = build_tools(feishu.access, "https://f.test", FakeClock(), feishu.budget)
    assert set(made) == {"messages", "docs", "minutes"}
    tools = [t for tools in made.values() for t in tools]
    assert sorted(t.spec.name for t in tools) == sorted(MOST_CALLS)
    for t in tools:
        assert t.effect == "private-read"
        assert set(t.topic) == {"zh", "en"}
        assert set(wire.members(t.spec.schema["properties"])) <= {
            "queries",
            "chat",
            "since",
            "until",
            "source",
            "page",
        }
        assert CHAT not in str(t.spec)

"""Calls with a person's token: which token, how often, and what each fault becomes."""

import json
import logging

import httpx
import pytest

from agent.domain import Json
from agent.errors import ForModel, ToolFailed
from agent.ports import ToolResult
from connectors.access import ScopeMissing, SignInNeeded
from connectors.feishu.personal.client import MOST_BYTES, path_part, user_calls
from tests.fakes.access import FixedAccess
from tests.fakes.feishu_reading import ASKER, FOUND, ReadFeishu, fine, refused, sample

QUERIES: dict[str, list[Json]] = {
    "search_my_documents": ["travel policy"],
    "search_my_messages": ["cache TTL"],
}


class Hollow(FixedAccess):
    """Gives what it has, a token or not."""

    async def token(self) -> str:
        return self.current


async def search(feishu: ReadFeishu, tool: str = "search_my_documents") -> ToolResult:
    return await feishu.tools[tool].call({"queries": QUERIES[tool]})


@pytest.mark.parametrize("token", ["", "t-tenant", "a-app"])
@pytest.mark.parametrize("tool", ["search_my_documents", "search_my_messages", "search_my_minutes"])
async def test_without_a_persons_token_nothing_is_sent(token: str, tool: str) -> None:
    feishu = ReadFeishu()
    feishu.access.current = token
    with pytest.raises(SignInNeeded):
        await feishu.tools[tool].call({"queries": ["cache"]})
    with pytest.raises(SignInNeeded):
        async with user_calls(Hollow(ASKER, token), feishu.connect, feishu.clock, 5) as calls:
            await calls.get("chat.get", "im/v1/chats/oc_1")
    assert feishu.requests == []


@pytest.mark.parametrize("code", [99991668, 99991677, 99991663])
async def test_a_refused_token_is_renewed_once(code: int) -> None:
    feishu = ReadFeishu(spares=("u-second", "u-third"))
    feishu.script["docs.search"] = [refused(code, 401)]
    found = await search(feishu)
    assert found.passages
    assert feishu.access.refused == ["u-first"]
    assert set(feishu.tokens[1:]) == {"Bearer u-second"}


async def test_the_store_is_asked_for_a_token_once_for_a_tool_call() -> None:
    feishu = ReadFeishu()
    await search(feishu, "search_my_messages")
    await search(feishu)
    assert feishu.access.asked == 2
    assert len(feishu.requests) > 8


async def test_a_refusal_with_http_200_counts() -> None:
    feishu = ReadFeishu(spares=("u-second",))
    feishu.script["docs.search"] = [sample("error_code_with_http_200")]
    assert (await search(feishu)).passages
    assert feishu.counts["docs.search"] == 2


async def test_a_new_token_that_is_refused_too_ends_in_a_sign_in() -> None:
    feishu = ReadFeishu(spares=("u-second", "u-third"))
    feishu.always["docs.search"] = sample("user_token_invalid")
    with pytest.raises(SignInNeeded):
        await search(feishu)
    assert feishu.tokens == ["Bearer u-first", "Bearer u-second"]


async def test_calls_that_are_refused_at_once_use_one_new_token() -> None:
    feishu = ReadFeishu(spares=("u-second", "u-third"))
    feishu.dead = {"Bearer u-first"}
    found = await feishu.tools["search_my_documents"].call({"queries": ["travel", "差旅"]})
    assert found.passages
    assert feishu.access.refused == ["u-first"]
    assert feishu.access.spares == ["u-third"]


async def test_a_missing_scope_names_what_to_ask_for() -> None:
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [sample("user_scope_missing")]
    with pytest.raises(ScopeMissing) as missing:
        await search(feishu)
    assert missing.value.scopes == {"minutes:minutes.search:read"}
    feishu.script["docs.search"] = [refused(99991676)]
    with pytest.raises(ScopeMissing):
        await search(feishu)


@pytest.mark.parametrize(
    ("code", "raised", "words"),
    [
        (230027, SignInNeeded, "230027"),
        (99991672, ToolFailed, "operator"),
        (99991543, ToolFailed, "operator"),
        (99991662, ToolFailed, "operator"),
        (99991673, ToolFailed, "operator"),
        (99991661, ToolFailed, "code 99991661"),
        (230002, ToolFailed, "code 230002"),
    ],
)
async def test_every_other_refusal_is_told_to_the_model(
    code: int, raised: type[ForModel], words: str
) -> None:
    feishu = ReadFeishu()
    feishu.always["docs.search"] = refused(code)
    with pytest.raises(raised, match=words) as failed:
        await search(feishu)
    assert feishu.counts["docs.search"] == 1
    assert raised is SignInNeeded or failed.value.__cause__ is not None


async def test_a_frequency_limit_is_waited_for() -> None:
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [sample("rate_limited"), refused(99991400)]
    start = feishu.clock.monotonic()
    assert (await search(feishu)).passages
    assert feishu.clock.monotonic() - start == pytest.approx(4.0)
    assert feishu.counts["docs.search"] == 3


async def test_a_limit_longer_than_the_tools_time_ends_in_advice() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.search"] = sample("rate_limited")
    with pytest.raises(ToolFailed, match="ask again in about 3 seconds"):
        await search(feishu)
    assert feishu.counts["docs.search"] == 4
    assert feishu.clock.monotonic() - 1_000.0 <= feishu.tools["search_my_documents"].timeout


@pytest.mark.parametrize(
    "fault", [sample("gateway_html"), httpx.Response(200, text="<html>"), httpx.Response(503)]
)
async def test_a_proxys_page_is_tried_once_more(fault: httpx.Response) -> None:
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [fault]
    assert (await search(feishu)).passages
    feishu = ReadFeishu()
    feishu.always["docs.search"] = fault
    with pytest.raises(ToolFailed, match="does not answer"):
        await search(feishu)
    assert feishu.counts["docs.search"] == 2


async def test_a_lost_connection_is_tried_once_more() -> None:
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [httpx.ReadError("lost")]
    assert (await search(feishu)).passages
    feishu.script["docs.search"] = [httpx.ConnectTimeout("x"), httpx.ReadError("x")]
    with pytest.raises(ToolFailed, match="does not answer"):
        await search(feishu)


async def test_an_endless_answer_is_not_read_to_its_end() -> None:
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [httpx.Response(200, content=b"x" * (MOST_BYTES + 1))]
    with pytest.raises(ToolFailed, match="too long"):
        await search(feishu)


async def test_each_tool_call_has_a_client_without_the_cookies_of_another() -> None:
    feishu = ReadFeishu()
    cookie = {"set-cookie": "session=of-somebody; Path=/", "content-type": "application/json"}
    body = json.dumps({"code": 0, "data": {}}).encode()
    feishu.script["docs.search"] = [httpx.Response(200, content=body, headers=cookie)]
    await search(feishu)
    await search(feishu)
    assert feishu.clients == 2
    assert all("cookie" not in request.headers for _, request in feishu.requests)


async def test_each_try_is_a_request_of_its_own() -> None:
    feishu = ReadFeishu(spares=("u-second",))
    feishu.script["docs.search"] = [sample("rate_limited"), refused(99991677)]
    await search(feishu)
    tries = [id(request) for name, request in feishu.requests if name == "docs.search"]
    assert len(set(tries)) == len(tries) == 3


async def test_the_log_has_the_platforms_id_and_no_word_of_anybody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "connectors")
    feishu = ReadFeishu()
    feishu.script["docs.search"] = [
        httpx.Response(
            400,
            json={"code": 1770032, "msg": "canary-text"},
            headers={"X-Tt-Logid": "20260101000000000000000000000001"},
        )
    ]
    with pytest.raises(ToolFailed):
        await feishu.tools["search_my_documents"].call({"queries": ["canary-query"]})
    await search(feishu, "search_my_messages")
    assert "20260101000000000000000000000001" in caplog.text
    for secret in ("canary", "u-first", "TTL", FOUND, "words of"):
        assert secret not in caplog.text


async def test_a_log_id_can_not_write_lines_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "connectors")
    feishu = ReadFeishu()
    answer = refused(1770032)
    answer.headers["x-tt-logid"] = "a b ERROR forged"
    feishu.script["docs.search"] = [answer]
    with pytest.raises(ToolFailed):
        await search(feishu)
    assert "forged" not in caplog.text


def test_no_id_leads_to_another_path() -> None:
    assert path_part("doxcn-0_1") == "doxcn-0_1"
    for hostile in ("../x", "a/b", "", "a?b", "a%2f", None, 7, "x" * 200):
        assert path_part(hostile) == ""


async def test_no_search_is_left_when_the_turn_has_made_three() -> None:
    feishu = ReadFeishu(searches=2)
    tools = feishu.tools
    assert (await tools["search_my_documents"].call({"queries": ["travel"]})).passages
    assert (await tools["search_my_messages"].call({"queries": ["cache"]})).passages
    before = len(feishu.requests)
    again = await tools["search_my_messages"].call({"queries": ["TTL"]})
    assert "Go on with what was found" in again.note
    with pytest.raises(ToolFailed, match="ask again later"):
        await tools["search_my_minutes"].call({"queries": ["cache"]})
    assert len(feishu.requests) == before


async def test_no_data_is_no_fault() -> None:
    feishu = ReadFeishu()
    for name in ("docs.search", "message.search", "minutes.search"):
        feishu.always[name] = fine({})
    for tool in ("search_my_documents", "search_my_messages", "search_my_minutes"):
        found = await feishu.tools[tool].call({"queries": ["cache"]})
        assert found.passages == ()
        feishu.budget.left = 3

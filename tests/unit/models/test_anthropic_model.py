"""Claude's adapter against a loopback server that plays recorded streams to the real client."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from agent.dialogue import (
    Block,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolReply,
    ToolSpec,
    Usage,
)
from agent.domain import Json
from agent.errors import (
    ContextTooLong,
    Misconfigured,
    ModelFailed,
    PlumblineError,
    RateLimited,
    Unavailable,
)
from agent.models.claude.client import AnthropicModel
from agent.models.claude.request import messages
from agent.models.tool_names import ToolNames
from tests.fakes.sse_server import CASES, Played, SseServer, fault, sse_case, sse_server

SEARCH = ToolSpec("search_knowledge", "Searches.", {"type": "object", "properties": {}})
READ = ToolSpec("read_document", "Reads.", {"type": "object", "properties": {}})
KEY = "sk-test-invented-key"
SECRET = "the salary of dana"


def asked(*history: Message, tools: tuple[ToolSpec, ...] = (SEARCH, READ)) -> ModelRequest:
    return ModelRequest("You are the desk.", tools, history, 512)


def user(*blocks: Block | str) -> Message:
    return Message("user", tuple(Text(b) if isinstance(b, str) else b for b in blocks))


async def play(server: SseServer, request: ModelRequest) -> tuple[list[ModelEvent], ModelReply]:
    model = AnthropicModel(api_key=KEY, model="case-model", base_url=server.address, timeout=2)
    try:
        events = [e async for e in model.stream(request)]
    finally:
        await model.aclose()
    last = events[-1]
    assert isinstance(last, ModelReply)
    return events, last


async def replied(played: Played, request: ModelRequest | None = None) -> ModelReply:
    async with sse_server([played]) as server:
        return (await play(server, request or asked(user("who is on call?"))))[1]


def sent(server: SseServer, n: int = -1) -> list[dict[str, Json]]:
    return cast("list[dict[str, Json]]", server.seen[n].body["messages"])


def stream_of(*blocks: Sequence[dict[str, Json]], stop: str = "end_turn") -> Played:
    """A stream of blocks, each given as its start and its deltas."""
    begin = sse_case("empty_final_turn").body.split("\n\n")[0]
    events: list[dict[str, Json]] = []
    for i, (start, *deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": i, "content_block": start})
        for delta in deltas:
            events.append({"type": "content_block_delta", "index": i, "delta": delta})
        events.append({"type": "content_block_stop", "index": i})
    ended: dict[str, Json] = {"stop_reason": stop}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}})
    events.append({"type": "message_stop"})
    lines = [f"event: {e['type']}\ndata: {json.dumps(e)}" for e in events]
    return Played("\n\n".join([begin, *lines]))


def text_block(*pieces: str) -> list[dict[str, Json]]:
    deltas: list[dict[str, Json]] = [{"type": "text_delta", "text": p} for p in pieces]
    return [{"type": "text", "text": ""}, *deltas]


# --- replies ---------------------------------------------------------------------------------


async def test_two_calls_of_one_reply_keep_their_order_and_arguments() -> None:
    reply = await replied(sse_case("two_parallel_calls"))
    assert reply.stop == "tools"
    assert reply.message.text == "Let me look in two places."
    assert reply.message.calls == (
        ToolCall("toolu_case_A", "search_knowledge", {"query": "on-call rota"}),
        ToolCall("toolu_case_B", "search_messages", {"query": "on-call swap"}),
    )
    assert reply.usage == Usage(50, 20, 0)
    assert reply.model == "case-model"


async def test_both_results_go_back_in_call_order_before_any_words() -> None:
    async with sse_server([sse_case("two_parallel_calls"), sse_case("empty_final_turn")]) as server:
        question = user("who is on call?")
        _, first = await play(server, asked(question))
        results = user(
            "and hurry",
            ToolReply("toolu_case_A", "Rota: Dana"),
            ToolReply("toolu_case_B", "", True),
        )
        await play(server, asked(question, first.message, results))
        content = cast("list[dict[str, Json]]", sent(server)[2]["content"])
    assert [c["type"] for c in content] == ["tool_result", "tool_result", "text"]
    assert [c.get("tool_use_id") for c in content[:2]] == ["toolu_case_A", "toolu_case_B"]
    assert [c.get("is_error") for c in content[:2]] == [False, True]
    assert content[1]["content"]


async def test_an_empty_text_is_neither_kept_nor_shown_nor_sent() -> None:
    async with sse_server([sse_case("empty_final_turn")]) as server:
        events, reply = await play(server, asked(user("hello", " ")))
        assert reply.message.blocks == ()
        assert events == [reply]
        stale = Message("assistant", (Text(""),))
        await play(server, asked(user("hello"), stale, user("\n"), user("again")))
        assert [(m["role"], len(cast("list[Json]", m["content"]))) for m in sent(server)] == [
            ("user", 1),
            ("user", 1),
        ]


async def test_blank_beginnings_are_held_and_deltas_join_to_the_text() -> None:
    async with sse_server([stream_of(text_block("\n", " ", "Hi ", "there"), text_block(" "))]) as s:
        events, reply = await play(s, asked(user("hello")))
    deltas = [e.text for e in events if isinstance(e, TextDelta)]
    assert deltas == ["\n Hi ", "there"]
    assert reply.message.blocks == (Text("\n Hi there"),)


async def test_a_call_cut_by_the_limit_has_no_arguments() -> None:
    reply = await replied(sse_case("max_tokens_inside_tool"))
    assert reply.stop == "length"
    assert reply.message.calls == (ToolCall("toolu_case_M", "delete_documents", None),)


async def test_a_cut_call_has_no_arguments_even_when_the_rest_is_json() -> None:
    whole = '{"filter": {"space": "tmp"}}'
    start: dict[str, Json] = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    delta: dict[str, Json] = {"type": "input_json_delta", "partial_json": whole}
    cut = await replied(stream_of([start, delta], stop="max_tokens"))
    assert cut.message.calls[0].arguments is None
    done = await replied(stream_of([start, delta], stop="tool_use"))
    assert done.message.calls[0].arguments == {"filter": {"space": "tmp"}}
    bare = await replied(stream_of([start], stop="tool_use"))
    assert bare.message.calls[0].arguments == {}


async def test_the_same_call_again_has_a_fresh_id_each_time() -> None:
    async with sse_server([sse_case("same_call_forever")]) as server:
        ids = [(await play(server, asked(user("payroll?"))))[1].message.calls[0].id for _ in "123"]
    assert ids == ["toolu_case_L1", "toolu_case_L2", "toolu_case_L3"]


async def test_a_stream_without_a_stop_reason_was_cut() -> None:
    reply = await replied(sse_case("stream_cut_no_stop"))
    assert reply.stop == "cut"
    assert reply.message.text == "The refund window is 30 days for"


async def test_a_call_that_never_closed_has_no_arguments() -> None:
    body = sse_case("two_parallel_calls").body.split("event: content_block_stop")
    reply = await replied(Played("event: content_block_stop".join(body[:3])))
    assert reply.stop == "cut"
    assert [c.arguments for c in reply.message.calls] == [{"query": "on-call rota"}, None]


async def test_thinking_that_never_closed_is_dropped() -> None:
    body = sse_case("thinking_then_tool").body.split("event: content_block_stop")[0]
    assert (await replied(Played(body))).message.blocks == ()


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tools"),
        ("max_tokens", "length"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "length"),
    ],
)
async def test_stop_reasons(reason: str, stop: str) -> None:
    assert (await replied(stream_of(text_block("Well"), stop=reason))).stop == stop


async def test_cached_tokens_are_part_of_the_input() -> None:
    usage = '{"input_tokens": 50, "output_tokens": 1}'
    cached = (
        '{"input_tokens": 5, "cache_creation_input_tokens": 20,'
        ' "cache_read_input_tokens": 900, "output_tokens": 1}'
    )
    body = sse_case("two_parallel_calls").body.replace(usage, cached)
    assert (await replied(Played(body))).usage == Usage(925, 20, 900)


# --- thinking --------------------------------------------------------------------------------


def saved_and_loaded(message: Message) -> Message:
    """What a snapshot does with the blocks of such a reply."""
    thinking, words, called = message.blocks
    assert isinstance(thinking, Thinking)
    assert isinstance(words, Text)
    assert isinstance(called, ToolCall)
    raw, text, arguments = json.loads(json.dumps([thinking.raw, words.text, called.arguments]))
    return replace(
        message, blocks=(Thinking(raw), Text(text), ToolCall(called.id, called.name, arguments))
    )


async def test_thinking_goes_back_untouched_also_after_save_and_load() -> None:
    async with sse_server([sse_case("thinking_then_tool"), sse_case("empty_final_turn")]) as server:
        question = user("who is on call?")
        _, first = await play(server, asked(question))
        result = user(ToolReply("toolu_case_T", "Rota: Dana"))
        for kept in (first.message, saved_and_loaded(first.message)):
            await play(server, asked(question, kept, result))
            assert sent(server)[1]["content"] == [
                {"type": "thinking", "thinking": "Need the rota.", "signature": "c2lnLWNhc2UtMQ=="},
                {"type": "text", "text": "Checking."},
                {
                    "type": "tool_use",
                    "id": "toolu_case_T",
                    "name": "search_knowledge",
                    "input": {"query": "rota"},
                },
            ]


async def test_redacted_thinking_is_kept_and_a_foreign_block_is_not_sent() -> None:
    hidden: dict[str, Json] = {"type": "redacted_thinking", "data": "Zm9vYmFy"}
    reply = await replied(stream_of([hidden], text_block("Yes.")))
    foreign = Thinking('{"reasoning_content": "of another vendor"}')
    history = replace(reply.message, blocks=(*reply.message.blocks, foreign))
    assert messages([history], ToolNames()) == [
        {"role": "assistant", "content": [hidden, {"type": "text", "text": "Yes."}]}
    ]


# --- prompt cache ----------------------------------------------------------------------------


def without_marks(value: Json) -> Json:
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(v) for v in value] if isinstance(value, list) else value


def marks(value: Json) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(marks(v) for v in value.values())
    return sum(marks(v) for v in value) if isinstance(value, list) else 0


def prompt(body: dict[str, Json]) -> bytes:
    """The cacheable prompt in the order that the API caches it."""
    parts = [body["tools"], body["system"], *cast("list[Json]", body["messages"])]
    return b"\n".join(json.dumps(without_marks(p)).encode() for p in parts)


async def test_each_step_starts_with_the_bytes_of_the_step_before() -> None:
    async with sse_server([sse_case("same_call_forever")]) as server:
        history = [user("payroll?")]
        for _ in range(5):
            _, reply = await play(server, asked(*history))
            result = ToolReply(reply.message.calls[0].id, "the calendar " * 20)
            history += [reply.message, user(result)]
        bodies = [s.body for s in server.seen]
    for before, after in pairwise(bodies):
        assert prompt(after).startswith(prompt(before))
        assert marks(after) == 4
        users = [m for m in cast("list[dict[str, Json]]", after["messages"]) if m["role"] == "user"]
        assert [marks(m) for m in users[-2:]] == [1, 1]
        assert marks(after["system"]) == marks(cast("list[Json]", after["tools"])[-1]) == 1


async def test_a_request_without_policy_and_tools_leaves_them_out() -> None:
    async with sse_server([sse_case("empty_final_turn")]) as server:
        await play(server, ModelRequest("", (), (user("hi"),)))
        assert {"system", "tools"}.isdisjoint(server.seen[0].body)


async def test_asked_for_words_it_may_not_call_and_keeps_its_tools() -> None:
    async with sse_server([sse_case("empty_final_turn")]) as server:
        await play(server, replace(asked(user("hi")), answer_now=True))
        await play(server, asked(user("hi")))
        await play(server, ModelRequest("", (), (user("hi"),), answer_now=True))
        last, free, bare = (s.body for s in server.seen)
    assert last["tool_choice"] == {"type": "none"}
    assert last["tools"] == free["tools"]
    assert "tool_choice" not in free
    assert "tool_choice" not in bare


# --- what must never be sent -----------------------------------------------------------------


async def test_lone_surrogates_are_replaced_and_pairs_are_kept() -> None:
    text = json.loads((CASES / "docs" / "lone_surrogate.json").read_text())["text"]
    call = ToolCall("t1", "search_knowledge", {"query": "\ud83d"})
    async with sse_server([sse_case("empty_final_turn")]) as server:
        await play(
            server,
            asked(user("x\udc00"), Message("assistant", (call,)), user(ToolReply("t1", text))),
        )
        content = cast("list[dict[str, Json]]", sent(server)[2]["content"])
        told = cast("list[dict[str, Json]]", sent(server)[1]["content"])
    assert content[0]["content"] == "Team cheered \ufffd and agreed on 5 May \U0001f600"
    assert told[0]["input"] == {"query": "\ufffd"}


# --- faults ----------------------------------------------------------------------------------


async def test_the_pause_that_a_rate_limit_names_is_kept() -> None:
    with pytest.raises(RateLimited) as limited:
        await replied(fault(429, "rate_limit_error", SECRET, retry_after="17"))
    assert limited.value.retry_after == 17.0
    date = {"date": "Tue, 01 Dec 2026 00:00:00 GMT", "retry_after": "Tue, 01 Dec 2026 00:00:30 GMT"}
    with pytest.raises(RateLimited) as limited:
        await replied(fault(429, "rate_limit_error", **date))
    assert limited.value.retry_after == 30.0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (fault(500, "api_error", SECRET), Unavailable),
        (fault(503, "", SECRET), Unavailable),
        (Played("<html>Bad gateway</html>", 502), Unavailable),
        (fault(529, "overloaded_error", SECRET), Unavailable),
        (fault(408, "timeout_error", SECRET), Unavailable),
        (fault(401, "authentication_error", SECRET), Misconfigured),
        (fault(403, "permission_error", SECRET), Misconfigured),
        (fault(400, "invalid_request_error", SECRET), ModelFailed),
        (fault(404, "not_found_error", SECRET), ModelFailed),
        (fault(413, "request_too_large", SECRET), ContextTooLong),
        (fault(400, "invalid_request_error", "prompt is too long: 9 > 8 maximum"), ContextTooLong),
    ],
)
async def test_error_statuses(answer: Played, error: type[PlumblineError]) -> None:
    async with sse_server([answer]) as server:
        with pytest.raises(error) as raised:
            await play(server, asked(user(SECRET)))
        assert len(server.seen) == 1
    assert raised.type is error
    assert SECRET not in str(raised.value)
    assert KEY not in str(raised.value)
    assert raised.value.__suppress_context__
    assert str(answer.status) in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", Unavailable),
        ("api_error", Unavailable),
        ("rate_limit_error", RateLimited),
        ("invalid_request_error", ModelFailed),
    ],
)
async def test_an_error_event_in_a_good_stream(kind: str, error: type[PlumblineError]) -> None:
    begun = sse_case("stream_cut_no_stop").body.rstrip()
    event = f"event: error\ndata: {fault(200, kind, SECRET).body}"
    with pytest.raises(error) as raised:
        await replied(Played(f"{begun}\n\n{event}\n\n"))
    assert raised.type is error
    assert SECRET not in str(raised.value)


async def test_a_lost_connection_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        await replied(sse_case("stream_cut_no_stop", ending="abort"))
    with pytest.raises(Unavailable):
        await replied(Played("event: message_start\ndata: {oops\n\n"))
    async with sse_server([]) as server:
        address = server.address
    model = AnthropicModel(api_key=KEY, model="case-model", base_url=address)
    with pytest.raises(Unavailable):
        _ = [e async for e in model.stream(asked(user("hi")))]
    await model.aclose()


async def test_silence_is_unavailable() -> None:
    async with sse_server([sse_case("stream_cut_no_stop", ending="hang")]) as server:
        model = AnthropicModel(
            api_key=KEY, model="case-model", base_url=server.address, timeout=0.1
        )
        with pytest.raises(Unavailable, match="in time"):
            _ = [e async for e in model.stream(asked(user("hi")))]
        await model.aclose()


async def test_leaving_a_stream_early_closes_its_connection() -> None:
    async with sse_server([sse_case("stream_cut_no_stop", ending="hang")]) as server:
        model = AnthropicModel(api_key=KEY, model="case-model", base_url=server.address)
        async with aclosing(model.stream(asked(user("hi")))) as events:
            assert await anext(events) == TextDelta("The refund window is ")
        await asyncio.wait_for(server.gone.wait(), 2)
        await model.aclose()


async def test_neither_key_nor_words_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await replied(sse_case("two_parallel_calls"), asked(user(SECRET)))
        with pytest.raises(ModelFailed):
            await replied(fault(400, "invalid_request_error", SECRET), asked(user(SECRET)))
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["", "sk-\u4e2d", "sk-\n"])
def test_a_key_that_can_not_be_one_is_refused_by_name(key: str) -> None:
    with pytest.raises(Misconfigured, match="ANTHROPIC_API_KEY"):
        AnthropicModel(api_key=key, model="case-model")

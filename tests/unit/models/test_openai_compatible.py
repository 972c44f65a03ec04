"""The chat completions adapter against a loopback server that plays recorded streams."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import cast

import pytest

from agent.dialogue import (
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
    ModelRefused,
    PlumblineError,
    RateLimited,
    Unavailable,
)
from agent.models.catalogue import capability
from agent.models.openai_compatible.client import OpenAICompatibleModel
from tests.fakes.sse_server import CASES, Played, SseServer, model_stream, sse_server

SEARCH = ToolSpec("search_knowledge", "Searches.", {"type": "object", "properties": {}})
KEY = "sk-invented-key"
SECRET = "the salary of dana"


def user(*blocks: Text | ToolReply | str) -> Message:
    return Message("user", tuple(Text(b) if isinstance(b, str) else b for b in blocks))


def asked(*history: Message, answer_now: bool = False) -> ModelRequest:
    return ModelRequest("You are the desk.", (SEARCH,), history, 512, answer_now)


def model_at(address: str, timeout: float = 2, key: str = KEY) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        base_url=f"{address}/v1/", about=capability("case-model"), api_key=key, timeout=timeout
    )


async def play(server: SseServer, request: ModelRequest) -> tuple[list[ModelEvent], ModelReply]:
    model = model_at(server.address)
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


def pieces(*deltas: Mapping[str, Json], finish: str | None = "stop") -> Played:
    """A stream of these deltas; the last piece carries the finish reason."""
    made: list[Json] = [{"choices": [{"index": 0, "delta": dict(d)}]} for d in deltas]
    made.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return Played("".join(f"data: {json.dumps(m)}\n\n" for m in made) + "data: [DONE]\n\n")


def called(
    index: int | None, id_: str | None, name: str | None, arguments: Json
) -> dict[str, Json]:
    function: dict[str, Json] = {"arguments": arguments}
    if name is not None:
        function["name"] = name
    made: dict[str, Json] = {"function": function}
    if index is not None:
        made["index"] = index
    if id_ is not None:
        made["id"] = id_
    return {"tool_calls": [made]}


def refused(status: int, body: Json, **headers: str) -> Played:
    return Played(json.dumps(body), status, {k.replace("_", "-"): v for k, v in headers.items()})


# --- replies ---------------------------------------------------------------------------------


async def test_parallel_calls_are_put_together_by_their_index() -> None:
    reply = await replied(model_stream("openai_parallel_calls"))
    assert reply.stop == "tools"
    assert reply.message.blocks == (
        Text("Let me look in two places."),
        ToolCall("call_case_A", "search_knowledge", {"query": "on-call rota"}),
        ToolCall("call_case_B", "search_messages", {"query": "on-call swap"}),
    )
    assert reply.usage == Usage(120, 30, 64)
    assert reply.model == "case-model"


async def test_calls_that_come_whole_under_one_index_are_two() -> None:
    reply = await replied(model_stream("qwen_whole_calls"))
    assert reply.message.calls == (
        ToolCall("call_7", "search_knowledge", {"query": "值班表"}),
        ToolCall("call_8", "search_messages", {"query": "换班"}),
    )
    assert reply.usage == Usage(50, 9, 0)


async def test_arguments_may_be_an_object_and_ids_empty() -> None:
    reply = await replied(model_stream("ollama_object_arguments"))
    assert reply.stop == "tools", "calls end a reply for tools, whatever the server says"
    first, second = reply.message.calls
    assert first.arguments == {"query": "rota", "top_k": 3}
    assert second.arguments == {"query": "swap"}
    assert first.id
    assert second.id
    assert first.id != second.id
    assert reply.usage == Usage()


async def test_made_ids_are_the_same_on_a_second_try_and_differ_from_step_to_step() -> None:
    played = model_stream("ollama_object_arguments")
    question = user("who is on call?")
    once, again = await replied(played, asked(question)), await replied(played, asked(question))
    assert [c.id for c in once.message.calls] == [c.id for c in again.message.calls]
    results = user(*(ToolReply(c.id, "x") for c in once.message.calls))
    later = await replied(played, asked(question, once.message, results))
    assert not {c.id for c in later.message.calls} & {c.id for c in once.message.calls}


async def test_an_id_used_twice_is_used_once_in_a_reply_and_in_a_conversation() -> None:
    played = model_stream("local_same_id_twice")
    first = await replied(played)
    ids = [c.id for c in first.message.calls]
    assert ids[0] == "call_0"
    assert len(set(ids)) == 2
    results = user(*(ToolReply(i, "x") for i in ids))
    second = await replied(played, asked(user("q"), first.message, results))
    assert len({*ids, *(c.id for c in second.message.calls)}) == 4


async def test_pieces_without_an_index_belong_to_the_call_before() -> None:
    reply = await replied(
        pieces(
            called(None, "c1", "search_knowledge", '{"query"'),
            called(None, None, None, ': "a"}'),
            called(None, "c2", "search_knowledge", '{"query": "b"}'),
            finish="tool_calls",
        )
    )
    assert [(c.id, c.arguments) for c in reply.message.calls] == [
        ("c1", {"query": "a"}),
        ("c2", {"query": "b"}),
    ]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("null", {}),
        ('"{\\"query\\": \\"a\\"}"', {"query": "a"}),
        ('{"query": ', None),
        ('"words"', None),
        ('"\\', None),
        ("[1]", None),
    ],
)
async def test_forms_of_arguments(text: str, arguments: Json) -> None:
    reply = await replied(pieces(called(0, "c1", "search_knowledge", text), finish="tool_calls"))
    assert reply.message.calls[0].arguments == arguments


async def test_a_name_that_is_repeated_or_comes_in_parts_is_one_name() -> None:
    repeated = pieces(
        called(0, "c1", "search", "{"), called(0, "c1", "search", "}"), finish="tool_calls"
    )
    assert (await replied(repeated)).message.calls == (ToolCall("c1", "search", {}),)
    parts = pieces(called(0, "c1", "sea", ""), called(0, None, "rch", "{}"), finish="tool_calls")
    assert (await replied(parts)).message.calls == (ToolCall("c1", "search", {}),)


async def test_a_call_cut_by_the_limit_has_no_arguments_even_when_the_rest_is_json() -> None:
    reply = await replied(model_stream("length_inside_call"))
    assert reply.stop == "length"
    assert reply.message.calls == (ToolCall("call_case_M", "delete_documents", None),)


async def test_c_ag_08_a_stream_without_a_reason_was_cut() -> None:
    reply = await replied(model_stream("cut_without_reason"))
    assert reply.stop == "cut"
    assert reply.message.text == "The refund window is 30 days for"


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end"),
        ("tool_calls", "end"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("insufficient_system_resource", "cut"),
        ("eos", "end"),
        (None, "cut"),
    ],
)
async def test_finish_reasons(reason: str | None, stop: str) -> None:
    assert (await replied(pieces({"content": "Well"}, finish=reason))).stop == stop


async def test_a_refusal_in_a_field_of_its_own_is_a_refusal() -> None:
    reply = await replied(pieces({"refusal": "I can not help with that."}))
    assert reply.stop == "refusal"
    assert reply.message.text == ""


async def test_blank_beginnings_are_held_and_deltas_join_to_the_text() -> None:
    played = pieces(*({"content": t} for t in ("\n", " ", "Hi ", "there")))
    async with sse_server([played, pieces({"content": " \n"})]) as server:
        events, reply = await play(server, asked(user("hello")))
        assert [e.text for e in events if isinstance(e, TextDelta)] == ["\n Hi ", "there"]
        assert reply.message.blocks == (Text("\n Hi there"),)
        assert (await play(server, asked(user("hello"))))[1].message.blocks == ()


async def test_content_in_parts_and_a_whole_completion_are_read() -> None:
    parts: list[Json] = [{"type": "text", "text": "Hi "}, {"type": "other"}]
    assert (await replied(pieces({"content": parts}))).message.text == "Hi "
    whole: Json = {
        "model": "m",
        "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    played = Played(json.dumps(whole), headers={"content-type": "application/json"})
    reply = await replied(played)
    assert (reply.message.text, reply.stop, reply.usage) == ("Hi", "end", Usage(3, 1))


async def test_comments_line_ends_and_line_separators_inside_the_words() -> None:
    played = model_stream("comments_between")
    assert (await replied(played)).message.text == "one\u2028two"
    crlf = Played(played.body.replace("\n", "\r\n"))
    assert (await replied(crlf)).message.text == "one\u2028two"


# --- thinking --------------------------------------------------------------------------------


async def test_c_ag_09_reasoning_is_no_text_and_goes_back_with_its_calls() -> None:
    async with sse_server([model_stream("deepseek_reasoning_then_call")]) as server:
        question = user("who is on call?")
        events, first = await play(server, asked(question))
        assert [e.text for e in events if isinstance(e, TextDelta)] == ["Checking."]
        assert isinstance(first.message.blocks[0], Thinking)
        assert first.usage == Usage(40, 12, 32)
        await play(server, asked(question, first.message, user(ToolReply("call_00_case", "Dana"))))
        assert sent(server)[2:] == [
            {
                "role": "assistant",
                "content": "Checking.",
                "tool_calls": [
                    {
                        "id": "call_00_case",
                        "type": "function",
                        "function": {"name": "search_knowledge", "arguments": '{"query": "rota"}'},
                    }
                ],
                "reasoning_content": "Need the rota.",
            },
            {"role": "tool", "tool_call_id": "call_00_case", "content": "Dana"},
        ]


async def test_reasoning_of_an_answer_and_of_another_vendor_stays_here() -> None:
    ours = Thinking('{"reasoning_content": "Hm."}')
    claude = Thinking('{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}')
    answer = Message("assistant", (ours, Text("30 days.")))
    calling = Message("assistant", (claude, ToolCall("c1", "search_knowledge", {})))
    async with sse_server([model_stream("openai_answer")]) as server:
        history = (user("a"), answer, user("b"), calling, user(ToolReply("c1", "x")))
        await play(server, asked(*history))
        assert "Hm." not in json.dumps(server.seen[0].body)


async def test_thoughts_at_the_beginning_of_the_text_are_not_shown() -> None:
    async with sse_server([model_stream("inline_think")]) as server:
        events, reply = await play(server, asked(user("how long?")))
    assert reply.message.text == "It is 30 days, not <think> or so."
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == reply.message.text
    assert (await replied(pieces({"content": "<think>on and on"}))).message.text == ""
    assert (await replied(pieces({"content": "<th"}))).message.text == "<th"


# --- requests --------------------------------------------------------------------------------


async def test_the_request_in_the_servers_words() -> None:
    call = ToolCall("c1", "search_knowledge", {"query": "值班"})
    history = (
        user("q", " "),
        Message("assistant", (call,)),
        user("and hurry", ToolReply("c1", "", error=True)),
        Message("assistant", (Text(" "),)),
        user("more", "words"),
    )
    async with sse_server([model_stream("openai_answer")]) as server:
        await play(server, asked(*history, answer_now=True))
        seen = server.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["stream"] is True
    assert seen.body["stream_options"] == {"include_usage": True}
    assert seen.body["max_tokens"] == 512
    assert seen.body["tool_choice"] == "none"
    assert seen.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "search_knowledge",
                "description": "Searches.",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]
    system, first, calling, result, hurry, more = sent(server)
    assert system == {"role": "system", "content": "You are the desk."}
    assert first == {"role": "user", "content": "q"}
    assert calling["content"] is None
    assert result["role"] == "tool"
    assert result["content"] == "This call failed. (empty result)"
    assert hurry == {"role": "user", "content": "and hurry"}
    assert more["content"] == "more\n\nwords"


async def test_without_key_policy_and_tools_they_are_left_out() -> None:
    async with sse_server([model_stream("openai_answer")]) as server:
        model = model_at(server.address, key="")
        _ = [e async for e in model.stream(ModelRequest("", (), (user("hi"),), answer_now=True))]
        await model.aclose()
        seen = server.seen[0]
    assert "authorization" not in seen.headers
    assert {"tools", "tool_choice"}.isdisjoint(seen.body)
    assert sent(server) == [{"role": "user", "content": "hi"}]


async def test_lone_surrogates_never_go_out() -> None:
    text = json.loads((CASES / "docs" / "lone_surrogate.json").read_text())["text"]
    async with sse_server([model_stream("openai_answer")]) as server:
        await play(server, asked(user(text)))
    assert sent(server)[1]["content"] == "Team cheered \ufffd and agreed on 5 May \U0001f600"


async def test_fields_that_a_server_does_not_know_are_left_out_from_then_on() -> None:
    def unknown(text: str) -> Played:
        return refused(400, {"error": {"message": text, "type": "invalid_request_error"}})

    answers = [
        unknown("Unrecognized request argument supplied: stream_options"),
        unknown("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        model_stream("openai_answer"),
    ]
    async with sse_server(answers) as server:
        model = model_at(server.address)
        for _ in "12":
            events = [e async for e in model.stream(asked(user("hi")))]
            assert isinstance(events[-1], ModelReply)
        await model.aclose()
        assert len(server.seen) == 4
        for seen in server.seen[2:]:
            assert {"stream_options", "max_tokens"}.isdisjoint(seen.body)
            assert seen.body["max_completion_tokens"] == 512


# --- faults ----------------------------------------------------------------------------------

OPENAI_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in"
)
VLLM_LONG: Json = {
    "object": "error",
    "message": OPENAI_LONG,
    "type": "BadRequestError",
    "code": 400,
}
DASHSCOPE_LONG = "Range of input length should be [1, 98304]"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refused(500, {"error": {"message": SECRET}}), Unavailable),
        (Played("<html>Bad gateway</html>", 502, {"content-type": "text/html"}), Unavailable),
        (Played("", 503), Unavailable),
        (refused(408, {}), Unavailable),
        (refused(401, {"error": {"message": SECRET, "code": "invalid_api_key"}}), Misconfigured),
        (refused(403, {"detail": SECRET}), Misconfigured),
        (refused(402, {"error": {"message": "Insufficient Balance"}}), Misconfigured),
        (refused(429, {"error": {"code": "insufficient_quota"}}), Misconfigured),
        (refused(404, {"error": "model 'x' not found"}), Misconfigured),
        (Played("<html>no page</html>", 404, {"content-type": "text/html"}), Misconfigured),
        (refused(400, {"error": {"message": SECRET, "code": "bad"}}), ModelFailed),
        (refused(422, {"detail": [{"msg": SECRET}]}), ModelFailed),
        (refused(400, {"error": {"code": "context_length_exceeded"}}), ContextTooLong),
        (refused(400, {"error": {"message": OPENAI_LONG}}), ContextTooLong),
        (refused(400, VLLM_LONG), ContextTooLong),
        (refused(400, {"error": {"message": DASHSCOPE_LONG}}), ContextTooLong),
        (refused(413, {}), ContextTooLong),
        (refused(400, {"error": {"code": "content_filter"}}), ModelRefused),
        (refused(400, {"error": {"code": "data_inspection_failed"}}), ModelRefused),
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
    assert str(answer.status) in str(raised.value)


async def test_the_pause_that_a_rate_limit_names_is_kept() -> None:
    with pytest.raises(RateLimited) as limited:
        await replied(refused(429, {"error": {"message": "slow"}}, retry_after="17"))
    assert limited.value.retry_after == 17.0


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"error": {"message": "The server is overloaded", "code": 503}}, Unavailable),
        ({"error": {"message": SECRET, "type": "rate_limit_error"}}, RateLimited),
        ({"error": {"message": OPENAI_LONG, "code": 400}}, ContextTooLong),
        ({"error": {"message": SECRET, "code": "bad"}}, ModelFailed),
        ({"error": SECRET}, Unavailable),
    ],
)
async def test_an_error_in_a_good_stream(said: Json, error: type[PlumblineError]) -> None:
    begun = model_stream("cut_without_reason").body
    with pytest.raises(error) as raised:
        await replied(Played(f"{begun}data: {json.dumps(said)}\n\n"))
    assert raised.type is error
    assert SECRET not in str(raised.value)


async def test_a_page_with_a_good_status_names_the_address_setting() -> None:
    with pytest.raises(Misconfigured, match="PLUMBLINE_OPENAI_BASE_URL"):
        await replied(Played("<html>hello</html>", headers={"content-type": "text/html"}))


async def test_lost_connections_and_rubbish_are_unavailable() -> None:
    for played in (
        model_stream("cut_without_reason", ending="abort"),
        Played("data: {oops\n\n"),
        Played("data: 7\n\n"),
    ):
        with pytest.raises(Unavailable):
            await replied(played)
    async with sse_server([]) as server:
        address = server.address
    model = model_at(address)
    with pytest.raises(Unavailable):
        _ = [e async for e in model.stream(asked(user("hi")))]
    await model.aclose()


async def test_silence_is_unavailable() -> None:
    async with sse_server([model_stream("cut_without_reason", ending="hang")]) as server:
        model = model_at(server.address, timeout=0.1)
        with pytest.raises(Unavailable, match="in time"):
            _ = [e async for e in model.stream(asked(user("hi")))]
        await model.aclose()


async def test_leaving_a_stream_early_closes_its_connection() -> None:
    async with sse_server([model_stream("cut_without_reason", ending="hang")]) as server:
        model = model_at(server.address)
        async with aclosing(model.stream(asked(user("hi")))) as events:
            assert await anext(events) == TextDelta("The refund window is ")
        await asyncio.wait_for(server.gone.wait(), 2)
        await model.aclose()


async def test_neither_key_nor_words_reach_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await replied(model_stream("openai_parallel_calls"), asked(user(SECRET)))
        with pytest.raises(ModelFailed):
            await replied(refused(400, {"error": {"message": SECRET}}), asked(user(SECRET)))
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("address", "key", "named"),
    [
        ("", KEY, "PLUMBLINE_OPENAI_BASE_URL"),
        ("models.example/v1", KEY, "PLUMBLINE_OPENAI_BASE_URL"),
        ("https://models.example/v1", "sk-中", "PLUMBLINE_OPENAI_API_KEY"),
    ],
)
def test_what_can_not_be_an_address_or_a_key_is_refused_by_name(
    address: str, key: str, named: str
) -> None:
    with pytest.raises(Misconfigured, match=named):
        OpenAICompatibleModel(base_url=address, about=capability("m"), api_key=key)

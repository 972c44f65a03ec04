"""The public cases C-AG-01 to 05 and 08 from the vendor's stream to the message in the chat."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, cast

import pytest

from agent import phrases
from agent.domain import Json, Passage
from agent.models.catalogue import capability
from agent.models.claude.client import AnthropicModel
from agent.models.openai_compatible.client import OpenAICompatibleModel
from agent.ports import Tool, ToolResult
from agent.tool import tool
from tests.fakes.sse_server import (
    CASES,
    Played,
    SseServer,
    fault,
    model_stream,
    sse_case,
    sse_server,
)
from tests.fakes.stage import Stage
from tests.scenario.conftest import Open

RESULTS = json.loads((CASES / "agent" / "two_parallel_calls_results.json").read_text())
pytestmark = pytest.mark.parametrize("platform", ["feishu"])

Play = Callable[..., AbstractAsyncContextManager[tuple[Stage, SseServer]]]


def words_only(text: str) -> Played:
    """A stream of one finished text."""
    body = (CASES / "agent" / "empty_final_turn.sse").read_text(encoding="utf-8")
    delta = {"type": "content_block_delta", "index": 0}
    event = json.dumps({**delta, "delta": {"type": "text_delta", "text": text}})
    start = body.index("event: content_block_stop")
    return Played(f"{body[:start]}event: content_block_delta\ndata: {event}\n\n{body[start:]}")


class CaseTools:
    """The tools that the streams call; `ran` holds what was executed."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def __call__(self, _: Sequence[Tool]) -> Sequence[Tool]:
        @tool(topic={"zh": "知识库", "en": "the library"}, permission="kb.read", timeout=5.0)
        async def search_knowledge(
            query: Annotated[str, "one full sentence of text"],
            top_k: Annotated[int, "number of passages, at most 20"] = 8,
        ) -> ToolResult:
            """Search the library."""
            self.ran.append(f"search_knowledge {query} {top_k}")
            hits = RESULTS["toolu_case_A"]["hits"]
            return ToolResult(passages=tuple(Passage(h["id"], "Rota", h["text"]) for h in hits))

        @tool(topic={"zh": "消息", "en": "messages"}, permission="kb.read", timeout=5.0)
        async def search_messages(query: Annotated[str, "one full sentence of text"]) -> ToolResult:
            """Search messages."""
            self.ran.append(f"search_messages {query}")
            raise RuntimeError(RESULTS["toolu_case_B"]["message"])

        @tool(topic={"zh": "文档", "en": "documents"}, permission="kb.read", timeout=5.0)
        async def delete_documents(
            filter: Annotated[dict[str, str], "object of text"],  # noqa: A002  the case's name
        ) -> ToolResult:
            """Delete documents."""
            self.ran.append(f"delete_documents {filter}")
            return ToolResult(note="deleted")

        return (search_knowledge, search_messages, delete_documents)


@pytest.fixture
def play(stage: Open) -> Play:
    """Opens a bot whose Claude is a server that plays these streams."""

    @asynccontextmanager
    async def opened(tools: CaseTools, *streams: Played) -> AsyncGenerator[tuple[Stage, SseServer]]:
        async with sse_server(streams) as server:
            model = AnthropicModel(
                api_key="sk-test-invented", model="case-model", base_url=server.address, timeout=5
            )
            try:
                async with stage(model, retool=tools) as bot:
                    yield bot, server
            finally:
                await model.aclose()

    return opened


def results(server: SseServer, request: int = -1) -> list[dict[str, Json]]:
    """The tool results in the last message of a request."""
    messages = cast("list[dict[str, Json]]", server.seen[request].body["messages"])
    return cast("list[dict[str, Json]]", messages[-1]["content"])


def assert_paired(server: SseServer) -> None:
    """Every call in every request has its one result, in the next message and in call order."""
    for seen in server.seen:
        messages = cast("list[dict[str, Json]]", seen.body["messages"])
        for message, following in zip(messages, [*messages[1:], {}], strict=True):
            calls = [b["id"] for b in blocks(message) if b["type"] == "tool_use"]
            told = [b["tool_use_id"] for b in blocks(following) if b["type"] == "tool_result"]
            assert calls == told or message["role"] == "user"


def blocks(message: dict[str, Json]) -> list[dict[str, Json]]:
    content = message.get("content")
    return cast("list[dict[str, Json]]", content) if isinstance(content, list) else []


async def test_c_ag_01_a_tool_that_raises_keeps_its_sibling(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    tools = CaseTools()
    answer = words_only("Dana is on call [src:ops-12].")
    async with play(tools, sse_case("two_parallel_calls"), answer) as (bot, server):
        reply = await bot.ask("Who is on call?")
        first, second = results(server)
        assert first["tool_use_id"] == "toolu_case_A"
        assert "Rota: Dana this week." in str(first["content"])
        assert not first.get("is_error")
        assert second["tool_use_id"] == "toolu_case_B"
        assert second["is_error"] is True
        assert second["content"]
        assert "Dana is on call" in reply.shown
        assert reply.answer.status == "answered"
        assert [c.source.source for c in reply.answer.citations] == ["ops-12"]
        assert "boom" not in reply.shown
        assert_paired(server)
    caplog.clear()


async def test_c_ag_02_a_call_that_was_cut_off_never_runs(play: Play) -> None:
    tools = CaseTools()
    streams = (sse_case("max_tokens_inside_tool"), words_only("I will not delete anything."))
    async with play(tools, *streams) as (bot, server):
        reply = await bot.ask("Delete the tmp documents")
        assert tools.ran == []
        [told] = results(server)
        assert told["is_error"] is True
        assert "cut off" in str(told["content"])
        first, second = (s.body["max_tokens"] for s in server.seen)
        assert isinstance(first, int)
        assert isinstance(second, int)
        assert second > first, "the next try had no more room"
        assert "I will not delete anything." in reply.shown


async def test_c_ag_03_the_same_call_for_ever_ends_in_an_answer(play: Play) -> None:
    tools = CaseTools()
    async with play(tools, sse_case("same_call_forever")) as (bot, server):
        reply = await bot.ask("Who is on call?")
        assert 1 <= len(tools.ran) <= 3
        assert_paired(server)
        assert "Rota" in reply.shown, "it says what was found"
        assert len(server.seen) <= bot.settings.step_limit
        assert server.seen[-1].body["tool_choice"] == {"type": "none"}
        assert reply.answer.status == "stopped"
        assert reply.messages
        assert phrases.step_limit("en", reply.answer.steps) in reply.shown


async def test_c_ag_04_an_empty_answer_is_a_sentence_and_is_not_stored(play: Play) -> None:
    tools = CaseTools()
    empty = sse_case("empty_final_turn")
    streams = (sse_case("two_parallel_calls"), empty, empty, words_only("Now there is one."))
    async with play(tools, *streams) as (bot, server):
        bad = await bot.ask("Who is on call?")
        assert phrases.error("en", "PL-304") in bad.shown
        assert bad.answer.status == "failed"
        assert (await bot.memory(bad)).exchanges == ()
        good = await bot.ask("And now?")
        assert "Now there is one." in good.shown
        for request in server.seen:
            assert '"text": ""' not in json.dumps(request.body)


async def test_c_ag_08_half_a_sentence_is_no_answer(play: Play) -> None:
    async with play(CaseTools(), sse_case("stream_cut_no_stop")) as (bot, server):
        reply = await bot.ask("How long is the refund window?")
        assert len(server.seen) > 1, "it was not tried again"
        assert phrases.incomplete("en") in reply.shown
        assert "Traceback" not in reply.shown
        assert reply.answer.status == "failed"
        assert (await bot.memory(reply)).exchanges == ()


class LongTools(CaseTools):
    """Every search finds a text of 40,000 characters."""

    def __call__(self, _: Sequence[Tool]) -> Sequence[Tool]:
        @tool(topic={"zh": "知识库", "en": "the library"}, permission="kb.read", timeout=5.0)
        async def search_knowledge(
            query: Annotated[str, "one full sentence of text"],
        ) -> ToolResult:
            """Search the library."""
            return ToolResult(passages=(Passage(f"ops-{query}", "Rota", LONG_TEXT),))

        return (search_knowledge,)


TOO_LONG = json.loads((CASES / "agent" / "ten_parallel_results_recipe.json").read_text())
LONG_TEXT = TOO_LONG["each_result"]["char"] * TOO_LONG["each_result"]["count"]


def ten_calls() -> Played:
    """The handed stream of two calls with ten."""
    begin, *_ = sse_case("empty_final_turn").body.split("\n\n")
    end = sse_case("two_parallel_calls").body.rstrip().split("\n\n")[-2:]
    events: list[str] = []
    for i in range(int(TOO_LONG["calls"])):
        block: Json = {
            "type": "tool_use",
            "id": f"toolu_{i}",
            "name": "search_knowledge",
            "input": {},
        }
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps({"query": str(i)})}
        made: list[dict[str, Json]] = [
            {"type": "content_block_start", "index": i, "content_block": block},
            {"type": "content_block_delta", "index": i, "delta": delta},
            {"type": "content_block_stop", "index": i},
        ]
        events += [f"event: {event['type']}\ndata: {json.dumps(event)}" for event in made]
    return Played("\n\n".join([begin, *events, *end]))


async def test_c_ag_05_ten_large_results_are_cut_and_the_answer_says_so(play: Play) -> None:
    refused = TOO_LONG["limit_answer"]
    error = refused["body"]["error"]
    answer = words_only("Dana is on call [src:ops-1].")
    refusal = fault(refused["http"], error["type"], error["message"])
    async with play(LongTools(), ten_calls(), refusal, answer) as (bot, server):
        reply = await bot.ask("Who is on call?")
        assert len(server.seen) == 3, "one compaction, one retry"
        first, second = (sum(len(str(r["content"])) for r in results(server, n)) for n in (1, 2))
        assert first < 200_000, "cut to a budget before the request"
        assert second < 0.6 * first
        assert len(results(server)) == 10
        assert "Dana is on call" in reply.shown
        assert phrases.shortened("en") in reply.shown
        assert reply.answer.status == "answered"


async def test_a_filtered_reply_is_one_plain_message_and_is_not_asked_for_again(
    stage: Open,
) -> None:
    async with sse_server([model_stream("content_filter")]) as server:
        model = OpenAICompatibleModel(base_url=server.address, about=capability("qwen-case"))
        try:
            async with stage(model) as bot:
                reply = await bot.ask("Something that no server answers")
                assert len(server.seen) == 1
                assert phrases.error("en", "PL-303") in reply.shown
                assert reply.answer.status == "failed"
                assert len(reply.messages) == 1
        finally:
            await model.aclose()

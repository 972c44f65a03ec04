"""One suite for every Model adapter: what the loop relies on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import cast

import pytest

from agent.dialogue import (
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    ToolReply,
    ToolSpec,
)
from agent.models.catalogue import capability
from agent.models.claude.client import AnthropicModel
from agent.models.offline.model import OfflineModel
from agent.models.openai_compatible.client import OpenAICompatibleModel
from agent.ports import Model
from tests.fakes.clock import NoTimers
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.sse_server import Played, model_stream, sse_case, sse_server

SEARCH = ToolSpec(
    "knowledge_search",
    "Searches.",
    {"type": "object", "properties": {"queries": {"type": "array"}}, "required": ["queries"]},
)
PASSAGE = (
    '<passage src="kb-1" title="Travel policy" score="0.90">\n'
    "The hotel limit in Shanghai is CNY 650 a night.\n</passage>"
)
QUESTION = Message("user", (Text("What is the hotel limit in Shanghai?"),))


class NoWait(NoTimers):
    """A clock on which every pause is over at once."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        del seconds


def answer_stream() -> Played:
    body = sse_case("stream_cut_no_stop").body.rstrip()
    tail = sse_case("empty_final_turn").body.split("\n\n", 2)[2]
    return Played(f"{body}\n\n{tail}")


@pytest.fixture(params=["offline", "anthropic", "openai_compatible", "scripted"])
async def model(request: pytest.FixtureRequest) -> AsyncGenerator[Model, None]:
    """A model that calls tools on the first request and answers on the second."""
    async with AsyncExitStack() as stack:
        if request.param == "offline":
            yield OfflineModel(NoWait())
        elif request.param == "scripted":
            yield ScriptedModel(
                [reply(call("knowledge_search", {"queries": ["hotel"]})), "650 [src:kb-1]"]
            )
        elif request.param == "openai_compatible":
            answers = [model_stream("openai_parallel_calls"), model_stream("openai_answer")]
            server = await stack.enter_async_context(sse_server(answers))
            model = OpenAICompatibleModel(
                base_url=f"{server.address}/v1", about=capability("qwen-case"), api_key="invented"
            )
            stack.push_async_callback(model.aclose)
            yield model
        else:
            answers = [sse_case("two_parallel_calls"), answer_stream()]
            server = await stack.enter_async_context(sse_server(answers))
            claude = AnthropicModel(
                api_key="sk-invented", model="case-model", base_url=server.address
            )
            stack.push_async_callback(claude.aclose)
            yield claude


async def step(model: Model, *history: Message) -> tuple[list[TextDelta], ModelReply]:
    events = [e async for e in model.stream(ModelRequest("Policy.", (SEARCH,), history))]
    last = events.pop()
    assert isinstance(last, ModelReply)
    deltas = [e for e in events if isinstance(e, TextDelta)]
    assert len(deltas) == len(events), "exactly one reply, at the end"
    return deltas, last


async def both_steps(model: Model) -> list[tuple[list[TextDelta], ModelReply]]:
    first = await step(model, QUESTION)
    results = Message("user", tuple(ToolReply(c.id, PASSAGE) for c in first[1].message.calls))
    return [first, await step(model, QUESTION, first[1].message, results)]


async def test_the_deltas_join_to_the_text_of_the_one_reply_at_the_end(model: Model) -> None:
    for deltas, last in await both_steps(model):
        assert "".join(d.text for d in deltas) == last.message.text
        assert last.message.role == "assistant"
        assert last.model


async def test_calls_have_ids_of_their_own_and_arguments(model: Model) -> None:
    (_, first), (_, second) = await both_steps(model)
    assert first.stop == "tools"
    ids = [c.id for c in first.message.calls]
    assert ids
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(isinstance(c.arguments, dict) for c in first.message.calls)
    assert second.stop == "end"
    assert second.message.text.strip()
    assert not second.message.calls


async def test_leaving_in_the_middle_closes_cleanly_and_the_model_stays_usable(
    model: Model,
) -> None:
    _, first = await step(model, QUESTION)
    results = Message("user", tuple(ToolReply(c.id, PASSAGE) for c in first.message.calls))
    request = ModelRequest("Policy.", (SEARCH,), (QUESTION, first.message, results))
    events = cast("AsyncGenerator[ModelEvent, None]", model.stream(request))
    assert isinstance(await anext(events), TextDelta)
    await events.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(events)
    if isinstance(model, ScriptedModel):
        assert model.open == 0
    else:
        assert (await step(model, *request.messages))[1].stop == "end"


def test_capability_names_the_model(model: Model) -> None:
    about = model.capability()
    assert about.name
    assert about.tools
    assert about.window > 0

"""Arguments of a call that are no JSON: read by rule, else a model is asked, else never run."""

from __future__ import annotations

import json

import pytest

from agent.dialogue import Message, ModelReply, ModelRequest, Text, ToolSpec
from agent.domain import Json
from agent.models.catalogue import capability
from agent.models.openai_compatible.client import OpenAICompatibleModel
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.sse_server import Played, SseServer, sse_server

SEARCH = ToolSpec("search_knowledge", "Searches.", {"type": "object", "properties": {}})
ASKED = ModelRequest("You are the desk.", (SEARCH,), (Message("user", (Text("hotel?"),)),), 512)


async def last(model: OpenAICompatibleModel) -> ModelReply:
    """The reply of the model, which is closed."""
    events = [e async for e in model.stream(ASKED)]
    await model.aclose()
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    return reply


async def played(server: SseServer) -> ModelReply:
    """What a model without another one for small tasks replies."""
    return await last(
        OpenAICompatibleModel(base_url=server.address, about=capability("case-model"))
    )


def stream(delta: Json, finish: str) -> Played:
    """One piece and the reason to stop."""
    pieces: list[Json] = [{"delta": delta}, {"delta": {}, "finish_reason": finish}]
    lines = [f"data: {json.dumps({'choices': [piece]})}\n\n" for piece in pieces]
    return Played("".join((*lines, "data: [DONE]\n\n")))


def called(arguments: str, finish: str = "tool_calls") -> Played:
    """A stream with one call of the search tool."""
    function: Json = {"name": "search_knowledge", "arguments": arguments}
    return stream({"tool_calls": [{"index": 0, "id": "call_a", "function": function}]}, finish)


def told(text: str) -> Played:
    """A stream of words."""
    return stream({"content": text}, "stop")


LOOSE = "{'queries': ['hotel limit', 'Shanghai'], \"limit\": 5,}"
PROSE = "queries should be hotel limit"


async def test_arguments_with_the_usual_slips_are_read_without_asking_anybody() -> None:
    async with sse_server([called(LOOSE)]) as server:
        reply = await played(server)
    [call] = reply.message.calls
    assert call.arguments == {"queries": ["hotel limit", "Shanghai"], "limit": 5}
    assert len(server.seen) == 1


async def test_what_no_rule_reads_the_model_itself_is_asked_for_once() -> None:
    mended = '{"queries": "hotel limit"}'
    async with sse_server([called(PROSE), told(mended)]) as server:
        reply = await played(server)
    assert [c.arguments for c in reply.message.calls] == [{"queries": "hotel limit"}]
    assert reply.stop == "tools"
    first, second = (seen.body for seen in server.seen)
    assert first["model"] == second["model"] == "case-model"
    assert "tools" not in second


async def test_a_light_model_is_asked_in_its_place_when_there_is_one() -> None:
    light = ScriptedModel(['{"queries": "hotel limit"}'])
    async with sse_server([called(PROSE)]) as server:
        model = OpenAICompatibleModel(
            base_url=server.address, about=capability("case-model"), light=light
        )
        reply = await last(model)
    assert [c.arguments for c in reply.message.calls] == [{"queries": "hotel limit"}]
    assert (len(server.seen), len(light.requests)) == (1, 1)
    assert PROSE in light.requests[0].messages[0].text


@pytest.mark.parametrize(
    "second",
    [told("Sorry."), told('{"queries": "everything"}'), called(PROSE), Played("busy", 503)],
)
async def test_arguments_that_stay_unread_run_nothing(second: Played) -> None:
    async with sse_server([called(PROSE), second]) as server:
        reply = await played(server)
    assert [c.arguments for c in reply.message.calls] == [None]


@pytest.mark.parametrize("finish", ["length", "network_error"])
async def test_c_ag_02_a_call_that_was_cut_off_is_never_mended(finish: str) -> None:
    async with sse_server([called(LOOSE, finish)]) as server:
        reply = await played(server)
    assert [c.arguments for c in reply.message.calls] == [None]
    assert len(server.seen) == 1


async def test_c_ag_02_what_is_left_of_a_call_is_never_mended() -> None:
    async with sse_server([called('{"queries": ["hotel limit"], "sp')]) as server:
        reply = await played(server)
    assert [c.arguments for c in reply.message.calls] == [None]
    assert len(server.seen) == 1

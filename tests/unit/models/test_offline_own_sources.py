"""The offline model searches own sources beside the knowledge base, and quotes what they show."""

from __future__ import annotations

from agent.citations import present
from agent.dialogue import Message, ModelReply, ModelRequest, Text, ToolReply, ToolSpec
from agent.domain import Json, Passage
from agent.models.offline.model import OfflineModel
from agent.ports import ToolResult
from tests.fakes.clock import FakeClock

ASKED = "When is the launch of the X-300?"


def _tool(name: str, most: int = 0) -> ToolSpec:
    queries: Json = {"type": "array", **({"maxItems": most} if most else {})}
    return ToolSpec(
        name, "Searches.", {"properties": {"queries": queries}, "required": ["queries"]}
    )


KB, MESSAGES, READ = (
    _tool("knowledge_search"),
    _tool("search_my_messages", 2),
    ToolSpec(
        "read_document",
        "Reads.",
        {"properties": {"source": {"type": "string"}}, "required": ["source"]},
    ),
)


async def _said(tools: tuple[ToolSpec, ...], *turn: Message) -> ModelReply:
    asked = Message("user", (Text(ASKED),))
    request = ModelRequest("policy", tools, (asked, *turn))
    events = [event async for event in OfflineModel(FakeClock()).stream(request)]
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    return reply


async def test_it_searches_everything_at_once_within_each_tools_limits() -> None:
    calls = (await _said((KB, MESSAGES, READ))).message.calls
    assert [call.name for call in calls] == ["knowledge_search", "search_my_messages"]
    assert len({call.id for call in calls}) == 2
    for call in calls:
        assert call.arguments is not None
    queries = (calls[1].arguments or {})["queries"]
    assert isinstance(queries, list)
    assert 1 <= len(queries) <= 2


async def test_what_a_chat_said_is_quoted_and_not_read_as_a_document() -> None:
    calls = (await _said((KB, MESSAGES, READ))).message
    text = "The launch of the X-300 is on 12 May."
    shown = Passage("fm-abcdefghij", "x300-launch", text, kind="message", score=0.9, private=True)
    replies = Message(
        "user",
        (
            ToolReply(calls.calls[0].id, present(ToolResult())),
            ToolReply(calls.calls[1].id, present(ToolResult(passages=(shown,)))),
        ),
    )
    reply = await _said((KB, MESSAGES, READ), calls, replies)
    assert not reply.message.calls
    assert "12 May" in reply.message.text
    assert "[src:fm-abcdefghij]" in reply.message.text


async def test_a_sign_in_that_is_missing_is_no_broken_search() -> None:
    calls = (await _said((KB, MESSAGES))).message

    def replied(*broken: bool) -> Message:
        return Message(
            "user",
            tuple(
                ToolReply(call.id, present(ToolResult()), error=fails)
                for call, fails in zip(calls.calls, broken, strict=True)
            ),
        )

    shut = await _said((KB, MESSAGES), calls, replied(False, True))
    down = await _said((KB, MESSAGES), calls, replied(True, False))
    assert shut.message.text.startswith("[no-answer]")
    assert shut.message.text != down.message.text

"""With a key the same bot answers with Claude: the real client against a server on loopback."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from agent.models.claude.client import AnthropicModel
from agent.policy import policy
from tests.fakes.sse_server import Played, SseServer, sse_server
from tests.scenario.conftest import Open

FOREIGN = "https://collect.example.net/x"
QUERY = {"queries": ["What is the hotel limit in Shanghai?", "上海的住宿标准是多少？"]}


def stream(*blocks: dict[str, Any], stop: str) -> Played:
    """A Messages API stream of these content blocks, each in one delta."""
    usage = {"input_tokens": 9, "output_tokens": 9}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-test"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for n, block in enumerate(blocks):
        events += [{"index": n, **event} for event in _block(block)]
    delta = {"stop_reason": stop, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]
    return Played(
        "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events),
        headers={"content-type": "text/event-stream"},
    )


def _block(block: dict[str, Any]) -> list[dict[str, Any]]:
    start: dict[str, Any]
    delta: dict[str, Any]
    if "text" in block:
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = {"type": "tool_use", "input": {}, "id": block["id"], "name": block["name"]}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "content_block_start", "content_block": start},
        {"type": "content_block_delta", "delta": delta},
        {"type": "content_block_stop"},
    ]


async def test_claude_searches_and_its_answer_cites_only_what_was_shown(stage: Open) -> None:
    search = {"id": "t1", "name": "knowledge_search", "input": QUERY}
    source = "kb-[a-z0-9]{10}"
    answers = [stream(search, stop="tool_use"), Played()]
    async with sse_server(answers) as server:
        model = AnthropicModel(api_key="k", model="claude-test", base_url=server.address)
        async with stage(_citing(model, server, source)) as bot:
            reply = await bot.ask("What is the hotel limit in Shanghai?")
        await model.aclose()
    first, second = (cast(dict[str, Any], seen.body) for seen in server.seen)
    assert first["system"][0]["text"] == policy()
    assert {t["name"] for t in first["tools"]} == {"knowledge_search", "read_document"}
    results = second["messages"][-1]["content"]
    assert results[0]["tool_use_id"] == "t1"
    assert "<passage src=" in str(results)
    assert reply.answer.status == "answered"
    assert [c.n for c in reply.answer.citations] == [1]
    assert "invented" not in reply.answer.text
    assert "650" in reply.shown
    assert f"({FOREIGN}" not in reply.shown
    assert f"<{FOREIGN}" not in reply.shown


def _citing(model: AnthropicModel, server: SseServer, source: str) -> AnthropicModel:
    """The model, whose server's last answer is written when the passages are known."""
    ask = model.stream

    async def stream_after_search(request: Any) -> Any:
        found = re.search(source, str(request.messages))
        if found:
            text = f"It is **CNY 650** [src:{found[0]}] [src:invented]. See {FOREIGN}"
            server.answers[-1] = stream({"text": text}, stop="end_turn")
        async for event in ask(request):
            yield event

    model.stream = stream_after_search  # pyright: ignore[reportAttributeAccessIssue]  a test's seam
    return model

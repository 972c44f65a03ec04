"""Claude on Bedrock against a loopback server that speaks AWS's event stream; keys are invented."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import json
import struct
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.dialogue import Message, ModelReply, ModelRequest, Text, ToolSpec
from agent.errors import ContextTooLong, Misconfigured, PlumblineError, RateLimited, Unavailable
from agent.models.catalogue import capability
from agent.models.claude.bedrock import BedrockModel
from tests.fakes.sse_server import sse_case

MODEL = "bedrock/anthropic.claude-case-v1:0"
SEARCH = ToolSpec("search_knowledge", "Searches.", {"type": "object", "properties": {}})
QUESTION = ModelRequest("Policy.", (SEARCH,), (Message("user", (Text("who is on call?"),)),))

needs_boto3 = pytest.mark.skipif(
    importlib.util.find_spec("boto3") is None, reason="needs boto3: pip install anthropic[bedrock]"
)


def frame(kind: str, payload: bytes, message: str = "event") -> bytes:
    """One message of AWS's event stream: lengths, headers, payload, and two checksums."""
    named = {
        ":message-type": message,
        f":{message}-type": kind,
        ":content-type": "application/json",
    }
    head = b""
    for name, value in named.items():
        head += bytes([len(name)]) + name.encode() + b"\x07"
        head += struct.pack(">H", len(value)) + value.encode()
    begun = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    begun += struct.pack(">I", zlib.crc32(begun))
    return begun + head + payload + struct.pack(">I", zlib.crc32(begun + head + payload))


def event_stream(name: str) -> bytes:
    """A handed stream of the Messages API as Bedrock sends it."""
    lines = [line[6:] for line in sse_case(name).body.split("\n") if line.startswith("data: ")]
    sealed = [json.dumps({"bytes": base64.b64encode(d.encode()).decode()}).encode() for d in lines]
    return b"".join(frame("chunk", payload) for payload in sealed)


@dataclass(slots=True)
class Bedrock:
    """Answers every request alike; `head` and `body` are what came last."""

    answer: bytes
    status: int = 200
    address: str = ""
    head: str = ""
    body: bytes = b""
    open: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = dict(x.lower().split(": ", 1) for x in self.head.strip().split("\r\n")[1:])
        self.body = await reader.readexactly(int(lines["content-length"]))
        media = "application/vnd.amazon.eventstream" if self.status == 200 else "application/json"
        writer.write(
            f"HTTP/1.1 {self.status} X\r\ncontent-type: {media}\r\nconnection: close\r\n"
            f"content-length: {len(self.answer)}\r\n\r\n".encode()
            + self.answer
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def bedrock(answer: bytes, status: int = 200) -> AsyncGenerator[tuple[BedrockModel, Bedrock]]:
    server = Bedrock(answer, status)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    model = BedrockModel(
        about=capability(MODEL),
        region="eu-case-1",
        base_url=server.address,
        access_key="AKIAINVENTED",
        secret_key="invented",
        timeout=2,
    )
    try:
        yield model, server
    finally:
        await model.aclose()
        listening.close()
        await listening.wait_closed()


@needs_boto3
async def test_a_reply_comes_through_awss_event_stream() -> None:
    async with bedrock(event_stream("two_parallel_calls")) as (model, server):
        events = [e async for e in model.stream(QUESTION)]
        last = events[-1]
        assert isinstance(last, ModelReply)
        assert last.stop == "tools"
        assert last.message.text == "Let me look in two places."
        assert [c.id for c in last.message.calls] == ["toolu_case_A", "toolu_case_B"]
        first = server.head.split("\r\n")[0]
        assert first.startswith(
            "POST /model/anthropic.claude-case-v1:0/invoke-with-response-stream"
        )
        assert "AWS4-HMAC-SHA256" in server.head
        assert "/eu-case-1/bedrock/" in server.head
        body = json.loads(server.body)
        assert body["messages"][0]["role"] == "user"
        assert "model" not in body
    about = model.capability()
    assert about.name == "anthropic.claude-case-v1:0"
    assert about.images


@needs_boto3
@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (403, "You don't have access to the model with the specified model ID.", Misconfigured),
        (429, "Too many requests", RateLimited),
        (400, "Input is too long for requested model.", ContextTooLong),
        (424, "The model failed", Unavailable),
        (503, "busy", Unavailable),
    ],
)
async def test_refusals_are_told_in_our_words(
    status: int, message: str, error: type[PlumblineError]
) -> None:
    async with bedrock(json.dumps({"message": message}).encode(), status) as (model, _):
        with pytest.raises(error) as raised:
            _ = [e async for e in model.stream(QUESTION)]
    assert raised.type is error
    assert message not in str(raised.value)
    if error is Misconfigured:
        assert "PLUMBLINE_AWS_REGION" in str(raised.value)


@needs_boto3
async def test_without_credentials_an_operator_is_told_where_to_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    model = BedrockModel(about=capability(MODEL), region="eu-case-1", base_url="http://127.0.0.1:1")
    with pytest.raises(Misconfigured, match="No AWS credentials"):
        _ = [e async for e in model.stream(QUESTION)]
    await model.aclose()


@needs_boto3
def test_a_missing_region_is_named() -> None:
    with pytest.raises(Misconfigured, match="PLUMBLINE_AWS_REGION"):
        BedrockModel(about=capability(MODEL), region="")


def test_without_boto3_the_next_step_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        assert name == "boto3"

    monkeypatch.setattr("agent.models.claude.bedrock.find_spec", nothing)
    with pytest.raises(Misconfigured, match=r"anthropic\[bedrock\]"):
        BedrockModel(about=capability(MODEL), region="eu-case-1")

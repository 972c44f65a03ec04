"""What both vendors share: tool names, pictures, what a model can do (C-AG-06, -07, -10)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.dialogue import (
    Capability,
    Message,
    ModelReply,
    ModelRequest,
    Picture,
    Text,
    ToolCall,
    ToolReply,
    ToolSpec,
)
from agent.domain import Json
from agent.durable.journal import reply_from_json, reply_to_json
from agent.errors import Misconfigured
from agent.models.catalogue import capability
from agent.models.claude.client import AnthropicModel
from agent.models.openai_compatible.client import OpenAICompatibleModel
from agent.models.pictures import media_type
from agent.models.sighted import SightedModel
from agent.models.tool_names import ToolNames
from agent.ports import Model
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.sse_server import CASES, SseServer, model_stream, sse_case, sse_server

NAMES = json.loads((CASES / "agent" / "mcp_tool_names.json").read_text())
PICTURES = json.loads((CASES / "agent" / "history_with_image_then_text_model.json").read_text())
JPEG = (Path(__file__).parents[2] / "data" / "models" / "photo_is_jpeg.png").read_bytes()
GOOD = re.compile(NAMES["limit"])
SPECS = tuple(
    ToolSpec(f"{NAMES['server']}.{name}", "Does it.", {"type": "object", "properties": {}})
    for name in NAMES["tools"]
)


@dataclass(slots=True)
class Vendor:
    """A model of one vendor's kind and the server that it talks to."""

    model: Model
    server: SseServer
    kind: str

    async def ask(self, *history: Message, tools: tuple[ToolSpec, ...] = ()) -> ModelReply:
        events = [e async for e in self.model.stream(ModelRequest("Policy.", tools, history))]
        last = events[-1]
        assert isinstance(last, ModelReply)
        return last

    @property
    def body(self) -> dict[str, Json]:
        return self.server.seen[-1].body

    def advertised(self) -> list[str]:
        tools = cast("list[dict[str, dict[str, str]]]", self.body["tools"])
        if self.kind == "anthropic":
            return [str(t["name"]) for t in tools]
        return [t["function"]["name"] for t in tools]


@asynccontextmanager
async def vendor(kind: str, *, images: bool = True) -> AsyncGenerator[Vendor]:
    claude = kind == "anthropic"
    played = sse_case("empty_final_turn") if claude else model_stream("openai_answer")
    async with sse_server([played]) as server:
        model = (
            AnthropicModel(api_key="k", model="case", base_url=server.address, images=images)
            if claude
            else OpenAICompatibleModel(
                base_url=server.address, about=Capability("case", images=images)
            )
        )
        try:
            yield Vendor(model, server, kind)
        finally:
            await model.aclose()


vendors = pytest.mark.parametrize("kind", ["anthropic", "openai"])


def user(*blocks: Text | Picture | ToolReply) -> Message:
    return Message("user", blocks)


# --- tool names ------------------------------------------------------------------------------


@vendors
async def test_c_ag_10_names_are_advertised_as_every_vendor_takes_them(kind: str) -> None:
    async with vendor(kind) as v:
        await v.ask(user(Text("q")), tools=SPECS)
        first = v.advertised()
        call = ToolCall("c1", SPECS[2].name, {})
        told = (user(Text("q")), Message("assistant", (call,)), user(ToolReply("c1", "x")))
        await v.ask(*told, tools=SPECS[::-1])
        again = v.advertised()
        said = json.dumps(v.body["messages"])
    assert all(GOOD.fullmatch(n) for n in first)
    assert len(set(first)) == len(SPECS)
    assert again == first[::-1], "a name hangs on nothing but itself"
    assert f'"{first[2]}"' in said, "the history calls a tool what the request calls it"
    assert SPECS[2].name not in said


@vendors
async def test_c_ag_10_the_call_comes_back_under_its_own_name(kind: str) -> None:
    original = SPECS[0].name
    advertised = ToolNames([original]).advertised(original)
    played = sse_case("two_parallel_calls") if kind == "anthropic" else None
    played = played or model_stream("openai_parallel_calls")
    async with vendor(kind) as v:
        v.server.answers[:] = [type(played)(played.body.replace("search_knowledge", advertised))]
        reply = await v.ask(user(Text("q")), tools=SPECS)
    assert [c.name for c in reply.message.calls] == [original, "search_messages"]


def test_c_ag_10_the_advertised_name_is_the_same_on_every_start() -> None:
    assert ToolNames().advertised("docs/read") == "docs_read_dedd52d4"
    assert ToolNames().advertised("search_knowledge") == "search_knowledge"


@given(st.lists(st.text(max_size=90), unique=True, max_size=12))
def test_any_names_are_allowed_unique_and_found_again(names: list[str]) -> None:
    made = ToolNames(names)
    out = [made.advertised(n) for n in names]
    assert all(GOOD.fullmatch(n) for n in out)
    assert len(set(out)) == len(names)
    assert [made.original(n) for n in out] == names


def test_a_name_that_looks_like_anothers_advertised_one_keeps_both_apart() -> None:
    taken = ToolNames().advertised("docs/read")
    made = ToolNames(["docs/read", taken])
    assert made.advertised(taken) == taken
    assert made.advertised("docs/read") != taken
    assert made.original(made.advertised("docs/read")) == "docs/read"


# --- pictures --------------------------------------------------------------------------------


def case_history() -> tuple[Message, ...]:
    """The handed conversation in our words."""
    made: list[Message] = []
    for message in PICTURES["history"]:
        blocks: list[Text | Picture] = []
        for part in message["content"]:
            if part["type"] == "text":
                blocks.append(Text(part["text"]))
            else:
                source = part["source"]
                data = base64.b64decode(source["data"])
                blocks.append(Picture("pictures/case", source["media_type"], data))
        made.append(Message(message["role"], tuple(blocks)))
    return tuple(made)


@vendors
async def test_c_ag_06_a_text_model_reads_words_in_a_pictures_place(kind: str) -> None:
    history = case_history()
    async with vendor(kind, images=False) as v:
        reply = await v.ask(*history)
        said = json.dumps(v.body["messages"])
    assert reply.stop == "end", "the question is answered"
    assert "can not see pictures" in said
    assert "iVBOR" not in said
    assert "image_url" not in said
    assert "VPN address" in said
    picture = history[0].blocks[0]
    assert isinstance(picture, Picture)
    assert picture.data, "the history keeps its picture"


@vendors
async def test_c_ag_06_a_model_that_sees_gets_the_picture(kind: str) -> None:
    async with vendor(kind) as v:
        await v.ask(*case_history())
        said = json.dumps(v.body["messages"])
    assert "iVBORw0KGgo" in said
    assert "image/png" in said
    assert "picture was sent" not in said


@vendors
async def test_c_ag_07_a_picture_is_sent_as_what_its_bytes_are(kind: str) -> None:
    async with vendor(kind) as v:
        await v.ask(user(Picture("pictures/case", "image/png", JPEG), Text("what is this?")))
        said = json.dumps(v.body["messages"])
    assert "image/jpeg" in said
    assert "image/png" not in said
    assert base64.b64encode(JPEG).decode() in said


@vendors
@pytest.mark.parametrize("data", [None, b"", b"<svg/>", b"<html>sign in</html>"])
async def test_what_is_no_picture_never_goes_out(kind: str, data: bytes | None) -> None:
    async with vendor(kind) as v:
        await v.ask(user(Picture("pictures/case", "image/png", data), Text("what is this?")))
        said = json.dumps(v.body["messages"])
    assert "could not be read" in said
    assert "base64" not in said


def test_the_type_of_a_picture_is_in_its_first_bytes() -> None:
    assert media_type(b"GIF89a...") == "image/gif"
    assert media_type(b"RIFF\x00\x00\x00\x00WEBPVP8 ") == "image/webp"
    assert media_type(b"RIFF\x00\x00\x00\x00WAVEfmt ") is None
    assert media_type(b"BM") is None


def test_the_journal_keeps_a_picture_by_its_key_and_not_its_bytes() -> None:
    reply = ModelReply(Message("user", (Picture("pictures/case", "image/png", JPEG),)), "end")
    stored = reply_to_json(reply)
    kept = reply_from_json(json.loads(json.dumps(stored))).message.blocks[0]
    assert kept == Picture("pictures/case", "image/png")


async def test_pictures_are_answered_by_the_model_that_sees() -> None:
    words = ScriptedModel(["words"], about=Capability("words", window=90_000))
    sight = ScriptedModel(["sight"], about=Capability("sight", images=True, window=50_000))
    both = SightedModel(words, sight)
    assert both.capability() == Capability("words", True, True, 50_000)
    for history in (case_history(), (user(Text("q"), Picture("gone")),)):
        async for _ in both.stream(ModelRequest("", (), history)):
            pass
    assert [len(m.requests) for m in (words, sight)] == [1, 1]
    assert words.requests[0].messages[0].blocks[-1] == Picture("gone")


# --- what a model can do ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "tools", "images"),
    [
        ("claude-sonnet-5-5", True, True),
        ("bedrock/anthropic.claude-case-v1:0", True, True),
        ("deepseek-chat", True, False),
        ("Qwen/Qwen3-VL-8B", True, True),
        ("qwen3:8b", True, False),
        ("llava:13b", False, True),
        ("house-model", True, False),
    ],
)
def test_known_models_and_a_careful_guess_for_others(name: str, tools: bool, images: bool) -> None:
    about = capability(name)
    assert (about.name, about.tools, about.images) == (name, tools, images)


def test_an_operators_lines_come_first() -> None:
    own = "house*: window=65536, images=yes; qwen3:8b: tools=no;"
    assert capability("house-model", own) == Capability("house-model", True, True, 65_536)
    assert not capability("qwen3:8b", own).tools
    assert capability("qwen3:14b", own).tools


@pytest.mark.parametrize(
    "own", ["window=65536", "m: window=many", "m: window=5", "m: sight=yes", "m: tools=maybe"]
)
def test_a_line_that_can_not_be_read_is_named(own: str) -> None:
    with pytest.raises(Misconfigured, match="PLUMBLINE_MODEL_CAPABILITIES"):
        capability("m", own)

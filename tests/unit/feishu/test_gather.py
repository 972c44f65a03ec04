"""What the worker fetches for a Feishu question, against an API in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.domain import ChatRef, Material, Question
from agent.material import KEPT
from connectors.feishu import events
from connectors.feishu.api import FeishuApi
from connectors.feishu.gather import FeishuGatherer
from connectors.incoming import Home, Message
from tests.fakes import platform_samples as samples
from tests.fakes.clock import FakeClock
from tests.fakes.turns import question

Item = dict[str, Any]


@dataclass(slots=True)
class Shelf:
    """Messages by id, as GET hands them out; a message may be a code that refuses it instead."""

    messages: dict[str, list[Item] | int] = field(default_factory=dict[str, "list[Item] | int"])
    topic: list[Item] = field(default_factory=list[Item])
    more: bool = False
    names: dict[str, str] = field(default_factory=dict[str, str])
    calls: list[str] = field(default_factory=list[str])

    def gatherer(self) -> FeishuGatherer:
        transport = httpx.MockTransport(self.handle)
        client = httpx.AsyncClient(transport=transport, base_url="http://feishu.test")
        api = FeishuApi("cli_x", "secret-x", "http://feishu.test", FakeClock(), client=client)
        return FeishuGatherer(api, "cli_x")

    def handle(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/open-apis/")
        self.calls.append(path)
        if path.startswith("auth/"):
            return _ok(tenant_access_token="t", expire=7200)
        if path == "bot/v3/info":
            return _ok(bot={"open_id": "ou_bot"})
        if path.startswith("contact/v3/users/"):
            name = self.names.get(path.rpartition("/")[2])
            return _ok(data={"user": {"name": name}}) if name else _refused(99992351)
        if path == "im/v1/messages":
            newest = sorted(self.topic, key=lambda item: -int(item["create_time"]))[:50]
            return _ok(data={"items": newest, "has_more": self.more})
        found = self.messages.get(path.rpartition("/")[2], 231003)
        if isinstance(found, int):
            return _refused(found)
        if "card_msg_content_type" not in request.url.params:
            found = [replace_card(item) for item in found]
        return _ok(data={"items": found})


def replace_card(item: Item) -> Item:
    """The item with the degraded card that the platform shows without being asked for more."""
    if item["msg_type"] != "interactive":
        return item
    return item | {"body": {"content": json.dumps({"title": "Card", "elements": []})}}


def _ok(**more: Any) -> httpx.Response:
    return httpx.Response(200, json={"code": 0, **more})


def _refused(code: int) -> httpx.Response:
    return httpx.Response(200, json={"code": code, "msg": "no"})


def item(name: str, content: Any, kind: str = "text", by: str = "ou_bob", **more: Any) -> Item:
    """A message as GET hands it out."""
    app = by.startswith("cli_")
    return {
        "message_id": name,
        "msg_type": kind,
        "create_time": "1764547100000",
        "chat_id": "oc_demo_alice",
        "sender": {"id": by, "sender_type": "app" if app else "user"},
        "body": {"content": content if isinstance(content, str) else json.dumps(content)},
        **more,
    }


def text(words: str) -> Mapping[str, str]:
    return {"text": words}


def asked(deferred: str, words: str = "", **hints: str) -> Question:
    return replace(question(text=words), deferred=deferred, platform_hints=hints)


async def gathered(shelf: Shelf, asked_: Question, *, again: bool = False) -> Question:
    found = await shelf.gatherer().gather(asked_, again=again)
    assert found is not None
    return found


def said(found: Question) -> list[tuple[str, str, str, int]]:
    return [(piece.kind, piece.author, piece.text, piece.depth) for piece in found.material]


async def test_c_fs_04_a_forward_is_read_in_order_with_its_senders() -> None:
    """C-FS-04: the case's own event and the platform's own answer."""
    event = samples.case("feishu", "merge_forward_event")
    body = samples.case("feishu", "merge_forward_get_response")
    read = events.interpret(event, Home("org"), 0.0)
    assert isinstance(read, Message)
    shelf = Shelf({"om_case_fwd": body["data"]["items"]}, names={"ou_case_bob": "Bob"})
    found = await gathered(shelf, read.question)
    assert said(found) == [
        ("forwarded", "Bob", "发布窗口改到周四 20:00", 0),
        ("forwarded", "ou_case_carol", "收到，通知客户", 0),
        ("forwarded", "Bob", "[picture img_case_fwd, not read]", 0),
    ]
    assert [piece.at for piece in found.material] == [1789999990.0] * 3
    assert "Merged and Forwarded" not in found.text + str(found.material)
    assert (found.deferred, found.language) == ("", "zh")


@pytest.mark.parametrize("times", [["30", "20", "10"], ["10", "20", "30"], ["10", "10", "10"]])
async def test_c_fs_04_nested_forwards_stand_below_their_head(times: list[str]) -> None:
    """C-FS-04: nesting by upper_message_id, in the order of the list whatever the times are."""
    flat = [
        item("om_1", "Merged", "merge_forward", "ou_alice"),
        item("om_a", text("first"), upper_message_id="om_1", create_time=times[0]),
        item("om_n", "Merged", "merge_forward", upper_message_id="om_1", create_time=times[1]),
        item("om_b", text("last"), upper_message_id="om_1", create_time=times[2]),
        item("om_i", text("inner"), upper_message_id="om_n"),
        item("om_e", "Merged", "merge_forward", upper_message_id="om_n"),
    ]
    found = await gathered(Shelf({"om_1": flat}), asked("merge_forward"))
    assert [(t, d) for _, _, t, d in said(found)] == [
        ("first", 0),
        ("[a forwarded conversation]", 0),
        ("inner", 1),
        ("[a forwarded conversation, not fetched]", 1),
        ("last", 0),
    ]


@pytest.mark.parametrize(
    ("child", "shown"),
    [
        (item("om_a", {"file_key": "f", "file_name": "a.pdf"}, "file"), "[file a.pdf, not read]"),
        (item("om_a", {"file_key": "f", "duration": 1}, "audio"), "[audio, not read]"),
        (item("om_a", {"file_key": "f"}, "sticker"), "[sticker, not read]"),
        (item("om_a", text("gone"), deleted=True), "[a deleted message]"),
        (item("om_a", "not json"), ""),
        (
            item("om_a", text("@_user_1 ok"), mentions=[{"key": "@_user_1", "id": "ou_c",
                 "id_type": "open_id", "name": "Chen"}]),
            "@Chen ok",
        ),
    ],
)  # fmt: skip
async def test_c_fs_04_each_kind_of_child_is_named(child: Item, shown: str) -> None:
    """C-FS-04: whatever was forwarded, the rest of the forward is read."""
    flat = [child | {"upper_message_id": "om_1"}, item("om_z", text("z"), upper_message_id="om_1")]
    found = await gathered(Shelf({"om_1": flat}), asked("merge_forward"))
    assert [t for _, _, t, _ in said(found)] == [shown, "z"]


@pytest.mark.parametrize("answer", [230002, 99991672, 231003, []])
async def test_c_fs_04_a_forward_that_can_not_be_fetched_is_said(answer: int | list[Item]) -> None:
    """C-FS-04: children that are not handed out are said so, and nothing is raised."""
    found = await gathered(Shelf({"om_1": answer}), asked("merge_forward"))
    assert [piece.kind for piece in found.material] == ["unread"]
    assert "forwarded messages" in found.material[0].text


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
async def test_c_fs_04_no_list_of_children_hangs_or_raises(edges: list[tuple[int, int]]) -> None:
    """C-FS-04: rings, orphans and doubles in the flat list end all the same."""
    flat = [item(f"om_{a}", "x", "merge_forward", upper_message_id=f"om_{b}") for a, b in edges]
    found = await gathered(Shelf({"om_1": flat}), asked("merge_forward"))
    assert sum(len(piece.text) for piece in found.material) <= KEPT + 10
    heads = [piece for piece in found.material if piece.kind == "forwarded"]
    assert len(heads) <= len({a for a, _ in edges})


async def test_c_fs_04_a_list_where_everything_stands_under_everything_ends_at_once() -> None:
    """C-FS-04: a hostile list does not grow when it is unfolded."""
    flat = [
        item(f"om_{a}", "x", "merge_forward", upper_message_id=f"om_{b}")
        for a in range(1, 40)
        for b in range(1, 40)
    ]
    found = await gathered(Shelf({"om_1": flat}), asked("merge_forward"))
    assert len(found.material) == 38


async def test_a_quoted_message_is_material_and_the_question_stays() -> None:
    quoted = item("om_q", text("TTL is 300 s"))
    found = await gathered(Shelf({"om_q": [quoted]}), asked("quote", "why?", parent="om_q"))
    assert found.text == "why?"
    assert said(found) == [("quoted", "ou_bob", "TTL is 300 s", 0)]


async def test_a_quoted_message_of_another_chat_is_not_shown() -> None:
    quoted = item("om_q", text("secret"), chat_id="oc_other")
    found = await gathered(Shelf({"om_q": [quoted]}), asked("quote", "why?", parent="om_q"))
    assert found.material == ()


async def test_a_quoted_forward_is_unfolded() -> None:
    flat = [
        item("om_q", "Merged", "merge_forward"),
        item("om_a", text("inside"), upper_message_id="om_q"),
    ]
    found = await gathered(Shelf({"om_q": flat}), asked("quote", "why?", parent="om_q"))
    assert [t for _, _, t, _ in said(found)] == ["inside"]


async def test_a_quoted_answer_of_ours_is_only_pointed_at() -> None:
    own = item("om_q", text("long answer " * 90), by="cli_x")
    found = await gathered(Shelf({"om_q": [own]}), asked("quote", "why?", parent="om_q"))
    assert [(p.author, len(p.text)) for p in found.material] == [("you, the bot", 300)]


RAW: Item = {
    "header": {"title": {"tag": "plain_text", "content": "Approval"}},
    "body": {
        "elements": [
            {"tag": "markdown", "content": "Budget 42"},
            {"tag": "column_set", "columns": [
                {"tag": "column", "elements": [{"tag": "markdown", "content": "in a column"}]}]},
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("content", [RAW, {"json_card": json.dumps(RAW)}])
async def test_a_forwarded_card_is_read_whole_and_is_not_the_askers_words(content: Item) -> None:
    shelf = Shelf({"om_1": [item("om_1", content, "interactive", "ou_demo_alice")]})
    found = await gathered(shelf, asked("card", "Approval"))
    assert found.text == ""
    assert said(found) == [("card", "", "Approval\nBudget 42\nin a column", 0)]


async def test_a_card_that_is_not_handed_out_is_read_as_the_event_showed_it() -> None:
    found = await gathered(Shelf({"om_1": 230002}), asked("card", "Approval"))
    assert [(p.kind, p.text) for p in found.material if p.kind == "card"] == [("card", "Approval")]


async def test_a_topic_comes_with_its_root_and_newest_messages() -> None:
    chat = ChatRef("oc_demo_alice", "group", "om_1", thread="om_r", topic=True)
    topic = [
        item(f"om_t{n}", text(f"reply {n}"), create_time=str(1764547000000 + n)) for n in range(60)
    ]
    topic.append(item("om_own", text("my answer"), by="cli_x", create_time="1764547099000"))
    topic.append(item("om_ci", text("built"), by="cli_ci", create_time="1764547099001"))
    topic.append(item("om_1", text("and this?"), create_time="1764547200000"))
    topic.append(item("om_late", text("later"), create_time="1764547999000"))
    shelf = Shelf({"om_r": [item("om_r", text("the root"))]}, topic=topic, more=True)
    found = await gathered(
        shelf, replace(asked("thread", "and this?", thread_id="omt_1"), chat=chat)
    )
    shown = [t for _, _, t, _ in said(found)]
    assert shown[0] == "the root"
    assert shown[-2:] == ["reply 59", "built"]
    assert not {"my answer", "and this?", "later", "reply 0"} & set(shown)
    assert found.material[-1].author == "cli_ci (a bot)"


async def test_names_are_asked_for_once_and_only_so_many() -> None:
    flat = [
        item(f"om_m{n}", text("x"), by=f"ou_{n % 15}", upper_message_id="om_1") for n in range(30)
    ]
    shelf = Shelf({"om_1": flat}, names={f"ou_{n}": f"P{n}" for n in range(15)})
    found = await gathered(shelf, asked("merge_forward"))
    assert len([call for call in shelf.calls if call.startswith("contact")]) == 10
    assert [piece.author for piece in found.material][:2] == ["P0", "P1"]
    assert found.material[14].author == "ou_14"


async def test_an_edited_question_is_read_anew_without_our_mention() -> None:
    mention: Item = {"key": "@_user_1", "id": "ou_bot", "id_type": "open_id", "name": "Bot"}
    edited = item("om_1", text("@_user_1 new words"), updated=True, mentions=[mention])
    found = await gathered(Shelf({"om_1": [edited]}), asked("", "old words"), again=True)
    assert (found.text, found.language) == ("new words", "en")


@pytest.mark.parametrize("answer", [[item("om_1", text("x"), deleted=True)], 230011, 231003])
async def test_a_recalled_question_is_gone(answer: int | list[Item]) -> None:
    shelf = Shelf({"om_1": answer})
    assert await shelf.gatherer().gather(asked("", "old words"), again=True) is None


@pytest.mark.parametrize("answer", [230002, 99991672, [], [item("om_1", text("other"))]])
async def test_a_question_that_can_not_be_read_again_stays(answer: int | list[Item]) -> None:
    found = await gathered(Shelf({"om_1": answer}), asked("", "old words"), again=True)
    assert found.text == "old words"


async def test_what_came_with_the_event_is_kept() -> None:
    before = Material("shared", text="kept")
    found = await gathered(Shelf(), replace(asked("", "x"), material=(before,)))
    assert found.material == (before,)

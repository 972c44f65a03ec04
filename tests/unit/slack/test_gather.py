"""What the worker fetches for a Slack question, against a Web API in memory."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from agent.domain import Attachment, ChatRef, Identity, Material, Question
from connectors.incoming import Home, Message
from connectors.slack import events
from connectors.slack.api import SlackApi
from connectors.slack.gather import SlackGatherer
from tests.fakes import platform_samples as samples
from tests.fakes.clock import FakeClock

Item = dict[str, Any]
ROOT = "1000.0"


@dataclass(slots=True)
class Shelf:
    """A thread in pages of `size`; `faults` name the error of a method, once for each entry."""

    thread: list[Item] = field(default_factory=list[Item])
    size: int = 200
    flow: dict[str, Item] = field(default_factory=dict[str, Item])
    files: dict[str, Item] = field(default_factory=dict[str, Item])
    faults: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    calls: list[str] = field(default_factory=list[str])

    def gatherer(self) -> SlackGatherer:
        client = httpx.AsyncClient(
            transport=httpx.MockTransport(self.handle), base_url="http://slack.test/api/"
        )
        return SlackGatherer(SlackApi("xoxb", "http://slack.test/api/", FakeClock(), client))

    def handle(self, request: httpx.Request) -> httpx.Response:
        method = request.url.path.removeprefix("/api/")
        raw = request.content.decode()
        body = dict(urllib.parse.parse_qsl(raw)) if not raw.startswith("{") else json.loads(raw)
        self.calls.append(method)
        if faults := self.faults.get(method):
            return httpx.Response(200, json={"ok": False, "error": faults.pop(0)})
        return httpx.Response(200, json={"ok": True, **self._answer(method, body)})

    def _answer(self, method: str, body: dict[str, str]) -> Item:
        match method:
            case "auth.test":
                return {"user_id": "U0BOT", "bot_id": "B0BOT", "team_id": "T1"}
            case "users.info":
                return {"user": {"real_name": f"Name of {body['user']}"}}
            case "files.info":
                return {"file": self.files[body["file"]]}
            case "conversations.history":
                found = self.flow.get(body["latest"])
                return {"messages": [found] if found else []}
            case _:
                oldest = float(body.get("oldest", 0))
                flow = [m for m in self.thread if float(m["ts"]) >= oldest]
                start = int(body.get("cursor", 0))
                end = start + self.size
                after = str(end) if end < len(flow) else ""
                head = self.thread[:1] if start or oldest else []
                page = [*head, *flow[start:end]]
                return {"messages": page, "response_metadata": {"next_cursor": after}}


def message(ts: str, text: str, user: str = "U2", **more: Any) -> Item:
    return {"type": "message", "ts": ts, "user": user, "text": text, "thread_ts": ROOT, **more}


def asked(ts: str = "2000.0", text: str = "why?", deferred: str = "thread") -> Question:
    """Alice's question in the thread, or in the main flow when no thread is wanted."""
    thread = ROOT if "thread" in deferred else None
    chat = ChatRef("C1", "group", ts, thread=thread)
    alice = Identity("org", "slack", "A1", "T1", "U1")
    return Question(alice, chat, text, "en", float(ts), deferred=deferred)


async def gathered(shelf: Shelf, question: Question, *, again: bool = False) -> Question:
    found = await shelf.gatherer().gather(question, again=again)
    assert found is not None
    return found


def texts(found: Question) -> list[str]:
    return [piece.text for piece in found.material if piece.kind != "left_out"]


async def test_c_sl_05_the_newest_replies_of_a_long_thread_are_read() -> None:
    """C-SL-05: the case's own pages; cursor followed, parent and newest replies present."""
    pages = samples.case("slack", "thread_200_replies_pages")["pages"]
    everything = [one for page in pages for one in page["messages"]]
    known = {one["ts"]: one for one in everything}
    thread = [known[ts] for ts in sorted(known, key=float)]
    last = thread[-1]
    chat = ChatRef("C1", "group", last["ts"], thread=thread[0]["ts"])
    question = replace(asked(), chat=chat, asked_at=float(last["ts"]), text=last["text"])
    found = await gathered(Shelf(thread, size=50), question)
    shown = texts(found)
    assert shown[0] == thread[0]["text"]
    assert found.material[-1].text == thread[-2]["text"]
    assert any("eu-case-9" in text for text in shown)
    assert last["text"] not in shown


@pytest.mark.parametrize("replies", [1, 49, 50, 51, 199, 200, 201, 1999, 2001, 5000])
@pytest.mark.parametrize("size", [15, 50, 200])
async def test_c_sl_05_the_reply_before_the_question_is_read_at_any_length(
    replies: int, size: int
) -> None:
    """C-SL-05: whatever the length of the thread and of its pages."""
    thread = [message(ROOT, "the root")]
    thread += [message(f"{1001 + n}.0", f"reply {n}") for n in range(replies)]
    question = asked(f"{1001 + replies}.0")
    thread += [message(question.chat.message, "why?", "U1"), message("99999.0", "later")]
    found = await gathered(Shelf(thread, size=size), question)
    assert found.material[-1].text == f"reply {replies - 1}"
    assert any((p.kind, p.text) == ("parent", "the root") for p in found.material)
    assert not {"why?", "later"} & set(texts(found))


async def test_c_sl_05_others_are_quoted_under_their_names_and_our_answers_left_out() -> None:
    """C-SL-05: bots and other people are data; what we said is in the thread's memory."""
    thread = [
        message(ROOT, "root"),
        message("1001.0", "our answer", "U0BOT", bot_id="B0BOT"),
        message("1002.0", "our stream", "", bot_id="B0BOT"),
        message("1003.0", "build failed", "U0CI", bot_id="B0CI", bot_profile={"name": "CI"}),
        message("1004.0", "an old-style bot", "", bot_id="B9", username="legacy"),
        message("1005.0", "see <@U3> &lt;here&gt;", "U1"),
        message("1006.0", "", subtype="tombstone"),
        message("1007.0", "", files=[{"id": "F1", "name": "a.png", "mimetype": "image/png"}]),
    ]
    found = await gathered(Shelf(thread), asked())
    assert [(p.author, p.text) for p in found.material] == [
        ("Name of U2", "root"),
        ("CI (a bot)", "build failed"),
        ("legacy (a bot)", "an old-style bot"),
        ("Name of U1", "see @U3 <here>"),
        ("Name of U2", "[a deleted message]"),
        ("Name of U2", "[picture a.png, not read]"),
    ]


@pytest.mark.parametrize("error", ["missing_scope", "not_in_channel", "ratelimited", "fatal_error"])
async def test_c_sl_05_a_thread_that_can_not_be_read_is_said(error: str) -> None:
    """C-SL-05: the question is answered all the same."""
    shelf = Shelf([message(ROOT, "root")], faults={"conversations.replies": [error]})
    found = await gathered(shelf, asked())
    assert found.text == "why?"
    assert [piece.kind for piece in found.material] == ["unread"]


async def test_a_page_that_is_refused_leaves_what_was_read() -> None:
    thread = [message(ROOT, "root"), *(message(f"{1001 + n}.0", f"r{n}") for n in range(40))]
    shelf = Shelf(thread, size=20)
    gatherer = shelf.gatherer()
    shelf.faults["conversations.replies"] = []
    answer = shelf.handle

    def second_fails(request: httpx.Request) -> httpx.Response:
        if shelf.calls.count("conversations.replies") == 1:
            shelf.faults["conversations.replies"] = ["ratelimited"]
        return answer(request)

    client = httpx.AsyncClient(
        transport=httpx.MockTransport(second_fails), base_url="http://slack.test/api/"
    )
    gatherer = SlackGatherer(SlackApi("x", "http://slack.test/api/", FakeClock(), client))
    found = await gatherer.gather(asked(), again=False)
    assert found is not None
    assert found.material[0].text == "root"
    assert "newest messages" in found.material[-1].text


def interpreted(**event: Any) -> Question:
    envelope: Item = {
        "type": "event_callback", "api_app_id": "A1", "team_id": "T1", "event_id": "Ev1",
        "event": {"type": "message", "user": "U1", "channel": "D1", "channel_type": "im",
                  "ts": "5.1", "text": ""} | event,
        "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
    }  # fmt: skip
    got = events.interpret(envelope, Home("org"), 0.0)
    assert isinstance(got, Message)
    return got.question


SHARED: Item = {
    "is_share": True, "author_name": "Chen", "author_id": "U3", "ts": "4.5",
    "text": "The window moves to <https://a.example|Thursday>", "fallback": "x",
}  # fmt: skip


@pytest.mark.parametrize(
    ("attachment", "author", "text"),
    [
        (SHARED, "Chen", "The window moves to [Thursday](https://a.example)"),
        ({"service_name": "Wiki", "title": "Plan", "text": "a & b"}, "Wiki", "Plan\na & b"),
        ({"fallback": "only this"}, "", "only this"),
        (
            {"author_name": "Chen", "message_blocks": [{"type": "section", "text":
                {"type": "mrkdwn", "text": "in blocks"}}]},
            "Chen", "in blocks",
        ),
        ({"author_name": "Chen", "files": [{"id": "F1", "name": "a.pdf"}]}, "Chen",
         "[file a.pdf, not read]"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", ["", "is this right?"])
def test_shared_messages_and_previews_are_data(
    attachment: Item, author: str, text: str, words: str
) -> None:
    found = interpreted(text=words, attachments=[attachment])
    assert found.text == words
    assert [(p.kind, p.author, p.text) for p in found.material] == [("shared", author, text)]


def test_deleted_and_hidden_files_are_named() -> None:
    found = interpreted(
        text="look",
        subtype="file_share",
        files=[
            {"id": "F1", "name": "a.png", "mode": "tombstone"},
            {"id": "F2", "name": "b.pdf", "mode": "hidden_by_limit"},
        ],
    )
    assert [p.text for p in found.material] == [
        "Not read: [file a.png, deleted].",
        "Not read: [file b.pdf, hidden by the storage limit].",
    ]
    assert found.attachments == ()


async def test_a_file_of_another_workspace_gets_its_name() -> None:
    info = {"id": "F1", "name": "b.pdf", "mimetype": "application/pdf", "size": 9,
            "url_private": "https://files.example/b"}  # fmt: skip
    question = interpreted(subtype="file_share", text="x",
                           files=[{"id": "F1", "file_access": "check_file_info"}])  # fmt: skip
    assert question.deferred == "files"
    found = await gathered(Shelf(files={"F1": info}), question)
    assert found.attachments == (
        Attachment("file", "F1", "b.pdf", "application/pdf", 9, "https://files.example/b"),
    )
    refused = await gathered(Shelf(faults={"files.info": ["missing_scope"]}), question)
    assert refused.attachments == question.attachments


async def test_an_edited_question_is_read_anew() -> None:
    edited = message("2000.0", "<@U0BOT> und <@U3|Chen>?", "U1", edited={"ts": "2001.0"})
    found = await gathered(Shelf(flow={"2000.0": edited}), asked(deferred=""), again=True)
    assert found.text == "und @Chen?"
    in_thread = Shelf([message(ROOT, "root"), edited])
    found = await gathered(in_thread, asked(), again=True)
    assert (found.text, texts(found)) == ("und @Chen?", ["root"])
    assert "conversations.history" not in in_thread.calls


@pytest.mark.parametrize("more", [{}, {"edited": {"ts": "1"}, "user": "U9"}])
async def test_what_the_asker_did_not_edit_stays(more: Item) -> None:
    now = message("2000.0", "other words", "U1") | more
    found = await gathered(Shelf(flow={"2000.0": now}), asked(deferred=""), again=True)
    assert found.text == "why?"


async def test_a_deleted_question_is_gone() -> None:
    assert await Shelf().gatherer().gather(asked(deferred=""), again=True) is None
    stone = message("2000.0", "", "USLACKBOT", subtype="tombstone")
    shelf = Shelf([message(ROOT, "root"), stone])
    assert await shelf.gatherer().gather(asked(), again=True) is None


async def test_a_question_that_can_not_be_read_again_stays() -> None:
    shelf = Shelf(faults={"conversations.history": ["missing_scope"]})
    found = await gathered(shelf, asked(deferred=""), again=True)
    assert found.text == "why?"


async def test_what_came_with_the_event_stands_behind_the_thread() -> None:
    question = replace(asked(), material=(Material("shared", text="shared"),))
    found = await gathered(Shelf([message(ROOT, "root")]), question)
    assert texts(found) == ["root", "shared"]


def test_a_channel_with_outsiders_is_marked() -> None:
    event = samples.sample("slack", "app_mention_external_user")["payload"]
    got = events.interpret(event, Home("org"), 0.0)
    assert isinstance(got, Message)
    assert got.question.asker.external
    assert got.question.platform_hints["outsiders"] == "1"

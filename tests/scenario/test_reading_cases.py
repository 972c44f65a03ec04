"""The public cases about receiving, each with its whole kind and not its one input."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import Question
from agent.durable import keys
from connectors.feishu import events as feishu_events
from connectors.feishu import reader
from connectors.incoming import Action, Home, Ignored, Incoming, Message
from connectors.slack import events as slack_events
from connectors.slack import mrkdwn
from tests.fakes import platform_samples as samples

Json = dict[str, Any]
HOME = Home("org")


def case(platform: str, name: str) -> Any:
    return deepcopy(samples.case(platform, name))


def slack(payload: Json) -> Incoming:
    return slack_events.interpret(payload, HOME, 0.0)


def feishu(payload: Json, home: Home = HOME) -> Incoming:
    return feishu_events.interpret(payload, home, 0.0)


def question_of(got: Incoming) -> Question:
    assert isinstance(got, Message)
    return got.question


# --- Slack -----------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"type": "message", "channel_type": "channel"}])
def test_c_sl_01_the_same_message_is_the_same_turn_under_any_event(more: Json) -> None:
    """C-SL-01: a mention and its twin as a message, under two event ids, make one turn."""
    payload = case("slack", "retry_same_event")
    first = question_of(slack(payload))
    payload["event_id"] = "Ev_OTHER"
    payload["event"] |= more
    again = question_of(slack(payload))
    turns = {keys.turn_id(q.asker.app, q.chat.chat, q.chat.message) for q in (first, again)}
    assert len(turns) == 1
    assert keys.session_id(first.asker, first.chat) == keys.session_id(again.asker, again.chat)


@pytest.mark.parametrize("channel_type", ["im", "channel", "group", "mpim", None])
@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("text", ["", "a text", "<@U0CASEBOT> a text"])
@pytest.mark.parametrize(
    "subtype", ["message_changed", "message_replied", "channel_topic", "bot_message", "unknown"]
)
def test_c_sl_02_no_change_of_a_message_asks_anything(
    channel_type: str | None, hidden: bool, text: str, subtype: str
) -> None:
    """C-SL-02: whatever changed where, and with whatever words: nobody asked."""
    payload = case("slack", "own_message_unfurl_changed")
    payload["event"] |= {"channel_type": channel_type, "hidden": hidden, "subtype": subtype}
    payload["event"] |= {"text": text, "user": "U0ALICE01"}
    assert isinstance(slack(payload), Ignored)


@pytest.mark.parametrize(
    "author",
    [{"user": "U0CASEBOT"}, {"bot_id": "B0CASE001"}, {"user": "U0X", "bot_id": "B9"},
     {"user": "U0X", "bot_profile": {"id": "B9"}}, {"user": "USLACKBOT"}],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["message", "app_mention"])
def test_c_sl_02_no_bot_asks_anything(author: Json, kind: str) -> None:
    """C-SL-02: neither our own messages nor those of other bots are questions."""
    payload = case("slack", "retry_same_event")
    payload["event"] = {**payload["event"], "type": kind, "channel_type": "im"} | author
    assert isinstance(slack(payload), Ignored)


WORDS = st.text("abc 汉字<&>*_", min_size=1, max_size=12).filter(str.strip)
INLINE = st.one_of(
    WORDS.map(lambda w: ({"type": "text", "text": w}, w)),
    WORDS.map(lambda w: ({"type": "text", "text": w, "style": {"bold": True}}, w)),
    WORDS.map(lambda w: ({"type": "link", "url": "https://a.example/p", "text": w}, w)),
    WORDS.map(lambda w: ({"type": "something_new", "text": w}, w)),
    st.just(({"type": "user", "user_id": "U0BOB0001"}, "@U0BOB0001")),
)
PART = st.sampled_from(["rich_text_section", "rich_text_quote", "rich_text_preformatted", "new"])


@given(st.lists(st.tuples(PART, st.lists(INLINE, min_size=1, max_size=4)), max_size=5))
def test_c_sl_04_the_words_of_any_blocks_are_read_in_their_order(
    parts: list[tuple[str, list[tuple[Json, str]]]],
) -> None:
    """C-SL-04: every word of rich text, whatever holds it, in reading order."""
    elements: Any = [
        {"type": kind, "elements": [element for element, _ in inline]} for kind, inline in parts
    ]
    read = mrkdwn.blocks([{"type": "rich_text", "elements": elements}], frozenset()).text
    at = 0
    for _, inline in parts:
        for _, word in inline:
            for piece in word.split():
                at = read.index(piece, at) + len(piece)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "section", "text": {"type": "mrkdwn", "text": "find me"}},
        {"type": "section", "fields": [{"type": "plain_text", "text": "find me"}]},
        {"type": "header", "text": {"type": "plain_text", "text": "find me"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "find me"}]},
        {"type": "markdown", "text": "find me"},
        {"type": "image", "alt_text": "find me", "image_url": "https://a.example/i.png"},
        {"type": "video", "title": {"type": "plain_text", "text": "find me"}},
        {"type": "brand_new", "text": {"type": "plain_text", "text": "find me"}},
        {"type": "actions", "elements": [{"type": "button",
            "text": {"type": "plain_text", "text": "find me"}}]},
    ],
)  # fmt: skip
def test_c_sl_04_each_kind_of_block_is_read(block: Json) -> None:
    """C-SL-04: content outside of the text, in every kind of block."""
    payload = case("slack", "blocks_only_message")
    payload["event"]["blocks"] = [block]
    assert question_of(slack(payload)).text == "find me"


@pytest.mark.parametrize("mode", ["hosted", "snippet", "external", "tombstone", "hidden_by_limit"])
@pytest.mark.parametrize("words", ["what does this chart say?", ""])
def test_c_sl_06_a_message_with_files_is_a_question_and_names_them(mode: str, words: str) -> None:
    """C-SL-06: the turn goes on with the text; the file is known by name and was not read."""
    payload = case("slack", "file_share_event")
    payload["event"]["text"] = words
    payload["event"]["files"][0]["mode"] = mode
    got = question_of(slack(payload))
    assert got.text == words
    named = [a.name for a in got.attachments] + [p.text for p in got.material]
    assert any("chart.png" in name for name in named)


@pytest.mark.parametrize("team", ["T0HOME0001", "T0OTHER001", "T0THIRD001"])
@pytest.mark.parametrize("installed", [True, False])
def test_c_sl_10_a_press_is_known_by_its_own_value(team: str, installed: bool) -> None:
    """C-SL-10: the team of the click is no part of what was pressed or of where."""
    click = case("slack", "grid_two_team_ids")["click"]["form"]["payload"]
    click |= {"team": {"id": team}, "is_enterprise_install": installed}
    got = slack_events.interpret_control(click, HOME)
    assert isinstance(got, Action)
    assert (got.value, got.user, got.message) == ("ap-77", "W0ALICE01", "1790000040.000100")


# --- Feishu ----------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(1, 12))
def test_c_fs_02_each_placeholder_becomes_its_own_person(order: list[int], own: int) -> None:
    """C-FS-02: also where one placeholder is the beginning of another, in any order."""
    listed: Any = [
        {"key": f"@_user_{n}", "id": {"open_id": "ou_bot" if n == own else f"ou_{n}"},
         "name": f"P{n}."} for n in range(1, 13)
    ]  # fmt: skip
    mentions = reader.read_mentions(listed, "ou_bot")
    read = reader.resolve(" ".join(f"@_user_{n}" for n in order), mentions)
    assert read.split() == [f"@P{n}." for n in order if n != own]
    assert len(mentions.people) == 11


TAGS = st.sampled_from(["text", "md", "a", "emotion", "hr", "new_tag", "", None, 7])
LEAF: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"tag": TAGS, "text": st.integers(0, 999).map(lambda n: f"w{n}")}
)


@given(st.lists(st.lists(LEAF, max_size=4), max_size=4), st.booleans())
def test_c_fs_03_no_tag_raises_and_words_keep_their_order(
    rows: list[list[Json]], wrapped: bool
) -> None:
    """C-FS-03: unknown and decorative tags, locale wrappers, rows of any shape."""
    body: Json = {"title": "T", "content": rows}
    if wrapped:
        body = {"zh_cn": body}
    read = reader.read("post", json.dumps(body), reader.Mentions({}, frozenset())).text
    at = 0
    for element in (e for row in rows for e in row):
        if element["tag"] not in ("emotion", "hr"):
            at = read.index(element["text"], at) + len(element["text"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["tag", "text", "content", "title", "elements", "image_key", "href"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    )
)
def test_c_fs_03_no_content_raises(content: Any) -> None:
    """C-FS-03: whatever JSON a post or a card holds."""
    for kind in ("post", "interactive", "text", "image", "file", "unheard_of"):
        reader.read(kind, json.dumps(content), reader.Mentions({}, frozenset()))


@pytest.mark.parametrize("kind", ["p2p", "group"])
@pytest.mark.parametrize("thread", [{}, {"thread_id": "omt_1", "root_id": "om_r"}])
@pytest.mark.parametrize("retold", [{"event_id": "ev_x"}, {"create_time": "1790009999000"}])
def test_c_fs_05_a_message_is_its_own_turn_whatever_the_event(
    kind: str, thread: Json, retold: Json
) -> None:
    """C-FS-05: known by message id, so that another event id or delivery time is no new turn."""
    payload = case("feishu", "text_two_mentions")
    payload["event"]["message"] |= {"chat_type": kind, **thread}
    first = question_of(feishu(payload))
    payload["header"] |= retold
    again = question_of(feishu(payload))
    assert _place(first) == _place(again)


def _place(asked: Question) -> tuple[str, str, str]:
    chat = asked.chat
    return (
        keys.turn_id(asked.asker.app, chat.chat, chat.message),
        keys.session_id(asked.asker, chat),
        keys.order(asked.asked_at),
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_c_fs_10_a_session_is_a_topic_and_an_answer_goes_to_a_message(
    said: list[tuple[int, int]],
) -> None:
    """C-FS-10: messages share a session exactly when they share their topic."""
    topics: dict[str, set[int]] = {}
    for topic, n in said:
        payload = case("feishu", "two_topics_one_chat")[0]
        payload["event"]["message"] |= {
            "message_id": f"om_{topic}_{n}", "thread_id": f"omt_{topic}",
            "root_id": f"om_root_{topic}", "parent_id": f"om_root_{topic}",
        }  # fmt: skip
        got = question_of(feishu(payload))
        topics.setdefault(keys.session_id(got.asker, got.chat), set()).add(topic)
        assert not got.chat.reply_root.startswith("omt_")
        assert got.chat.topic
    assert all(len(inside) == 1 for inside in topics.values())
    assert len(topics) == len({topic for topic, _ in said})


@pytest.mark.parametrize("user_id", ["92case4g", "", None])
def test_c_fs_11_a_person_is_the_open_id_within_the_app(user_id: str | None) -> None:
    """C-FS-11: neither union nor user id counts, and another app's open id is another person."""
    data = case("feishu", "sender_three_ids")
    payload = data["event"]
    payload["event"]["sender"]["sender_id"]["user_id"] = user_id
    first = question_of(feishu(payload)).asker
    other = data["other_app_same_person"]
    payload["header"]["app_id"] = other["app_id"]
    payload["event"]["sender"]["sender_id"]["open_id"] = other["open_id"]
    second = question_of(feishu(payload)).asker
    assert (first.user, second.user) == ("ou_case_alice_app1", "ou_case_alice_app2")
    assert first.principal != second.principal
    assert "on_case_alice" not in first.principal + second.principal


def test_c_fs_11_an_event_of_another_app_is_refused() -> None:
    """C-FS-11: an open id of app 1 never gets into app 2."""
    payload = case("feishu", "sender_three_ids")["event"]
    assert not isinstance(feishu(payload, Home("org", app="cli_case000000002")), Message)

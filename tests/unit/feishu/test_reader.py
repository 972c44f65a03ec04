"""What a Feishu message is read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import Json
from connectors import wire
from connectors.feishu import events, reader
from connectors.incoming import Home, Ignored, Message

BOT: Json = {"key": "@_user_1", "id": {"open_id": "ou_bot"}, "mentioned_type": "bot", "name": "Bot"}
OTHER_BOT: Json = {
    "key": "@_user_2",
    "id": {"open_id": "ou_ci"},
    "mentioned_type": "bot",
    "name": "CI",
}


def _payload(content: object, kind: str = "text", **message: Any) -> dict[str, Any]:
    base = {
        "message_id": "om_1",
        "chat_id": "oc_1",
        "chat_type": "p2p",
        "message_type": kind,
        "content": json.dumps(content),
        "create_time": "1767225599123",
    }
    sender = {"sender_id": {"open_id": "ou_a"}, "sender_type": "user", "tenant_key": "t"}
    header = {
        "event_id": "e",
        "event_type": "im.message.receive_v1",
        "app_id": "cli_1",
        "tenant_key": "t",
    }
    return {
        "schema": "2.0",
        "header": header,
        "event": {"sender": sender, "message": base | message},
    }


def _read(payload: dict[str, Any], bot: str = "") -> Message:
    got = events.interpret(payload, Home("org", bot=bot), 5.0)
    assert isinstance(got, Message)
    return got


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("@_user_1 hi", "hi"),
        ("hi @_user_1 there", "hi there"),
        ("hi@_user_1there", "hithere"),
        ("@_user_2 and @_user_3", "@CI and @_user_3"),
        ("@_all: read", "@all: read"),
        ("@_all_x", "@_all_x"),
    ],
)
def test_mentions(text: str, want: str) -> None:
    mentions = reader.read_mentions([BOT, OTHER_BOT], "ou_bot")
    assert reader.resolve(text, mentions) == want


def test_only_our_own_bot_is_addressed_when_its_id_is_known() -> None:
    payload = _payload({"text": "@_user_2 build"}, chat_type="group", mentions=[OTHER_BOT])
    got = events.interpret(payload, Home("org", bot="ou_bot"), 0.0)
    assert got == Ignored("not_addressed")
    assert _read(payload).question.text == "build"


@pytest.mark.parametrize("kind", ["audio", "media", "sticker", "share_chat", "share_user", "todo"])
def test_kinds_that_can_not_be_read_are_named(kind: str) -> None:
    assert _read(_payload({"file_key": "k"}, kind)).question.unsupported == kind


def test_the_placeholder_of_a_merged_forward_is_not_the_question() -> None:
    payload = _payload({}, "merge_forward")
    payload["event"]["message"]["content"] = "Merged and Forwarded Message"
    question = _read(payload).question
    assert (question.text, question.deferred) == ("", "merge_forward")


def test_a_quotation_in_a_direct_chat_stays_in_its_session() -> None:
    quoted = _read(_payload({"text": "x"}, root_id="om_0", parent_id="om_0")).question.chat
    topic = _read(_payload({"text": "x"}, root_id="om_0", thread_id="omt_1")).question.chat
    assert (quoted.session_root, topic.session_root) == ("", "om_0")
    assert (quoted.topic, topic.topic) == (False, True)


def test_a_person_of_another_tenant_is_external() -> None:
    payload = _payload({"text": "x"})
    payload["event"]["sender"]["tenant_key"] = "elsewhere"
    assert _read(payload).question.asker.external


def test_times_are_seconds_and_fall_back_to_now() -> None:
    assert _read(_payload({"text": "x"})).question.asked_at == 1767225599.123
    assert _read(_payload({"text": "x"}, create_time=None)).question.asked_at == 5.0


@given(st.text(st.characters(), max_size=50))
def test_text_is_always_storable_and_idempotent(text: str) -> None:
    clean = wire.text(text)
    clean.encode()
    assert wire.text(clean) == clean


def test_a_very_long_text_is_cut_at_a_character() -> None:
    assert len(wire.text("衡" * 100_000).encode()) <= wire.MAX_TEXT_BYTES


def test_lone_surrogates_are_replaced() -> None:
    assert _read(_payload({"text": "a\ud800b"})).question.text == "a\ufffdb"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("report\u202efdp.exe", "reportfdp.exe"),
        ("a\x00b\x1b[31m.pdf", "ab[31m.pdf"),
        ("two\n \u2066lines\u2069\ufeff", "two lines"),
        ("\u200b\u200f", ""),
        ("家庭👩\u200d👩\u200d👧.png", "家庭👩\u200d👩\u200d👧.png"),
        (5, ""),
    ],
)
def test_no_name_hides_or_turns_what_stands_beside_it(name: object, shown: str) -> None:
    assert wire.name(name) == shown

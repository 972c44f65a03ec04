"""What a Slack message is read as."""

from __future__ import annotations

from typing import Any

import pytest

from agent.domain import Attachment, Json
from connectors.incoming import Home, Ignored, Incoming, Message
from connectors.slack import events, mrkdwn, reader

OWN = frozenset({"U0BOT"})


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("<@U0BOT> hi", "hi"),
        ("hi <@U0BOT> there", "hi there"),
        ("<@U1|ada> &amp;lt; <b", "@ada &lt; <b"),
        ("<#C1|eng> <#C2> <!here> <!subteam^S1|@ops>", "#eng #C2 @here @ops"),
        ("<https://a.example/?x=1&amp;y=2|page>", "[page](https://a.example/?x=1&y=2)"),
        ("<https://a.example|a.example> <mailto:x@a.example|x@a.example>",
         "https://a.example x@a.example"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("1 &lt; 2 &gt; 0", "1 < 2 > 0"),
        ("<>", "<>"),
    ],
)  # fmt: skip
def test_mrkdwn_becomes_plain_words(text: str, want: str) -> None:
    assert mrkdwn.plain(text, OWN).text == want


def _envelope(**event: Any) -> dict[str, Any]:
    base = {
        "type": "message",
        "user": "U1",
        "channel": "C1",
        "ts": "5.1",
        "channel_type": "channel",
    }
    return {
        "type": "event_callback",
        "api_app_id": "A1",
        "team_id": "T1",
        "event_id": "Ev1",
        "event": base | event,
        "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
    }


def _get(**event: Any) -> Incoming:
    return events.interpret(_envelope(**event), Home("org"), 0.0)


def test_a_channel_message_counts_when_it_names_the_bot() -> None:
    assert _get(text="hi all") == Ignored("not_addressed")
    assert _get(text="<@U0BOTX> hi") == Ignored("not_addressed")
    got = _get(text="<@U0BOT|plumbline> hi")
    assert isinstance(got, Message)
    assert got.question.text == "hi"
    named = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
        {"type": "user", "user_id": "U0BOT"}, {"type": "text", "text": " hi"}]}]}]  # fmt: skip
    assert isinstance(_get(text="", blocks=named), Message)


def test_a_broadcast_reply_keeps_its_thread() -> None:
    got = _get(text="<@U0BOT> hi", subtype="thread_broadcast", thread_ts="1.0")
    assert isinstance(got, Message)
    assert got.question.chat.thread == "1.0"


@pytest.mark.parametrize(
    "extra",
    [{"bot_id": "B1"}, {"bot_profile": {}, "subtype": "x"}, {"subtype": "channel_join"},
     {"user": "U0BOT"}, {"hidden": True}, {"subtype": "message_changed"}],
)  # fmt: skip
def test_what_no_person_newly_wrote_is_ignored(extra: dict[str, Any]) -> None:
    assert isinstance(_get(text="<@U0BOT> hi", **extra), Ignored)


def test_files_keep_their_address_and_deleted_ones_are_left_out() -> None:
    found = reader.files(
        [
            {
                "id": "F1",
                "name": "a.png",
                "mimetype": "image/png",
                "size": 3,
                "url_private": "https://f",
            },
            {"id": "F2", "mode": "tombstone"},
            {"id": "F3", "file_access": "check_file_info"},
            {"id": "F4", "url_private": "file:///etc/passwd"},
        ]
    )
    assert found == (
        Attachment("image", "F1", "a.png", "image/png", 3, "https://f"),
        Attachment("file", "F3"),
        Attachment("file", "F4"),
    )


def test_a_shared_message_is_material_and_never_the_askers_words() -> None:
    got = _get(channel="D1", channel_type="im", text="", attachments=[{"text": "TTL is 300"}])
    assert isinstance(got, Message)
    assert got.question.text == ""
    assert [piece.text for piece in got.question.material] == ["TTL is 300"]


def test_lists_quotes_and_unknown_parts_of_blocks() -> None:
    rich: Json = {"type": "rich_text", "elements": [
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "a\nb"}]},
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": [
            {"type": "rich_text_section", "elements": [{"type": "emoji", "name": "wave"}]}]},
        {"type": "new_part", "elements": [{"type": "broadcast", "range": "here"}]},
    ]}  # fmt: skip
    section: Json = {"type": "section", "text": {"type": "mrkdwn", "text": "see <@U2>"},
               "fields": [{"type": "plain_text", "text": "f"}]}  # fmt: skip
    read = mrkdwn.blocks([rich, section, {"type": "divider"}], OWN)
    assert read.text == "> a\n> b\n  1. :wave:\n@here\nsee @U2\nf"
    assert read.people == (("U2", ""),)

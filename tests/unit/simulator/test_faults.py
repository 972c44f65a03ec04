"""Small laws of the fault switches and of Feishu's frames."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.faults.board import KINDS, Board
from simulator.faults.scopes import scope_of
from simulator.lines import frames
from simulator.lines.frames import WireFrame

README = Path(__file__).parents[3] / "simulator" / "README.md"
WORDS = st.text(max_size=300)


def test_the_readme_tells_of_every_kind() -> None:
    text = README.read_text("utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in text and f'"{kind}"' not in text] == []


@given(
    st.builds(
        WireFrame,
        method=st.integers(0, 1),
        headers=st.dictionaries(WORDS, WORDS, max_size=5),
        payload=st.binary(max_size=70_000),
        service=st.integers(0, 2**31 - 1),
    )
)
def test_a_frame_that_is_written_is_read_again(frame: WireFrame) -> None:
    assert frames.read(frames.write(frame)) == frame


@pytest.mark.parametrize(
    ("platform", "method", "path", "channel", "scope"),
    [
        ("feishu", "POST", "/open-apis/im/v1/messages", "", "im:message:send_as_bot"),
        ("feishu", "POST", "/open-apis/im/v1/messages/om_1/reply", "", "im:message:send_as_bot"),
        ("feishu", "POST", "/open-apis/im/v1/messages/search", "", "search:message"),
        ("feishu", "GET", "/open-apis/im/v1/messages/om_1", "", "im:message:readonly"),
        ("feishu", "PATCH", "/open-apis/im/v1/messages/om_1", "", "im:message:update"),
        ("feishu", "GET", "/open-apis/bot/v3/info", "", ""),
        ("slack", "POST", "/api/chat.startStream", "", "chat:write"),
        ("slack", "POST", "/api/conversations.replies", "D1", "im:history"),
        ("slack", "POST", "/api/conversations.replies", "G1", "groups:history"),
        ("slack", "POST", "/api/auth.test", "", ""),
    ],
)
def test_the_scope_of_a_call(
    platform: str, method: str, path: str, channel: str, scope: str
) -> None:
    assert scope_of(platform, method, path, channel) == scope


def test_a_switch_that_is_spent_gives_way_to_the_next() -> None:
    board = Board()
    board.add({"kind": "html", "count": 1})
    board.add({"kind": "status", "path": "/api/*"})
    kinds = ("html", "status")
    struck = [board.take(kinds, "slack", path) for path in ("/api/a", "/api/a", "/files/a")]
    assert [fault and fault.kind for fault in struck] == ["html", "status", None]


def test_withheld_scopes() -> None:
    board = Board()
    board.add({"kind": "missing_scope", "platform": "slack", "scope": "chat:write"})
    assert board.withheld("slack") == {"chat:write"}
    assert board.withheld("feishu") == frozenset()

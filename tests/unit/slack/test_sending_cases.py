"""The public cases about sending to Slack, each over its whole kind."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.ports import Control, Frame
from connectors.markup.pages import split_exact
from connectors.slack.blocks import SECTION, answer_pages, control_blocks
from connectors.web import named_pause

CELL = st.text("abcdef 汉字*_<>&!0123456789", min_size=1, max_size=12).filter(str.strip)
TABLE = st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=60).map(
    lambda rows: "| h1 | h2 |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
)
CODE = st.lists(st.text("ab |*<!>汉\t", max_size=60), min_size=1, max_size=80).map(
    lambda lines: "```py\n" + "\n".join(lines) + "\n```"
)
PARAGRAPH = st.lists(st.text("abc de.汉字", min_size=1, max_size=80), min_size=1, max_size=60).map(
    " ".join
)
ANSWERS = st.lists(TABLE | CODE | PARAGRAPH, min_size=1, max_size=8).map("\n\n".join)
_PINGS = re.compile(r"<[!@#][^>\n]*>")


def texts(blocks: list[dict[str, Any]]) -> list[str]:
    """The words of each block."""
    return [b["text"] if b["type"] == "markdown" else b["text"]["text"] for b in blocks]


@settings(deadline=None, max_examples=40)
@given(ANSWERS)
@example(" ")
def test_c_sl_09_no_answer_passes_a_limit_of_slack(text: str) -> None:
    """C-SL-09: sections of 3,000, 50 blocks, 13,200 characters of blocks, whatever the answer."""
    for page in answer_pages(Frame("t", "en", text, done=True)):
        for content in (page.rich(), page.sections()):
            sizes = [len(words) for words in texts(content["blocks"])]
            kinds = [b["type"] for b in content["blocks"]]
            assert len(sizes) <= 50
            assert sum(sizes) <= 13_200
            assert len(content["text"]) <= 4_000
            assert all(n <= (12_000 if k == "markdown" else SECTION)
                       for n, k in zip(sizes, kinds, strict=True))  # fmt: skip


@given(st.text("ab \n汉`|", max_size=20_000), st.integers(1, 4_000))
@settings(deadline=None, max_examples=60)
def test_c_sl_09_parts_joined_are_the_text(text: str, limit: int) -> None:
    """C-SL-09: nothing is lost or doubled at a cut, at any length and limit."""
    parts = split_exact(text, limit)
    assert "".join(parts) == text
    assert all(len(part) <= limit for part in parts)


@settings(deadline=None, max_examples=60)
@given(ANSWERS, st.sampled_from(["<!channel>", "<!here|x>", "<@U0ALICE01>", "<#C1>"]))
def test_c_sl_08_nothing_pings_and_code_keeps_its_bytes(text: str, ping: str) -> None:
    """C-SL-08: in a paragraph, in a cell and in code, in both forms of a message."""
    cells = f"| a | b |\n|---|---|\n| {ping} | 2 < 4 |"
    whole = f"{ping}\n\n{text}\n\n{cells}\n\n```\nx {ping} | **y**\n```"
    pages = answer_pages(Frame("t", "en", whole, done=True))
    for page in pages:
        assert not _PINGS.search(page.mrkdwn)
        outside = re.sub(r"(`+)[^`]*\1", "", re.sub(r"```.*?```", "", page.markdown, flags=re.S))
        assert ping not in outside
    escaped = ping.replace("<", "&lt;").replace(">", "&gt;")
    assert any(f"x {escaped} | **y**" in page.mrkdwn for page in pages)


@pytest.mark.parametrize(
    ("value", "pause"),
    [("10", 10.0), ("0.5", 0.5), (" 7 ", 7.0), (format_datetime(
        datetime.fromtimestamp(1_767_225_630, UTC), usegmt=True), 30.0),
     ("", 1.0), ("soon", 1.0), ("-3", 1.0), ("nan", 1.0)],
)  # fmt: skip
def test_c_sl_07_a_named_pause_is_kept_in_every_form(value: str, pause: float) -> None:
    """C-SL-07: seconds, fractions, a date; what can not be read is the default."""
    assert named_pause({"retry-after": value}, ("retry-after",), 1_767_225_600.0, 1.0) == pause


def test_a_button_with_an_address_opens_it_and_any_other_has_none() -> None:
    link = Control("connect", "t1", "Connect", "https://bot.example/oauth?state=s1")
    [block] = control_blocks((link, Control("retry", "t1", "Try again")))
    assert block["type"] == "actions"
    assert [element.get("url") for element in block["elements"]] == [link.url, None]
    assert [element["action_id"] for element in block["elements"]] == [
        "plumbline_connect",
        "plumbline_retry",
    ]

"""S5: whatever the model writes, no message of ours refers to anything but our sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from agent.domain import Source
from agent.ports import Frame
from connectors.feishu import card as feishu
from connectors.feishu.markup import card_writer
from connectors.feishu.markup import safe_url as feishu_url
from connectors.markup.renderer import IncrementalRenderer
from connectors.slack import blocks as slack
from connectors.slack.markup import markdown_writer
from connectors.slack.markup import safe_url as slack_url
from tests.unit.markup.detector import live_references
from tests.unit.markup.hostile import FORMS, case
from tests.unit.markup.soup import SOURCES

CASES = 10_000
BATCHES = 10

Written = tuple[str, str]
"""The form that a client reads a text in, and the text."""


def in_feishu(frame: Frame) -> Iterator[Written]:
    """Every text of an answer in Feishu: while it streams, its cards, and the last resort."""
    sources = frame.sources or {}
    yield "card", IncrementalRenderer(card_writer(), sources).render(frame.text)
    for page in feishu.card_texts(frame):
        yield from _card_texts(feishu.final_card(frame.language, "done", page))
    yield "plain", feishu.plain_text(frame)


def _card_texts(node: object) -> Iterator[Written]:
    if isinstance(node, dict):
        found = cast("dict[str, Any]", node)
        if "content" in found and isinstance(found["content"], str):
            yield "card", found["content"]
        for value in found.values():
            yield from _card_texts(value)
    elif isinstance(node, list):
        for value in cast("list[object]", node):
            yield from _card_texts(value)


def in_slack(frame: Frame) -> Iterator[Written]:
    """Every text of an answer in Slack: while it streams, and its messages in all three forms."""
    yield "markdown", IncrementalRenderer(markdown_writer(), frame.sources or {}).render(frame.text)
    for page in slack.answer_pages(frame):
        for message in (page.rich(), page.sections(), page.bare()):
            yield "mrkdwn", message["text"]
            for block in message["blocks"]:
                if block["type"] == "markdown":
                    yield "markdown", block["text"]
                elif block["type"] == "section":
                    yield "mrkdwn", block["text"]["text"]


def hostile_frame(seed: int) -> Frame:
    """An answer of the model; every third time a source's title and our notice are hostile too."""
    _, text = case(seed)
    sources: dict[str, Source] = dict(SOURCES)
    notice = ""
    if seed % 3 == 0:
        _, words = case(seed + 1)
        sources["kb-2"] = replace(SOURCES["kb-2"], title=words)
        text, notice = f"{text} [src:kb-2][src:bare]", words
    return Frame("t1", "zh" if seed % 2 else "en", text, notice=notice, sources=sources, done=True)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_s5_nothing_is_live_but_the_sources(batch: int) -> None:
    """10,000 cases of M10's forms, nested, on both platforms."""
    allowed = {
        "feishu": {feishu_url(s.url) for s in SOURCES.values()} - {""},
        "slack": {slack_url(s.url) for s in SOURCES.values()} - {""},
    }
    for seed in range(batch, CASES, BATCHES):
        frame = hostile_frame(seed)
        for platform, written in (("feishu", in_feishu(frame)), ("slack", in_slack(frame))):
            for form, text in written:
                found = live_references(text, allowed[platform], form=form)
                assert not found, (seed, platform, form, frame.text, text, found)


def test_s5_every_form_comes_up_as_often() -> None:
    counts = dict.fromkeys(FORMS, 0)
    for seed in range(CASES):
        counts[case(seed)[0]] += 1
    assert len(FORMS) == 20
    assert set(counts.values()) == {CASES // 20}


@pytest.mark.parametrize("form", ["markdown", "mrkdwn", "card", "plain"])
@pytest.mark.parametrize("name", FORMS)
def test_the_detector_sees_the_form_where_it_is_live(form: str, name: str) -> None:
    variants = [
        v.replace("HTTP", "http://evil.com").replace("HOST", "evil.com") for v in FORMS[name]
    ]
    assert any(live_references(v, set(), form=form) for v in variants)

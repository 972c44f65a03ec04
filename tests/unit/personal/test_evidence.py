"""Ids, likeness, parts and pages of personal sources."""

import re

from hypothesis import given
from hypothesis import strategies as st

from connectors.personal import evidence
from connectors.personal.keywords import told_terms


def test_ids_are_stable_and_fit_a_marker() -> None:
    assert evidence.source_id("fm", "om_1") == evidence.source_id("fm", "om_1")
    assert evidence.source_id("fm", "om_1") != evidence.source_id("fm", "om_2")
    assert re.fullmatch(r"fd-[a-z2-7]{10}", evidence.source_id("fd", "\ud800 doxcn"))


def test_highlights_and_control_characters_go() -> None:
    assert evidence.plain("We <h>keep</h> <em>TTL</EM> a<b\x00 \u200b") == "We keep TTL a<b"
    assert evidence.line("a\n\tb " + "x" * 200, 10) == "a b xxxxx…"


def test_a_long_text_says_that_it_is_cut() -> None:
    assert evidence.long_text("a" * evidence.MOST) == "a" * evidence.MOST
    cut = evidence.long_text("a" * (evidence.MOST + 1))
    assert cut.endswith("the rest is left out.]")
    assert evidence.long_text({"a": 1}) == ""
    assert evidence.long_text("a\ud800b").isprintable()


def test_only_web_addresses_pass() -> None:
    assert evidence.address("https://x.example/docx/a?b=c#d") != ""
    for hostile in ("javascript:alert(1)", "https://x.example/a b", "https://x>y", "", "ftp://x"):
        assert evidence.address(hostile) == ""


def test_texts_with_more_of_the_asked_words_come_first() -> None:
    asked = told_terms(["X-300 发布日 在哪天"])
    texts = ["X-300 样机跑满 72 小时", "X-300 发布日改到 3 月 18 日", "食堂"]
    scores = [evidence.likeness(asked, text) for text in texts]
    assert scores[1] > scores[0] > scores[2] >= 0.2
    assert max(scores) <= 0.8
    assert evidence.likeness(frozenset(), "anything") == 0.5
    assert evidence.best_pages(texts, asked, 2) == [0, 1]


@given(st.lists(st.text(alphabet="ab 发布\n", max_size=60), max_size=20), st.integers(10, 40))
def test_pages_keep_every_word_and_their_bound(blocks: list[str], most: int) -> None:
    pages = evidence.pages(blocks, most)
    assert pages
    assert all(len(page) <= most for page in pages)
    assert "".join("".join(pages).split()) == "".join("".join(blocks).split())

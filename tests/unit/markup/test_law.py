"""The renderer's law: what was shown is never taken back, on any platform, for any markdown."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from connectors.feishu.markup import card_writer
from connectors.markup.renderer import IncrementalRenderer
from connectors.markup.writer import Writer
from connectors.slack.markup import markdown_writer, mrkdwn_writer
from tests.unit.markup.soup import PIECES, SOURCES

WRITERS = [markdown_writer, mrkdwn_writer, card_writer]
soup = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), min_size=1, max_size=18
).map("".join)


@pytest.mark.parametrize("writer", WRITERS)
@given(text=soup)
@example(text="`code````\n[src:`code`\\[1<http://evil.com>")
@example(text=" *** [src:kb")
@example(text="x* \n[y")
@example(text="a\n| b\nc")
@settings(max_examples=150, deadline=None)
def test_render_of_any_prefix_is_a_prefix_of_the_final_render(
    writer: Callable[[], Writer], text: str
) -> None:
    final = IncrementalRenderer(writer(), SOURCES).render(text, final=True)
    growing = IncrementalRenderer(writer(), SOURCES)
    before = ""
    for end in range(len(text) + 1):
        shown = growing.render(text[:end])
        assert final.startswith(shown), (end, shown)
        assert shown.startswith(before), (end, shown)
        before = shown
    assert growing.render(text, final=True) == final


@pytest.mark.parametrize("writer", WRITERS)
def test_only_the_open_block_is_read_again(writer: Callable[[], Writer]) -> None:
    def cost(paragraphs: int) -> int:
        text = "Some words of an **answer** with `code`.\n\n- item\n- item\n\n" * paragraphs
        growing = IncrementalRenderer(writer(), SOURCES)
        for end in range(0, len(text), 5):
            growing.render(text[:end])
        growing.render(text, final=True)
        return growing.parsed

    assert cost(80) < 4.4 * cost(20)


def test_long_code_is_read_once() -> None:
    text = "```py\n" + "x = 1\n" * 2000 + "```\n"
    growing = IncrementalRenderer(markdown_writer(), {})
    for end in range(0, len(text), 200):
        growing.render(text[:end])
    assert growing.render(text, final=True) == text.strip()
    assert growing.parsed < 3 * len(text)


def test_words_come_before_their_block_ends() -> None:
    growing = IncrementalRenderer(markdown_writer(), SOURCES)
    assert growing.render("The limit is 800 yuan [src:kb-1] and then so") == (
        "The limit is 800 yuan [[1]](https://docs.example.com/travel?a=1&b=%282%29) and then"
    )
    assert growing.render("差旅标准是每天八百元") == "差旅标准是每天八百元"


@pytest.mark.parametrize(
    ("markdown", "held"),
    [
        ("See [the", "See"),
        ("a **bo", "a"),
        ("a `co", "a"),
        ("a &am", "a"),
        ("a <http://x", "a"),
        ("| a | b |\n|---|---|\n| 1 |", ""),
        ("- ", ""),
        ("## Head", ""),
        ("```py", ""),
        ("[no-ans", ""),
    ],
)
def test_open_part_is_held_back(markdown: str, held: str) -> None:
    assert IncrementalRenderer(markdown_writer(), SOURCES).render(markdown) == held

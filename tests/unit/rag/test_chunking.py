"""Chunks lose nothing, keep the order and stay within their size."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.chunking import ChunkSize, as_sections, chunk_sections, whole_text
from rag.documents import Block, Section

WORDS = st.text(st.sampled_from("ab 年假。.\n;"), min_size=1, max_size=120).filter(str.strip)
BLOCKS = st.builds(Block, WORDS, st.sampled_from(["text", "table", "code"]))
PATHS = st.lists(st.sampled_from(["A", "B", "C"]), max_size=3).map(tuple)
SECTIONS = st.lists(
    st.builds(Section, PATHS, st.lists(BLOCKS, min_size=1, max_size=4).map(tuple)), max_size=5
)


def letters(text: str) -> str:
    return "".join(c for c in text if c in "ab年假。.;")


@given(SECTIONS, st.integers(20, 200), st.sampled_from([0.0, 0.15, 0.3]))
def test_no_text_lost_order_kept_sizes_bounded(
    sections: list[Section], target: int, overlap: float
) -> None:
    size = ChunkSize(target, overlap)
    chunks = chunk_sections(sections, size)
    own = "".join(chunk.text[chunk.overlap :] for chunk in chunks)
    assert letters(own) == letters("".join(b.text for s in sections for b in s.blocks))
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.overlap <= size.repeated
        assert len(chunk.text) - chunk.overlap <= target
    for before, chunk in pairwise(chunks):
        if chunk.overlap:
            assert before.text.endswith(chunk.text[: chunk.overlap])
            assert chunk.place == before.place


def test_a_chunk_says_under_which_headings_it_stands() -> None:
    sections = [
        Section(("Guide", "Setup"), (Block("x" * 90),)),
        Section(("Guide", "Errors"), (Block("y" * 90),)),
    ]
    places = [chunk.place for chunk in chunk_sections(sections, ChunkSize(100))]
    assert places == ["Guide > Setup", "Guide > Errors"]


def test_small_sections_share_a_chunk_with_their_headings() -> None:
    sections = [Section(("FAQ", f"Q{n}"), (Block(f"answer {n}"),)) for n in range(3)]
    (chunk,) = chunk_sections(sections, ChunkSize(400))
    assert chunk.place == "FAQ"
    assert chunk.text.strip() == "Q0\nanswer 0\n\nQ1\nanswer 1\n\nQ2\nanswer 2"


def test_long_tables_are_cut_between_rows() -> None:
    rows = [f"Code: E-{n}; Meaning: fault {n}" for n in range(40)]
    chunks = chunk_sections([Section((), (Block("\n".join(rows), "table"),))], ChunkSize(200, 0))
    assert [r for c in chunks for r in c.text.split("\n") if r] == rows


@pytest.mark.parametrize("overlap", [0.0, 0.15])
def test_whole_text_is_the_document_again(overlap: float) -> None:
    text = " ".join(f"Sentence number {n}." for n in range(60))
    assert whole_text(chunk_sections(as_sections(text), ChunkSize(150, overlap))) == text


def test_blocks_stay_apart_when_put_together_again() -> None:
    blocks = tuple(Block(f"Paragraph {n} says something of its own.") for n in range(9))
    chunks = chunk_sections([Section(("Top",), blocks)], ChunkSize(100, 0.3))
    assert len(chunks) > 3
    assert whole_text(chunks) == "## Top\n" + "\n\n".join(block.text for block in blocks)

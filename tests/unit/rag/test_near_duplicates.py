"""Sketches tell how much of two texts is the same."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.near_duplicates import near_duplicates, sketch


def page(seed: int, words: int = 400) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefghij年假报销", k=6)) for _ in range(words)]


def marked(*texts: str) -> dict[str, str]:
    return near_duplicates({str(n): sketch(text) for n, text in enumerate(texts)})


@given(st.text(max_size=200))
def test_the_same_words_are_the_same_sketch(text: str) -> None:
    assert sketch(f"  {text}\n") == sketch(text)
    assert len(sketch(text)) <= 64 * 8


@pytest.mark.parametrize("seed", range(12))
def test_few_changes_are_a_near_duplicate_and_many_are_none(seed: int) -> None:
    words = page(seed)
    few, many = [*words], [*words]
    few[10], few[200] = "changed", "again"
    many[::4] = page(seed + 100, 100)
    assert marked(" ".join(words), " ".join(few)) == {"1": "0"}
    assert marked(" ".join(words), " ".join(many)) == {}
    assert marked(" ".join(words), " ".join(page(seed + 100))) == {}


def test_all_copies_stand_behind_the_first() -> None:
    one, other = " ".join(page(1)), " ".join(page(2))
    assert marked(one, other, one, f"{other} end", one) == {"2": "0", "3": "1", "4": "0"}


def test_texts_too_short_to_compare_are_none() -> None:
    assert sketch("abcd") == ""
    assert marked("", "abcd", "年假") == {}
    assert marked("Ten days.", "Ten days.", "Nine days.") == {"1": "0"}

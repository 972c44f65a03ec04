"""Terms: Chinese pairs, whole codes, questions without their asking words."""

from __future__ import annotations

import pytest

from rag.text import exact_tokens, language_of, passage_terms, query_terms, without_seams


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("差旅报销", ["差旅", "旅报", "报销"]),
        ("E-203 故障", ["e-203", "e", "203", "故障"]),
        ("X200型", ["x-200", "型"]),
        ("Clause 4.2.1", ["clause", "4.2.1", "4", "2", "1"]),
        ("ＶＰＮ Größe", ["vpn", "grösse"]),
        ("Hotels policies status", ["hotel", "policy", "status"]),
        ("\x00 ... []", []),
    ],
)
def test_passage_terms(text: str, terms: list[str]) -> None:
    assert passage_terms(text) == terms


def test_questions_lose_the_words_that_only_ask() -> None:
    assert query_terms("VPN 连不上怎么办？") == ["vpn", "连不", "不上"]
    assert query_terms("What is the hotel limit in Berlin?") == ["hotel", "limit", "berlin"]
    assert query_terms("目的地是哪里") == ["目的", "的地"]
    assert query_terms("what is it") == ["what", "is", "it"]


def test_pairs_between_two_words_are_no_terms() -> None:
    terms = passage_terms("出差住宿标准")
    known = {"出差": 3, "住宿": 2, "标准": 4}
    assert without_seams(terms, known) == ["出差", "住宿", "标准"]
    assert without_seams(["食堂", "寿司"], {"食堂": 1}) == ["食堂", "寿司"]


def test_exact_tokens() -> None:
    assert exact_tokens("E203 and X-200, clause 4.2.1, 30 days") == {"e-203", "x-200", "4.2.1"}


def test_language() -> None:
    assert language_of("打开 VPN 客户端") == "zh"
    assert language_of("The plant in 上海 opened in May") == "en"
    assert language_of("123") == "en"

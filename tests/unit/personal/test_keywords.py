"""Questions in both languages become short keyword queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.personal.keywords import asks, fewer, keywords, terms, told_terms


@pytest.mark.parametrize(
    ("question", "limit", "wanted"),
    [
        ("X-300 的发布日最后定在哪天？", 50, "X-300 发布日"),
        ("发布日期定在哪天？", 50, "发布日期"),
        ("What was decided about the launch date?", 50, "launch date"),
        ("充电桩最后选了哪家？", 30, "充电桩"),
        ("请帮我查一下Rotterdam试点住哪家酒店", 30, "Rotterdam 试点住 酒店"),
        ("公司的目的地是否确定？请了解现在的目标", 50, "公司 目的地 确定 了解现在 目标"),
        ("When do we move to the fourth floor in Berlin?", 50, "move fourth floor Berlin"),
        ("What is Velta’s discount?", 50, "Velta discount"),
        ("“launch date” of the X-300 in Q3", 50, "launch date X-300 Q3"),
        ("see https://a.example/very/long?x=1 about firmware 3.0.8", 50, "see firmware 3.0.8"),
        ("ＶＰＮ　８０９", 30, "VPN 809"),
        ("vpn VPN Vpn error", 30, "vpn error"),
        ("What is it?", 30, "What is it"),
        ("什么", 30, "什么"),
        ("停了多久", 30, "停"),
        ("？！ 🎉 …", 30, ""),
        ("", 30, ""),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, limit: int, wanted: str) -> None:
    assert keywords(question, limit) == wanted


def test_codes_and_names_stay_when_not_all_fits() -> None:
    question = "please explain whether operational considerations affect Velta and SF-1042"
    assert keywords(question, 30) == "considerations Velta SF-1042"
    assert keywords("considerations regarding 809x", 15) == "regarding 809x"


def test_a_word_longer_than_the_limit_is_cut() -> None:
    assert keywords("a" * 80, 30) == "a" * 30


def test_a_second_try_has_the_two_telling_words() -> None:
    assert fewer("Which lidar supplier did we choose for the X-300?", 30) == "supplier X-300"
    assert fewer("X-300 发布日", 30) == ""
    assert fewer("“a very long quoted title here”, “another quite long one”, yes", 20) != ""


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("When is the launch", True),
        ("launch date?", True),
        ("X-300 发布日是哪天", True),
        ("年会还有抽奖吗？", True),
        ("The launch is on 18 March.", False),
        ("那就这么定：发布日改到 3 月 18 日", False),
        ("I know when it is", False),
        ("", False),
        ("why " * 80, False),
    ],
)
def test_questions_are_told_from_statements(text: str, *, asked: bool) -> None:
    assert asks(text) == asked


def test_words_to_compare_by() -> None:
    assert terms("《X-300》发布日 v3.0") >= {"x-300", "x", "300", "发布", "布日", "v3.0", "v3", "0"}
    assert "的" not in told_terms(["X-300 的发布日"])


@given(st.text(max_size=300), st.integers(min_value=5, max_value=50))
def test_no_query_is_longer_than_its_limit(question: str, limit: int) -> None:
    assert len(keywords(question, limit)) <= limit
    assert len(fewer(question, limit)) <= limit
    assert len(fewer(f"“{question[:50]}x” “{question[:40]}y” budget", limit)) <= limit


@given(
    st.lists(st.sampled_from(["the", "VPN", "怎么", "发布日", "809", "of", "的", "？"]), max_size=9)
)
def test_a_question_with_words_has_keywords(words: list[str]) -> None:
    question = " ".join(words)
    assert bool(keywords(question, 30)) == any(w != "？" for w in words)
    if {"VPN", "发布日", "809"} & set(words):
        assert not {"the", "怎么", "of", "的"} & set(keywords(question, 50).split())

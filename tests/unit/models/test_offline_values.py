"""Amounts: found in both languages, compared, matched to what a question asks for."""

from __future__ import annotations

import pytest

from agent.models.offline.values import Value, answering, fit, inside, outside, values, wanted


@pytest.mark.parametrize(
    ("zh", "en"),
    [
        ("空闲 30 分钟自动断开", "ends after 30 minutes"),
        ("1 个工作日", "one working day"),
        ("六个月", "six months"),
        ("50,000 元", "CNY 50,000"),
        ("4.8 万元", "CNY 48,000"),
        ("24 N·m", "24 Nm"),
        ("1.2 吨", "1,200 kg"),
        ("11:15–13:15", "11:15 to 13:15"),
    ],
)
def test_the_same_amount_is_equal_in_both_languages(zh: str, en: str) -> None:
    sizes = [{(v.kind, v.size) for v in values(text)} for text in (zh, en)]
    assert sizes[0] == sizes[1] != set()


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How long does a password need to be?", "at least 14 characters", "a password safe"),
        ("密码要多长？", "14 characters", "no forced change"),
        ("How many days of vacation?", "28 working days", "four weeks ahead"),
        ("食堂几点开门？", "7:45–9:15", "人均约 8 元"),
        ("How heavy is the arm?", "54 kg", "1,320 mm"),
        ("采购超过多少钱要报价？", "30,000 元", "两个工作日"),
        ("下午几点发车？", "13:20", "10:30"),
    ],
)
def test_what_is_asked_for_decides_which_amount_fits(question: str, right: str, wrong: str) -> None:
    assert fit(right, wanted(question)) > fit(wrong, wanted(question))


def test_a_time_that_something_ends_is_rather_a_span() -> None:
    want = wanted("午餐到几点结束？")
    assert fit("11:15–13:15", want) > fit("12:00 与入职伙伴午餐", want) > 0


def test_sums_under_a_column_with_its_currency_are_money() -> None:
    row = "P6 senior; Shanghai (CNY): 324,000-468,000"
    assert {v.kind for v in answering(row, wanted("What is the salary of a P6?"))} == {"money"}


def test_a_row_for_a_range_holds_what_lies_in_it() -> None:
    (five,) = values("after 5 years")
    assert five == Value("time", "year", "1.5768e+08")
    assert inside("5 年以上不满 10 年", five)
    assert outside("不满 5 年", five)
    assert outside("10 年以上", five)
    assert not inside("年假天数", five)
    assert not outside("年假天数", five)

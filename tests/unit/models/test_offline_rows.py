"""How the offline model says a table row."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.offline.rows import in_words


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            "City: Beijing, Shanghai (tier 1); Ceiling per night: CNY 650",
            "For Beijing, Shanghai (tier 1), the ceiling per night is CNY 650",
        ),
        (
            "城市等级: 一类; 城市: 北京、上海; 上限（每晚）: 650 元",
            "一类的城市为北京、上海，上限（每晚）为 650 元",
        ),
        ("司龄: 1–5 年; 年假天数: 10 天", "司龄 1–5 年的年假天数为 10 天"),
        ("等级: P6; 奖金系数: 1.2", "等级 P6 的奖金系数为 1.2"),
        (
            "Vendor: Kopi; Monthly fee: EUR 90; Toner: included",
            "For Kopi: monthly fee EUR 90, Toner included",
        ),
        (
            "Hotel; Shanghai: CNY 650; Berlin: EUR 165",
            "For Hotel: Shanghai CNY 650, Berlin EUR 165",
        ),
        ("Room: 3.1; Places: 12", "For Room 3.1: Places 12"),
        (
            "代码: 809; 原因: 网络拦截了 UDP 500 端口; 处理: 切换到 HX-TLS 配置",
            "代码 809，原因：网络拦截了 UDP 500 端口；处理：切换到 HX-TLS 配置",
        ),
        (
            "Time: 10:05; Event: The gateway restarted. Then it failed.",
            "Time 10:05 – Event: The gateway restarted. Then it failed.",
        ),
        ("650; 165", "650; 165"),
        ("City: ; Limit: ", "City: ; Limit: "),
        ("one cell", "one cell"),
    ],
)
def test_a_row_is_said_as_a_person_would(row: str, said: str) -> None:
    assert in_words(row) == said


CELL = st.text("abcAB 汉字、0123456789.:%-（）", min_size=1, max_size=20).map(str.strip)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_no_value_is_lost_and_none_changes_its_place(cells: list[tuple[str, str]]) -> None:
    said = in_words("; ".join(f"{name}: {value}" for name, value in cells))
    pattern = ".*".join(re.escape(value) for _, value in cells)
    assert re.search(pattern, said, re.DOTALL)

"""The public cases about sending to Feishu, each over its whole kind."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ports import Control, Frame
from connectors.feishu import card as cards
from connectors.feishu.markup import TABLES

NATIVE = re.compile(r"^\|(?: *:?-+:? *\|)+$", re.MULTILINE)


def table(number: int) -> str:
    return f"| k{number} | v |\n|---|---|\n| a{number} | b{number} |"


def part(kind: str, number: int, fill: int) -> str:
    if kind == "words":
        return f"Words {number}. " + "更多 words. " * fill
    return table(number) if kind == "table" else f"```\n{table(number)}\n```"


PARTS = st.lists(st.sampled_from(["table", "fenced", "words"]), min_size=1, max_size=20)


@settings(deadline=None, max_examples=60)
@given(PARTS, st.integers(0, 400))
def test_c_fs_08_no_card_passes_its_limits_and_no_cell_is_lost(parts: list[str], fill: int) -> None:
    """C-FS-08: any number of tables, in fences or not, with any amount of words between."""
    text = "\n\n".join(part(kind, n, fill) for n, kind in enumerate(parts))
    texts = cards.card_texts(Frame("t", "zh", text, done=True))
    for one in texts:
        bare = re.sub(r"```.*?```", "", one.text, flags=re.DOTALL)
        assert len(NATIVE.findall(bare)) <= TABLES
        card = cards.final_card("zh", "done", one)
        assert len(json.dumps(card, ensure_ascii=False).encode()) <= 30_000
    whole = "\n".join(one.text for one in texts)
    for n, kind in enumerate(parts):
        if kind != "words":
            assert f"a{n} " in whole
            assert re.search(rf"\bb{n}\b", whole)


@settings(deadline=None)
@given(st.integers(1, 12))
def test_c_fs_08_tables_stay_native_as_far_as_a_card_takes_them(count: int) -> None:
    """C-FS-08: five stay tables, the rest becomes aligned text on the same card."""
    text = "\n\n".join(table(n) for n in range(count))
    [one] = cards.card_texts(Frame("t", "zh", text, done=True))
    bare = re.sub(r"```.*?```", "", one.text, flags=re.DOTALL)
    assert len(NATIVE.findall(bare)) == min(count, TABLES)


def test_a_button_with_an_address_opens_it_and_any_other_calls_us_back() -> None:
    link = Control("connect", "t1", "Connect", "https://bot.example/oauth?state=s1")
    card = cards.note_card("Words", (link, Control("retry", "t1", "Try again")))
    row = card["body"]["elements"][-1]
    buttons = [column["elements"][0] for column in row["columns"]]
    assert [b["text"]["content"] for b in buttons] == ["Connect", "Try again"]
    assert [b["behaviors"] for b in buttons] == [
        [{"type": "open_url", "default_url": "https://bot.example/oauth?state=s1"}],
        [{"type": "callback", "value": {"a": "retry", "t": "t1"}}],
    ]

"""Keys are those of the data model, told apart whatever the names, and built in one file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import ChatRef, Identity
from agent.durable import keys
from agent.ports import Key

ROOT = Path(__file__).parents[3]
ALICE = Identity("hengxing", "feishu", "cli_demo0000000001", "tenant_demo", "ou_demo_alice")
GROUP = ChatRef("oc_1", "group", "om_1")
MODEL: tuple[tuple[Key, str, str], ...] = (
    (keys.workspace("slack", "A0", "T0"), "W#slack#A0#T0", "MAP"),
    (keys.organisation("o"), "ORG#o", "META"),
    (keys.configuration("o", 7), "ORG#o", "CFG#00000007"),
    (keys.space("o", "hr"), "ORG#o", "SPACE#hr"),
    (keys.listening("o", "place"), "ORG#o", "LISTEN#place"),
    (keys.deaf("o", "place"), "ORG#o", "DEAF#place"),
    (keys.acl_version("o"), "ORG#o", "ACLV"),
    (keys.turn("s", "01", "t"), "S#s", "T#01#t"),
    (keys.marker("s", "01", "t"), "S#s", "Q#01#t"),
    (keys.lock("s"), "S#s", "LOCK"),
    (keys.snapshot("s"), "S#s", "SNAP"),
    (keys.private_context("s", "p"), "S#s", "PRIV#p"),
    (keys.model_step("t", 7), "J#t", "STEP#0007"),
    (keys.tool_step("t", 7, 2), "J#t", "STEP#0007#c2"),
    (keys.arrival("t"), "J#t", "IN"),
    (keys.visible("t"), "J#t", "VIEW"),
    (keys.outbox("t", "answer"), "J#t", "OUT#answer"),
    (keys.answer("t"), "J#t", "ANS"),
    (keys.feedback("t", "p"), "J#t", "FB#p"),
    (keys.audit_event("t", 12), "J#t", "AUD#0012"),
    (keys.audit_head("o", 3), "AH#o", "000000000003"),
    (keys.approval("a"), "A#a", "A"),
    (keys.preferences("p"), "P#p", "PREF"),
    (keys.consent("p", "docs"), "P#p", "CON#docs"),
    (keys.offered("p"), "P#p", "OFFER"),
    (keys.user_token("p", "read"), "P#p", "TOK#read"),
    (keys.data_key("p"), "P#p", "KEY"),
    (keys.app_token("slack", "A0", "T0"), "X#slack#A0#T0", "TOK"),
    (keys.sign_in("h"), "O#h", "O"),
    (keys.budget("o", "user", "p", "20261201"), "B#o", "user#p#20261201"),
    (keys.rate_window("slack", "A0", "T0", "post", "1"), "R#slack#A0#T0#post", "1"),
    (keys.rate_hold("slack", "A0", "T0", "post"), "R#slack#A0#T0#post", "HOLD"),
    (keys.directory_person("o", "w", "u"), "D#o#w", "U#u"),
    (keys.directory_membership("o", "w", "u", "g"), "D#o#w", "UG#u#g"),
    (keys.chat_members("o", "w", "c"), "D#o#w", "CHAT#c"),
    (keys.document("o", "hr", "d"), "K#o#hr", "D#d"),
    (keys.source_cursor("o", "hr", "s"), "K#o#hr", "CUR#s"),
)


@pytest.mark.parametrize(("key", "pk", "sk"), MODEL, ids=[f"{m[1]} {m[2]}" for m in MODEL])
def test_key_is_the_data_models(key: Key, pk: str, sk: str) -> None:
    assert key == Key(pk, sk)


def test_index_values() -> None:
    assert keys.own_audit("o", "share", "20261201") == "AUD#o#share#20261201"
    assert keys.own_gap("o", "20261201") == "GAP#o#20261201"
    partition, time = keys.due("turn", 1.5)
    assert partition in keys.due_partitions()
    assert time == "000000000001500"
    assert len(set(keys.due_partitions())) == 8
    assert {keys.due(f"t{n}", 0)[0] for n in range(64)} == set(keys.due_partitions())


def test_a_part_that_could_make_another_key_is_refused() -> None:
    for bad in ("", "a#b"):
        with pytest.raises(ValueError, match="can not be part of a key"):
            keys.workspace("slack", bad, "T0")


def test_ids_are_known_values_and_never_change() -> None:
    assert keys.turn_id("cli_demo0000000001", "oc_1", "om_1") == "b67piaw7p3y5ts36n5tr7if22a"
    assert keys.session_id(ALICE, GROUP) == "h3zrjukdxybjgexcdmgbxfuube"


def test_each_part_makes_another_session() -> None:
    base = keys.session_id(ALICE, GROUP)
    others = {
        keys.session_id(replace(ALICE, org="x"), GROUP),
        keys.session_id(replace(ALICE, platform="slack"), GROUP),
        keys.session_id(replace(ALICE, app="x"), GROUP),
        keys.session_id(ALICE, replace(GROUP, chat="x")),
        keys.session_id(ALICE, replace(GROUP, message="x")),
        keys.session_id(ALICE, replace(GROUP, thread="y")),
    }
    assert len(others | {base}) == 7
    assert keys.session_id(replace(ALICE, user="ou_demo_bob"), GROUP) == base
    direct = replace(GROUP, kind="direct")
    assert keys.session_id(ALICE, direct) == keys.session_id(ALICE, replace(direct, message="x"))


WORDS = st.tuples(st.text(max_size=4), st.text(max_size=4), st.text(max_size=4))


@given(WORDS, WORDS)
def test_different_messages_are_different_turns(
    a: tuple[str, str, str], b: tuple[str, str, str]
) -> None:
    assert (keys.turn_id(*a) == keys.turn_id(*b)) == (a == b)
    assert re.fullmatch("[a-z2-7]{26}", keys.turn_id(*a))
    assert keys.action_turn_id(*a) == keys.action_turn_id(*a)


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_order_sorts_as_time_does(a: float, b: float) -> None:
    assert (keys.order(a) < keys.order(b)) == (round(a * 1000) < round(b * 1000))
    assert len(keys.order(a)) == 15


KINDS = "W|ORG|S|J|AH|A|P|X|O|B|R|D|K|DUE|T|Q|STEP|OUT|AUD|GAP|PRIV|SPACE|CFG|CUR"
BUILT = re.compile(rf"""\bKey\(\s*f?["']|["'](?:{KINDS})\#(?:[^"'\n]|["']\s*[+%])""")
"""A key, or the beginning of one with more behind it; a bare prefix only asks for a range."""


def test_no_other_file_builds_keys() -> None:
    for source in ('Key(f"S', 'f"S#{session}"', '"J#" + turn', "'T#%s'"):
        assert BUILT.search(source)
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for folder in ("agent", "handlers", "connectors", "rag")
        for path in (ROOT / folder).rglob("*.py")
        if path != ROOT / "agent/durable/keys.py"
        for match in BUILT.finditer(path.read_text("utf-8"))
    ]
    assert found == []

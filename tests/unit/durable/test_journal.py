"""The journal: steps come back as they were, the first result stays, a replay must agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.dialogue import Block, Message, ModelReply, Text, Thinking, ToolCall, ToolReply, Usage
from agent.domain import Json
from agent.durable import keys
from agent.durable.journal import (
    History,
    Journal,
    JournalMismatch,
    ModelStep,
    ToolStep,
    argument_hash,
    reply_from_json,
    reply_to_json,
)
from agent.durable.records import DAY, TurnRecord, UnknownFormat
from agent.errors import ConditionFailed
from agent.jsontext import packed, unpacked
from agent.ports import Change
from agent.stores.memory_table import MemoryTable
from tests.fakes.clock import FakeClock
from tests.fakes.turns import ALICE, running_turn

WORDS = st.text(st.characters(exclude_categories=()), max_size=8)


def _listed(words: list[str]) -> Json:
    return [*words]


VALUES: st.SearchStrategy[Json] = st.one_of(
    st.none(), st.integers(), WORDS, st.lists(WORDS, max_size=2).map(_listed)
)
ARGUMENTS = st.dictionaries(WORDS, VALUES, max_size=2)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Thinking, WORDS),
    st.builds(ToolCall, WORDS, WORDS, st.one_of(st.none(), ARGUMENTS)),
    st.builds(ToolReply, WORDS, WORDS, st.booleans()),
)
REPLIES = st.builds(
    ModelReply,
    st.builds(Message, st.just("assistant"), st.lists(BLOCKS, max_size=4).map(tuple)),
    st.sampled_from(["end", "tools", "length", "refusal", "cut"]),
    st.builds(Usage, st.integers(0), st.integers(0), st.integers(0)),
    WORDS,
)


@given(REPLIES)
def test_a_reply_comes_back_byte_for_byte(reply: ModelReply) -> None:
    assert reply_from_json(unpacked(packed(reply_to_json(reply)))) == reply


def test_a_block_of_an_unknown_kind_is_refused() -> None:
    plain = reply_to_json(ModelReply(Message("assistant", ()), "end"))
    assert isinstance(plain, dict)
    plain["blocks"] = [["image", "x"]]
    with pytest.raises(JournalMismatch):
        reply_from_json(plain)


def test_the_argument_hash_does_not_depend_on_order() -> None:
    assert argument_hash({"a": 1, "b": [2]}) == argument_hash({"b": [2], "a": 1})
    assert argument_hash({"a": 1}) != argument_hash({"a": "1"}) != argument_hash(None)


CALLS = tuple(ToolCall(f"c{n}", "knowledge_search", {"query": f"q{n}"}) for n in range(12))
ASKS = ModelReply(
    Message("assistant", (Thinking('{"signature": "\\u00e9"}'), Text("看"), *CALLS)),
    "tools",
    Usage(10, 5, 3),
    "m",
)
SAYS = ModelReply(Message("assistant", (Text("done"),)), "end")


class Setting:
    """A running turn and its journal."""

    def __init__(self, table: MemoryTable, clock: FakeClock, record: TurnRecord) -> None:
        self.table = table
        self.clock = clock
        self.record = record
        self.journal = Journal(table, clock, record)

    def again(self) -> Journal:
        return Journal(self.table, self.clock, self.record)


@pytest.fixture
async def here() -> Setting:
    table, clock = MemoryTable(), FakeClock()
    return Setting(table, clock, await running_turn(table, clock))


def result(call: ToolCall, text: str = "found") -> ToolReply:
    return ToolReply(call.id, text)


async def test_all_steps_come_back_in_order(here: Setting) -> None:
    await here.journal.model_step(1, ASKS, "hash")
    for call in reversed(CALLS):
        await here.journal.tool_step(1, call, result(call, f"for {call.id}"))
    await here.journal.model_step(2, SAYS)
    await here.journal.visible("shown \ud83d")
    wanted = (
        ModelStep(1, ASKS, "hash"),
        *(
            ToolStep(1, n, c.name, argument_hash(c.arguments), result(c, f"for {c.id}"))
            for n, c in enumerate(CALLS, start=1)
        ),
        ModelStep(2, SAYS, ""),
    )
    assert await here.again().load() == History(wanted, "shown \ud83d")


async def test_the_words_of_private_sources_and_what_follows_are_stored_nowhere(
    here: Setting,
) -> None:
    await here.journal.model_step(1, ASKS)
    await here.journal.tool_step(1, CALLS[1], result(CALLS[1], "from the wiki"))
    await here.journal.tool_step(1, CALLS[0], result(CALLS[0], "SECRET"), private=True)
    reply = ModelReply(Message("assistant", (Text("the SECRET answer"),)), "end")
    await here.journal.model_step(2, reply)
    await here.journal.model_step(2, reply)
    page = await here.table.query(keys.journal(here.record.turn), keys.STEPS)
    assert len(page.items) == 4
    assert "SECRET" not in repr(page.items)
    assert [(s.step, type(s)) for s in (await here.again().load()).steps] == [
        (1, ModelStep),
        (1, ToolStep),
    ]


async def test_more_steps_than_a_page_come_back(here: Setting) -> None:
    for step in range(1, 131):
        await here.journal.model_step(step, SAYS)
    assert [s.step for s in (await here.again().load()).steps] == list(range(1, 131))


async def test_an_empty_journal_has_nothing(here: Setting) -> None:
    assert await here.journal.load() == History((), "")


async def test_a_long_result_is_kept_compressed(here: Setting) -> None:
    await here.journal.model_step(1, ASKS)
    text = "差旅 住宿 标准 " * 60_000
    await here.journal.tool_step(1, CALLS[0], result(CALLS[0], text))
    assert (await here.again().load()).steps[1].reply == result(CALLS[0], text)


async def test_the_same_reply_again_is_fine_and_another_one_is_refused(here: Setting) -> None:
    await here.journal.model_step(1, ASKS)
    await here.again().model_step(1, ASKS)
    with pytest.raises(ConditionFailed):
        await here.again().model_step(1, SAYS)
    assert (await here.again().load()).steps == (ModelStep(1, ASKS, ""),)


async def test_of_two_results_the_first_stays(here: Setting) -> None:
    await here.journal.model_step(1, ASKS)
    await here.journal.tool_step(1, CALLS[0], result(CALLS[0], "first"))
    await here.journal.tool_step(1, CALLS[0], result(CALLS[0], "second"))
    assert (await here.again().load()).steps[1].reply == result(CALLS[0], "first")


async def test_a_resumed_journal_takes_the_missing_results(here: Setting) -> None:
    await here.journal.model_step(1, ASKS)
    resumed = here.again()
    with pytest.raises(JournalMismatch):
        await resumed.tool_step(1, CALLS[0], result(CALLS[0]))
    await resumed.load()
    await resumed.tool_step(1, CALLS[0], result(CALLS[0]))
    assert len((await here.again().load()).steps) == 2


@pytest.mark.parametrize("change", [{"name": "other"}, {"arguments": {"query": "other"}}])
async def test_a_replay_with_another_call_stops(here: Setting, change: dict[str, Json]) -> None:
    await here.journal.model_step(1, ASKS)
    await here.journal.tool_step(1, CALLS[0], result(CALLS[0]))
    other = replace(CALLS[0], **change)
    with pytest.raises(JournalMismatch):
        await here.journal.tool_step(1, other, result(other))
    key = keys.tool_step(here.record.turn, 1, 1)
    await here.table.update_if(key, Change(set={"argument_hash": "x"}))
    with pytest.raises(JournalMismatch):
        await here.journal.tool_step(1, CALLS[0], result(CALLS[0]))


async def test_steps_belong_to_the_asker_and_payloads_are_let_go_after_a_day(
    here: Setting,
) -> None:
    await here.journal.model_step(1, ASKS)
    item = await here.table.get(keys.model_step(here.record.turn, 1)) or {}
    now = int(here.clock.now())
    assert (item["k"], item["own_pk"], item["cls"]) == ("step", ALICE.principal, "turn")
    assert (item["exp"], item["payload_exp"]) == (now + 30 * DAY, now + DAY)
    here.clock.advance(DAY + 1)
    assert (await here.again().load()).steps == ()


async def test_a_step_of_an_unknown_format_is_refused(here: Setting) -> None:
    await here.journal.model_step(1, ASKS)
    await here.table.update_if(keys.model_step(here.record.turn, 1), Change(set={"v": 9}))
    with pytest.raises(UnknownFormat):
        await here.again().load()


async def test_an_old_holder_can_not_change_the_visible_text(here: Setting) -> None:
    await here.journal.visible("old")
    later = Journal(here.table, here.clock, replace(here.record, fence=2))
    await later.visible("new")
    with pytest.raises(ConditionFailed):
        await here.journal.visible("old again")
    assert (await here.journal.load()).visible == "new"


async def test_starting_over_forgets_all_steps(here: Setting) -> None:
    for step in range(1, 121):
        await here.journal.model_step(step, SAYS)
    await here.journal.start_over()
    assert (await here.again().load()).steps == ()
    await here.journal.model_step(1, ASKS)

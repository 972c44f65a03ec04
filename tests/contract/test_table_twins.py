"""The memory and the SQLite table give the same answers and the same errors to anything."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from agent.errors import ConditionFailed
from agent.ports import (
    Absent,
    AnyOf,
    Change,
    Check,
    Compare,
    Condition,
    Delete,
    Exists,
    Key,
    Put,
    Table,
    Update,
    Value,
    Write,
)
from agent.stores.memory_table import MemoryTable
from agent.stores.sqlite_table import SqliteTable

PKS = st.sampled_from(["S#1", "S#2"])
SKS = st.sampled_from(["A", "A#1", "A#10", "A#2", "B\ud7ff", "B\ue000", "B\U00010000", ""])
KEYS = st.builds(Key, PKS, SKS)
NAMES = st.sampled_from(["a", "b", "n", "pk", "due_pk", "due_sk", "own_pk"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, float("nan"), 10**38]),
    st.sampled_from(["", "1", "x", "字", "\ud83d", "\0"]),
    st.binary(max_size=2),
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["a", "字"]), inner, max_size=2),
    ),
    max_leaves=4,
)
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
OPERANDS = st.one_of(st.booleans(), st.integers(-2, 2), st.just(0.5), st.sampled_from(["", "x"]))
TESTS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Absent, st.sampled_from(["", "a", "n"])),
    st.builds(Exists, st.sampled_from(["", "a", "n"])),
    st.builds(Compare, st.sampled_from(["a", "n"]), OPERATORS, OPERANDS),
)
WHEN = st.lists(
    st.one_of(TESTS, st.builds(AnyOf, st.lists(TESTS, max_size=2).map(tuple))), max_size=2
)
CHANGES = st.builds(
    Change,
    set=st.one_of(st.none(), st.dictionaries(NAMES, VALUES, max_size=2)),
    add=st.one_of(st.none(), st.dictionaries(NAMES, st.integers(-2, 2), max_size=1)),
    remove=st.lists(NAMES, max_size=1),
)


def _item(key: Key, rest: dict[str, Value]) -> dict[str, Value]:
    return {**rest, "pk": key.pk, "sk": key.sk}


ITEMS = st.builds(
    _item,
    KEYS,
    st.dictionaries(NAMES, VALUES, max_size=4),
)
WRITES: st.SearchStrategy[Write] = st.one_of(
    st.builds(Put, ITEMS, WHEN),
    st.builds(Update, KEYS, CHANGES, WHEN),
    st.builds(Delete, KEYS, WHEN),
    st.builds(Check, KEYS, WHEN),
)


class Twins(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.memory = MemoryTable()
        self.sqlite = SqliteTable(Path(self.folder.name) / "table.db")

    def teardown(self) -> None:
        self.runner.run(self.sqlite.aclose())
        self.runner.close()
        self.folder.cleanup()

    def both(self, ask: Callable[[Table], Awaitable[object]]) -> None:
        async def answer(table: Table) -> object:
            try:
                return repr(await ask(table))
            except (ConditionFailed, ValueError) as error:
                return type(error), str(error)

        assert self.runner.run(answer(self.memory)) == self.runner.run(answer(self.sqlite))

    @rule(item=ITEMS, when=WHEN)
    def put_if(self, item: dict[str, Value], when: list[Condition]) -> None:
        self.both(lambda t: t.put_if(item, when))

    @rule(item=ITEMS)
    def put(self, item: dict[str, Value]) -> None:
        self.both(lambda t: t.put(item))

    @rule(key=KEYS, change=CHANGES, when=WHEN)
    def update(self, key: Key, change: Change, when: list[Condition]) -> None:
        async def sorted_items(table: Table) -> object:
            return sorted((await table.update_if(key, change, when)).items())

        self.both(sorted_items)

    @rule(key=KEYS, when=WHEN)
    def delete(self, key: Key, when: list[Condition]) -> None:
        self.both(lambda t: t.delete_if(key, when))

    @rule(writes=st.lists(WRITES, max_size=4))
    def transact(self, writes: list[Write]) -> None:
        self.both(lambda t: t.transact(writes))

    @rule(key=KEYS)
    def get(self, key: Key) -> None:
        async def sorted_items(table: Table) -> object:
            return sorted((await table.get(key) or {}).items())

        self.both(sorted_items)

    @rule(
        pk=PKS,
        prefix=st.sampled_from(["", "A", "A#1", "B", "B\ud7ff"]),
        limit=st.integers(0, 4),
        reverse=st.booleans(),
        after=st.one_of(st.none(), KEYS),
    )
    def query(self, pk: str, prefix: str, limit: int, reverse: bool, after: Key | None) -> None:
        async def keys(table: Table) -> object:
            page = await table.query(pk, prefix, limit=limit, reverse=reverse, after=after)
            return [i["sk"] for i in page.items], page.after

        self.both(keys)

    @rule(
        index=st.sampled_from(["due", "own"]),
        pk=st.sampled_from(["", "1", "x", "字"]),
        up_to=st.sampled_from(["", "1", "x"]),
        limit=st.integers(0, 3),
        after=st.one_of(st.none(), KEYS),
    )
    def query_index(self, index: str, pk: str, up_to: str, limit: int, after: Key | None) -> None:
        name = "due" if index == "due" else "own"
        self.both(lambda t: t.query_index(name, pk, up_to=up_to, limit=limit, after=after))


TestTwins = Twins.TestCase
TestTwins.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

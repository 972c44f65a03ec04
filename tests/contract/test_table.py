"""What every Table adapter promises. A new adapter adds one branch to the fixture `table`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

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
    Item,
    Key,
    Put,
    Table,
    Update,
    Value,
    Write,
)
from agent.stores.limits import BadItem, ItemTooLarge
from agent.stores.memory_table import MemoryTable
from agent.stores.sqlite_table import SqliteTable

KEY = Key("S#1", "T#1")


@pytest.fixture(params=["memory", "sqlite"])
async def table(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Table]:
    if request.param == "memory":
        yield MemoryTable()
        return
    sqlite = SqliteTable(tmp_path / "home" / "table.db")
    yield sqlite
    await sqlite.aclose()


def item(sk: str = "T#1", pk: str = "S#1", **attributes: object) -> Item:
    return {"pk": pk, "sk": sk, **attributes}  # pyright: ignore[reportReturnType]  # test values


async def test_every_kind_of_value_comes_back_as_it_was(table: Table) -> None:
    stored = item(
        none=None,
        truth=True,
        number=7,
        whole_float=7.0,
        time=1764547200.123456,
        long=10**37,
        text="衡星 \u0000 \U0001f600",
        empty="",
        raw=b"\x00\xff",
        rows=[1, "a", [b"x"], {"deep": [None, {"b": b""}]}],
    )
    await table.put(stored)
    found = await table.get(KEY)
    assert found == stored
    assert type((found or {})["whole_float"]) is float
    assert (found or {})["truth"] is True


async def test_absent_item_is_none(table: Table) -> None:
    assert await table.get(KEY) is None


async def test_caller_and_store_share_nothing(table: Table) -> None:
    rows: list[Value] = [1]
    mine = item(rows=rows, name="a")
    await table.put(mine)
    rows.append(2)
    mine["name"] = "b"
    read = await table.get(KEY) or {}
    assert read == item(rows=[1], name="a")
    read["name"] = "c"
    inner = read["rows"]
    assert isinstance(inner, list)
    inner.append(3)
    assert await table.get(KEY) == item(rows=[1], name="a")
    given: dict[str, Value] = {"deep": [1]}
    changed = await table.update_if(KEY, Change(set={"map": given}))
    given["deep"] = []
    changed["map"] = None
    assert (await table.get(KEY) or {})["map"] == {"deep": [1]}


HOLDING: tuple[Condition, ...] = (
    Exists(),
    Exists("n"),
    Absent("other"),
    Compare("n", "=", 5),
    Compare("n", "=", 5.0),
    Compare("n", "!=", 4),
    Compare("n", "!=", "5"),
    Compare("n", "<", 6),
    Compare("n", "<=", 5),
    Compare("n", ">", 4.5),
    Compare("n", ">=", 5),
    Compare("t", "<", "b"),
    Compare("t", ">", "Z"),
    Compare("u", ">", "\uffff"),
    Compare("yes", "=", True),
    Compare("yes", "!=", False),
    Compare("yes", "!=", 1),
    AnyOf((Compare("n", "=", 1), Exists("t"))),
)
REFUSED: tuple[Condition, ...] = (
    Absent(),
    Absent("n"),
    Exists("other"),
    Compare("other", "=", 1),
    Compare("other", "!=", 1),
    Compare("n", "=", "5"),
    Compare("n", "<", "9"),
    Compare("n", "!=", 5),
    Compare("n", ">", 5),
    Compare("n", "<", 5),
    Compare("n", "<=", 4),
    Compare("n", ">=", 6),
    Compare("t", "=", "b"),
    Compare("t", ">", 1),
    Compare("one", "=", True),
    Compare("yes", "=", 1),
    Compare("nothing", "=", 0),
    AnyOf((Absent("n"), Compare("n", "=", 1))),
)


@pytest.mark.parametrize("condition", HOLDING, ids=str)
async def test_condition_that_holds_lets_the_write_through(
    table: Table, condition: Condition
) -> None:
    await table.put(item(n=5, t="a", u="\U00010000", yes=True, one=1, nothing=None))
    await table.put_if(item(n=6), (condition,))
    assert await table.get(KEY) == item(n=6)


@pytest.mark.parametrize("condition", REFUSED, ids=str)
async def test_condition_that_fails_refuses_every_kind_of_write(
    table: Table, condition: Condition
) -> None:
    before = item(n=5, t="a", yes=True, one=1, nothing=None)
    await table.put(before)
    with pytest.raises(ConditionFailed):
        await table.put_if(item(n=6), (Exists(), condition))
    with pytest.raises(ConditionFailed):
        await table.update_if(KEY, Change(set={"n": 6}), (condition,))
    with pytest.raises(ConditionFailed):
        await table.delete_if(KEY, (condition,))
    writes: tuple[Write, ...] = (Put(item("T#2")), Check(KEY, (condition,)))
    with pytest.raises(ConditionFailed):
        await table.transact(writes)
    assert await table.get(KEY) == before
    assert await table.get(Key("S#1", "T#2")) is None


async def test_an_absent_item_meets_absent_and_no_comparison(table: Table) -> None:
    with pytest.raises(ConditionFailed):
        await table.put_if(item(), (Compare("n", "!=", 1),))
    await table.put_if(item(), (Absent(), Absent("n")))
    with pytest.raises(ConditionFailed):
        await table.put_if(item(), (Absent(),))


async def test_update_sets_adds_removes_and_answers_with_the_new_item(table: Table) -> None:
    assert await table.update_if(KEY, Change(add={"n": 2}), (Absent(),)) == item(n=2)
    await table.update_if(KEY, Change(set={"a": 1, "b": 2.5}))
    new = await table.update_if(
        KEY, Change(set={"a": [1]}, add={"n": -5, "b": 1}, remove=("zero", "b2"))
    )
    assert new == item(n=-3, a=[1], b=3.5) == await table.get(KEY)
    assert await table.update_if(KEY, Change(remove=("a", "b"))) == item(n=-3)


@pytest.mark.parametrize(
    "change",
    [
        Change(set={"pk": "x"}),
        Change(remove=("sk",)),
        Change(set={"a": 1}, remove=("a",)),
        Change(set={"a": 1}, add={"a": 1}),
        Change(add={"text": 1}),
        Change(add={"yes": 1}),
        Change(set={"due_pk": ""}),
        Change(set={"": 1}),
    ],
    ids=str,
)
async def test_change_that_dynamodb_refuses_writes_nothing(table: Table, change: Change) -> None:
    before = item(text="a", yes=True)
    await table.put(before)
    with pytest.raises(BadItem):
        await table.update_if(KEY, change)
    with pytest.raises(BadItem):
        await table.transact((Put(item("T#2")), Update(KEY, change)))
    assert await table.get(KEY) == before
    assert await table.get(Key("S#1", "T#2")) is None


@pytest.mark.parametrize("condition", [AnyOf(()), Compare("yes", "<", True)], ids=str)
async def test_condition_that_dynamodb_refuses_is_refused(
    table: Table, condition: Condition
) -> None:
    await table.put(item(yes=True))
    with pytest.raises(BadItem):
        await table.put_if(item(n=1), (condition,))
    assert await table.get(KEY) == item(yes=True)


async def test_delete_of_what_is_absent_succeeds(table: Table) -> None:
    await table.delete_if(KEY)
    await table.put(item())
    await table.delete_if(KEY, (Exists(),))
    assert await table.get(KEY) is None


@pytest.mark.parametrize(
    "bad",
    [
        item(""),
        item(pk=""),
        item("x" * 1025),
        item("字" * 342),
        item(pk="x" * 2049),
        item(n=float("nan")),
        item(n=float("inf")),
        item(n=10**38),
        item(n=1e126),
        item(n=1e-131),
        item(t="\ud83d"),
        item(t=("tuple",)),
        item(own_pk=""),
        item(due_sk=5),
        {"pk": "S#1"},
        item() | {"": 1},
        item() | {"a\0": 1},
    ],
    ids=lambda bad: repr(bad)[:40],
)
async def test_item_that_dynamodb_refuses_is_refused(table: Table, bad: Item) -> None:
    with pytest.raises(BadItem):
        await table.put(bad)
    with pytest.raises(BadItem):
        await table.put_if(bad, ())
    with pytest.raises(BadItem):
        await table.transact((Put(bad),))


async def test_values_nest_to_32_levels(table: Table) -> None:
    value: object = 1
    for _ in range(32):
        value = [value]
    await table.put(item(v=value))
    with pytest.raises(BadItem):
        await table.put(item(v=[value]))


async def test_an_item_has_at_most_400_kb(table: Table) -> None:
    names = len("pk") + len("S#1") + len("sk") + len("T#1") + len("t")
    room = 400 * 1024 - names
    await table.put(item(t="x" * room))
    await table.put(item(t=b"x" * room))
    await table.put(item(t="字" * (room // 3)))
    for value in ("x" * (room + 1), b"x" * (room + 1), "字" * (room // 3 + 1)):
        with pytest.raises(ItemTooLarge):
            await table.put(item(t=value))
        with pytest.raises(ItemTooLarge):
            await table.update_if(KEY, Change(set={"t": value}))
        with pytest.raises(ItemTooLarge):
            await table.transact((Update(KEY, Change(set={"t": value})),))
    with pytest.raises(ItemTooLarge):
        await table.put(item(t=["x" * 1000] * 410))


async def test_a_transaction_is_all_or_nothing(table: Table) -> None:
    await table.put(item(n=1))
    await table.put(item("T#3"))
    await table.transact(
        (
            Update(KEY, Change(add={"n": 1}), (Compare("n", "=", 1),)),
            Put(item("T#2"), (Absent(),)),
            Delete(Key("S#1", "T#3"), (Exists(),)),
            Check(Key("S#1", "T#4"), (Absent(),)),
        )
    )
    page = await table.query("S#1")
    assert page.items == (item(n=2), item("T#2"))


async def test_a_transaction_has_1_to_100_writes_and_each_item_once(table: Table) -> None:
    await table.transact([Put(item(f"T#{n}")) for n in range(100)])
    same: tuple[Write, ...] = (Put(item("T#1")), Delete(Key("S#1", "T#1")))
    unconditional: tuple[Write, ...] = (Check(KEY, ()),)
    for writes in ([], [Put(item(f"T#{n}")) for n in range(101)], same, unconditional):
        with pytest.raises(BadItem):
            await table.transact(writes)
    large = [Put(item(f"T#{n}", t="x" * 400_000)) for n in range(11)]
    with pytest.raises(ItemTooLarge):
        await table.transact(large)


ORDERED = [
    "A#1",
    "A#10",
    "A#2",
    "A\ud7ff",
    "A\ue000",
    "A\uffff",
    "A\U00010000",
    "B#1",
    "b",
    "\U0010ffff",
]


async def test_query_is_in_the_order_of_utf8_bytes_and_keeps_to_the_partition(
    table: Table,
) -> None:
    assert sorted(ORDERED, key=str.encode) == ORDERED
    for sk in reversed(ORDERED):
        await table.put(item(sk))
    await table.put(item("A#1", pk="S#10"))
    assert [i["sk"] for i in (await table.query("S#1")).items] == ORDERED
    found = await table.query("S#1", "A#1")
    assert [i["sk"] for i in found.items] == ["A#1", "A#10"]
    for prefix in ("A\ud7ff", "A\U00010000", "B", "\U0010ffff"):
        found = await table.query("S#1", prefix)
        assert [i["sk"] for i in found.items] == [s for s in ORDERED if s.startswith(prefix)]
    assert (await table.query("S#1", "C")).items == ()
    assert (await table.query("nobody")).items == ()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
async def test_pages_give_each_item_once_in_order(table: Table, reverse: bool, limit: int) -> None:
    wanted = [f"T#{n}" for n in range(7)]
    for sk in [*wanted, "Q#1", "U"]:
        await table.put(item(sk))
    found: list[object] = []
    after: Key | None = None
    while True:
        page = await table.query("S#1", "T#", limit=limit, reverse=reverse, after=after)
        assert len(page.items) <= limit
        found += [i["sk"] for i in page.items]
        after = page.after
        if after is None:
            break
    assert found == (wanted[::-1] if reverse else wanted)


async def test_paging_goes_on_where_the_last_key_is_gone(table: Table) -> None:
    for n in range(4):
        await table.put(item(f"T#{n}"))
    page = await table.query("S#1", limit=2)
    await table.delete_if(Key("S#1", "T#1"))
    rest = await table.query("S#1", after=page.after)
    assert [i["sk"] for i in rest.items] == ["T#2", "T#3"]


async def test_a_query_without_partition_room_or_place_is_refused(table: Table) -> None:
    with pytest.raises(BadItem):
        await table.query("")
    with pytest.raises(BadItem):
        await table.query("S#1", limit=0)
    with pytest.raises(BadItem):
        await table.query("S#1", after=Key("S#2", "T#1"))
    with pytest.raises(BadItem):
        await table.query_index("own", "p", up_to="x")
    with pytest.raises(BadItem):
        await table.query_index("other", "p")  # pyright: ignore[reportArgumentType]  # the test
    with pytest.raises(BadItem):
        await table.get(Key("", "x"))


async def test_due_holds_what_has_both_attributes_in_the_order_of_time(table: Table) -> None:
    for sk, time in (("a", "30"), ("b", "10"), ("c", "20"), ("d", "20")):
        await table.put(item(sk, due_pk="DUE#1", due_sk=time))
    await table.put(item("e", due_pk="DUE#1"))
    await table.put(item("f", due_sk="10"))
    await table.put(item("g", due_pk="DUE#2", due_sk="10"))

    async def due(up_to: str = "", limit: int = 100, after: str = "") -> str:
        place = Key("S#1", after) if after else None
        found = await table.query_index("due", "DUE#1", up_to=up_to, limit=limit, after=place)
        return "".join(key.sk for key in found)

    assert await due() == "bcda"
    assert await due(up_to="20") == "bcd"
    assert await due(limit=2) == "bc"
    assert await due(limit=2, after="c") == "da"
    assert await due(up_to="20", after="c") == "d"
    await table.update_if(Key("S#1", "b"), Change(remove=("due_pk", "due_sk")))
    await table.put(item("c", due_pk="DUE#1", due_sk="40"))
    await table.delete_if(Key("S#1", "a"))
    assert await due() == "dc"
    assert await due(after="b") == "dc"


async def test_own_holds_a_persons_items_in_the_order_of_keys(table: Table) -> None:
    for pk, sk in (("S#2", "a"), ("S#1", "b"), ("S#1", "a"), ("S#3", "a")):
        await table.put(item(sk, pk=pk, own_pk="alice"))
    await table.put(item("z", own_pk="bob"))
    await table.put(item("y"))
    wanted = (Key("S#1", "a"), Key("S#1", "b"), Key("S#2", "a"), Key("S#3", "a"))
    assert await table.query_index("own", "alice") == wanted
    first = await table.query_index("own", "alice", limit=3)
    assert first == wanted[:3]
    assert await table.query_index("own", "alice", after=first[-1]) == wanted[3:]
    await table.put(item("b", own_pk="bob"))
    assert Key("S#1", "b") not in await table.query_index("own", "alice")
    assert await table.query_index("own", "bob") == (Key("S#1", "b"), Key("S#1", "z"))

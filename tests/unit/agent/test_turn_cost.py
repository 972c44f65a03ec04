"""What a turn asks of the table, the model and its tools: counted, never timed (P4, P5, P7, P11,
P20)."""

from __future__ import annotations

import asyncio
import gc
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest

from agent.citations import SourceCollector
from agent.dialogue import Message, ModelRequest, Text, ToolCall
from agent.durable import inbox
from agent.durable.intake import take
from agent.loop import Limits, Loop
from agent.ports import ToolResult
from agent.stopwatch import Stopwatch
from agent.stores.memory import MemoryQueue
from agent.stream import AnswerStream
from agent.tool import tool
from agent.toolbox import Toolbox
from handlers.wiring import Receiving
from handlers.worker import drain
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.counting_table import CountingTable
from tests.fakes.desk import PlainChat, PlainMessage, PlainPlace, asked
from tests.fakes.loop import Recorded, Shown, passage
from tests.fakes.scripted_model import Played, ScriptedModel, call, prompt_bytes, reply

STEPS_B = 10


def place(folder: Path, model: ScriptedModel) -> tuple[PlainPlace, CountingTable]:
    made, table = PlainPlace(folder, model), CountingTable()
    made.table = table
    return made, table


def search(query: str, name: str = "c1") -> ToolCall:
    return call("search", {"query": query}, id=name)


def scenario_b(request: ModelRequest) -> Played:
    """Ten steps with one call each, then the answer."""
    step = sum(m.role == "assistant" for m in request.messages)
    return reply(search(f"step {step}")) if step < STEPS_B else "Done."


# --- P20: what a turn writes --------------------------------------------------------------------


async def test_the_writes_of_a_turn(tmp_path: Path) -> None:
    """Conditional writes of a turn with two model steps and three calls.

    Lock taken, turn begun (which announces its message), message sent, one for each step and each
    call's result, and one transaction that ends the turn: answer, memory, state, marker and lock
    together. A read never hides among them; a renewal would be one more for each 12 s.
    """
    three = reply(search("a", "1"), search("b", "2"), search("c", "3"))
    made, table = place(tmp_path, ScriptedModel([three, "Done."]))
    accepted = await made.accept(asked("who is on call?"))
    table.writes.clear()
    assert await drain(made, accepted.session)
    renewals = "update_if LOCK"  # the fake clock runs ahead while the turn waits
    writes = [w for w in table.writes if w != renewals]
    assert (writes[0], writes[1], writes[-1]) == ("put_if LOCK", "update_if T", "transact all")
    assert sorted(writes[2:-1]) == ["put_if OUT", *("put_if STEP",) * 5]
    assert table.calls["put"] == 0, "nothing is written without a condition"


async def test_a_message_costs_one_transaction(tmp_path: Path) -> None:
    made, table = place(tmp_path, ScriptedModel([]))
    await made.accept(asked("who is on call?"))
    assert table.calls == {"transact": 1}


# --- P7: a duplicate delivery -------------------------------------------------------------------


async def test_a_duplicate_is_one_lock_call_and_no_turn() -> None:
    """The one write of a duplicate is the lock call that finds it out; it then only reads."""
    table, clock = CountingTable(), FakeClock()
    queue = MemoryQueue(clock, CountingIds())
    store = Receiving(table, queue, clock)
    assert await take(asked("again?"), "ev1", store) == "accepted"
    for event in ("ev1", "ev2"):
        table.calls.clear()
        assert await take(asked("again?"), event, store) == "duplicate"
        assert table.calls == {"transact": 1, "get": 2}
    assert len(await queue.receive(10)) == 1
    [session] = {(await inbox.accept(table, clock, asked("again?"), "ev3")).session}
    table.calls.clear()
    assert await inbox.oldest_pending(table, session) is not None
    assert table.calls == {"query": 1, "get": 1}


async def test_a_ring_for_an_ended_turn_asks_no_model(tmp_path: Path) -> None:
    made, _ = place(tmp_path, ScriptedModel(["Done."]))
    accepted = await made.accept(asked("who is on call?"))
    await drain(made, accepted.session)
    assert not (await made.accept(asked("who is on call?"))).fresh
    await drain(made, accepted.session)
    assert len(made.talk.done) == 1
    assert isinstance(made.model, ScriptedModel)
    assert len(made.model.requests) == 1


# --- P4: parallel calls -------------------------------------------------------------------------


class Gate:
    """A tool whose calls end only when `wanted` of them are inside together."""

    def __init__(self, wanted: int, timeout: float = 5.0) -> None:
        self.inside = self.begun = 0
        self._open = asyncio.Event()

        @tool(topic={"zh": "门", "en": "the gate"}, permission="kb.read", timeout=timeout)
        async def search(query: Annotated[str, "one full sentence of text"]) -> ToolResult:
            """Wait for the others."""
            self.begun += 1
            if query == "hangs":
                await asyncio.Event().wait()
            self.inside += 1
            if self.inside == wanted:
                self._open.set()
            await self._open.wait()
            return ToolResult(passages=(passage(f"s-{query}"),))

        self.tool = search


@pytest.mark.parametrize("count", [4, 8, 16])
async def test_all_calls_of_a_step_run_at_once(count: int) -> None:
    gate = Gate(count)
    box = Toolbox([gate.tool], SourceCollector(), Recorded())
    replies = await box.run([search(f"{n}", f"c{n}") for n in range(count)], 1)
    assert gate.inside == count
    assert [r.call for r in replies] == [f"c{n}" for n in range(count)]
    assert not any(r.error for r in replies)


@pytest.mark.parametrize("late", range(4))
async def test_a_call_over_its_time_out_costs_no_sibling_and_no_second_try(late: int) -> None:
    gate = Gate(3, timeout=0.05)
    box = Toolbox([gate.tool], SourceCollector(), Recorded())
    calls = [search("hangs" if n == late else f"{n}", f"c{n}") for n in range(4)]
    replies = await box.run(calls, 1)
    assert [r.error for r in replies] == [n == late for n in range(4)]
    assert gate.begun == 4
    assert box.passages == 3


# --- P5: many sessions at once ------------------------------------------------------------------


async def test_two_hundred_sessions_at_once_keep_apart(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Played:
        words = request.messages[0].text.rsplit("\n", 1)[-1]
        if len(request.messages) == 1:
            return reply(search(f"{words} a", "1"), search(f"{words} b", "2"))
        return f"Answer to {words}"

    made, table = place(tmp_path, ScriptedModel(script))
    accepted: list[inbox.Accepted] = []
    for n in range(200):
        question = asked(f"question {n}", n)
        chat = question.chat
        alone = type(chat)(f"{chat.chat}{n}", chat.kind, chat.message)
        accepted.append(await made.accept(asked(f"question {n}", n, chat=alone)))
    async with asyncio.TaskGroup() as group:
        done = [group.create_task(drain(made, a.session)) for a in accepted]
    assert all(d.result() for d in done)
    told = {frame.turn: frame.text for frame in made.talk.done}
    assert [told[a.turn] for a in accepted] == [f"Answer to question {n}" for n in range(200)]
    assert table.calls["transact"] == 2 * 200


# --- P11: the prompt's prefix -------------------------------------------------------------------


def unchanged(before: bytes, after: bytes) -> float:
    """The part of the earlier prompt that is an unchanged prefix of the later one."""
    same = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    return (min(len(before), len(after)) if same is None else same) / len(before)


async def test_each_step_goes_on_from_the_prompt_before(tmp_path: Path) -> None:
    model = ScriptedModel(scenario_b)
    made, _ = place(tmp_path, model)
    made.library.found = {f"step {n}": (passage(f"s{n}", "words " * 40),) for n in range(STEPS_B)}
    made.limits = type(made.limits)(steps=STEPS_B + 1)
    accepted = await made.accept(asked("who is on call?"))
    await drain(made, accepted.session)
    prompts = [prompt_bytes(r) for r in model.requests]
    assert len(prompts) == STEPS_B + 1
    assert len(set(model.digests)) == STEPS_B + 1
    for before, after in pairwise(prompts):
        assert unchanged(before, after) >= 0.9


async def test_each_turn_of_a_chat_goes_on_from_the_turn_before(tmp_path: Path) -> None:
    def script(request: ModelRequest) -> Played:
        last = request.messages[-1]
        return reply(search(last.text)) if last.text else "It is Dana [src:ops-12]."

    model = ScriptedModel(script)
    made, _ = place(tmp_path, model)
    firsts: list[bytes] = []
    for n in range(1, 6):
        began = len(model.requests)
        made.hands.advance(3_700)
        accepted = await made.accept(asked(f"question number {n}: " + "who is on call? " * 4, n))
        await drain(made, accepted.session)
        firsts.append(prompt_bytes(model.requests[began]))
    for before, after in pairwise(firsts):
        assert unchanged(before, after) >= 0.9
        assert len(after) > len(before)


# --- what is left behind ------------------------------------------------------------------------


async def test_a_model_stream_is_closed_when_its_reply_is_there() -> None:
    model, clock = ScriptedModel([reply(search("a")), "Done."]), FakeClock()
    box = Toolbox([Gate(1).tool], SourceCollector(), Recorded())
    watch = Stopwatch(clock)
    loop = Loop(model, box, Recorded(), Shown(), clock, watch, "en", Limits())
    await loop.run("policy", (Message("user", (Text("who is on call?"),)),))
    assert len(model.requests) == 2
    assert model.open == 0, "an abandoned stream costs a task and closes nobody knows when"


async def test_an_ended_answer_stream_is_freed_without_the_collector() -> None:
    gc.disable()
    try:
        message = PlainMessage(PlainChat())
        async with AnswerStream(message, FakeClock(auto=False), turn="t", language="en") as stream:
            stream.progress("Reading")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            freed = weakref.ref(stream)
        del stream
        assert message.chat.shown
        assert freed() is None
    finally:
        gc.enable()

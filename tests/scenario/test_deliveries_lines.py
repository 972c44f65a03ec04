"""Doubled, disordered and redelivered events, sent by the simulator over a real connection."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.durable import inbox
from handlers import wiring
from handlers.cli.workspace import demo_settings
from handlers.connections.slack_socket import socket_mode
from handlers.settings import Settings
from tests.fakes.simulator_process import RunningSimulator

pytestmark = pytest.mark.slow

DIRECT = "D0ALICE001"
CHANNEL = "C0DEMO0001"
SLACK_WAITS = (0, 60, 300)


@pytest.fixture
def settings(simulator: RunningSimulator, tmp_path: Path) -> Settings:
    return demo_settings(Settings(home=str(tmp_path)), simulator.origin)


async def _wait(simulator: RunningSimulator, tries: int) -> list[dict[str, Any]]:
    """The deliveries, once so many tries were made in all."""
    for _ in range(200):
        found = await asyncio.to_thread(simulator.get, "deliveries")
        if sum(len(one["answers"]) for one in found) >= tries:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("waited in vain")


async def _texts(settings: Settings) -> list[list[str]]:
    """The waiting questions of each session that was rung for, in the inbox's order."""
    store = wiring.receiving(settings)
    found: dict[str, list[str]] = {}
    while rings := await store.queue.receive(10):
        for ring in rings:
            texts = found.setdefault(ring.session, [])
            while record := await inbox.oldest_pending(store.table, ring.session):
                texts.append(record.question.text)
                await store.table.delete_if(record.marker)
            await store.queue.ack(ring.receipt)
    return list(found.values())


@pytest.mark.parametrize("new_event_id", [False, True])
async def test_doubles_in_any_order_are_one_turn_each_in_the_order_said(
    simulator: RunningSimulator, settings: Settings, new_event_id: bool
) -> None:
    doubled = {"kind": "duplicate", "copies": 3, "new_event_id": new_event_id}
    simulator.post("faults", doubled)
    simulator.post("faults", {"kind": "reorder", "window": 24, "seed": 5})
    async with socket_mode(settings):
        said = [f"question {number}" for number in range(6)]
        for text in said:
            await asyncio.to_thread(simulator.say, "slack", "alice", DIRECT, text)
        await _wait(simulator, 24)
        assert await _texts(settings) == [said]


async def test_a_thread_keeps_its_order_and_a_mention_is_one_turn(
    simulator: RunningSimulator, settings: Settings
) -> None:
    root = simulator.say("slack", "bob", CHANNEL, "root")
    simulator.post("faults", {"kind": "reorder", "window": 10, "seed": 2})
    async with socket_mode(settings):
        said = [f"question {number}" for number in range(5)]
        for text in said:
            more = {"thread": root, "mention": True}
            await asyncio.to_thread(simulator.say, "slack", "alice", CHANNEL, text, **more)
        await _wait(simulator, 10)
        assert await _texts(settings) == [said]


async def test_lost_acknowledgements_run_through_the_whole_schedule_and_stay_one_turn(
    simulator: RunningSimulator, settings: Settings
) -> None:
    simulator.post("faults", {"kind": "lost_answer", "path": "message"})
    async with socket_mode(settings):
        await asyncio.to_thread(simulator.say, "slack", "alice", DIRECT, "only once")
        for tries, wait in enumerate(SLACK_WAITS, start=1):
            await _wait(simulator, tries)
            await asyncio.to_thread(simulator.advance, wait)
        (delivery,) = await _wait(simulator, 4)
        assert delivery["answers"] == [0, 0, 0, 0]
        assert await _texts(settings) == [["only once"]]

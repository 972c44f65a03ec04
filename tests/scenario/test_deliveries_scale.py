"""R5: a thousand messages, each delivered one to five times in any order over 7.1 h."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from agent.durable import inbox, keys
from agent.durable.records import TurnRecord
from agent.stores.memory import MemoryQueue
from agent.stores.memory_table import MemoryTable
from handlers import feishu, receiving, slack
from handlers.receiving import Edge
from handlers.wiring import Receiving
from tests.fakes import platform_samples as samples
from tests.fakes.clock import CountingIds, FakeClock

Platform = Literal["feishu", "slack"]
MESSAGES = 1_000
SPAN = 7.1 * 3600
"""Seconds from the first try to the last of Feishu's schedule (15 s, 5 min, 1 h, 6 h)."""
EDGES: dict[Platform, Edge] = {"feishu": feishu.EDGE, "slack": slack.EDGE}
SETTINGS = replace(samples.SAMPLES, feishu_bot_open_id="ou_bot", slack_bot_user="U0BOT")


@dataclass(frozen=True)
class Said:
    """A message that somebody wrote: where, and when in seconds after the start."""

    platform: Platform
    number: int
    chat: int
    at: float

    @property
    def moment(self) -> float:
        return samples.NOW + self.at

    @property
    def text(self) -> str:
        return f"question {self.number}"

    def payload(self, event: str, twin: bool) -> dict[str, Any]:
        return self._lark(event) if self.platform == "feishu" else self._slack(event, twin)

    def _lark(self, event: str) -> dict[str, Any]:
        message = {
            "message_id": f"om_{self.number}",
            "create_time": str(round(self.moment * 1000)),
            "chat_id": f"oc_{self.chat}",
            "chat_type": "p2p",
            "message_type": "text",
            "content": f'{{"text":"{self.text}"}}',
        }
        sender = {"sender_id": {"open_id": f"ou_{self.chat}"}, "sender_type": "user"}
        header = {
            "event_id": event,
            "token": SETTINGS.feishu_verification_token,
            "create_time": message["create_time"],
            "event_type": "im.message.receive_v1",
            "tenant_key": "tenant",
            "app_id": "cli_app",
        }
        return {"schema": "2.0", "header": header, "event": {"sender": sender, "message": message}}

    def _slack(self, event: str, twin: bool) -> dict[str, Any]:
        ts = f"{self.moment:.6f}"
        inner = {
            "type": "app_mention" if twin else "message",
            "user": f"U{self.chat}",
            "text": f"<@U0BOT> {self.text}",
            "ts": ts,
            "event_ts": ts,
            "channel": f"C{self.chat}",
            "thread_ts": f"{samples.NOW - 60}.000100",
        }
        if not twin:
            inner["channel_type"] = "channel"
        return {
            "type": "event_callback",
            "team_id": "T0TEAM",
            "api_app_id": "A0APP",
            "event_id": event,
            "event": inner,
        }


class Office:
    """The receiving side and a worker that only takes turns off the inbox."""

    def __init__(self) -> None:
        self.clock = FakeClock(float(samples.NOW))
        self.table = MemoryTable()
        self.store = Receiving(self.table, MemoryQueue(self.clock, CountingIds()), self.clock)
        self.answered: dict[str, list[TurnRecord]] = {}

    async def deliver(self, said: Said, event: str, twin: bool) -> None:
        make = samples.feishu if said.platform == "feishu" else samples.slack
        request = make(said.payload(event, twin), SETTINGS, int(self.clock.now()))
        edge = EDGES[said.platform]
        answer = await receiving.respond(request, edge, SETTINGS, lambda _: self.store)
        assert answer.status == 200

    async def work(self) -> None:
        """Take each session's turns as the rings name them, oldest first."""
        while rings := await self.store.queue.receive(100):
            for ring in rings:
                while record := await inbox.oldest_pending(self.table, ring.session):
                    self.answered.setdefault(ring.session, []).append(record)
                    await self.table.delete_if(record.marker)
                await self.store.queue.ack(ring.receipt)


def conversation(dice: random.Random) -> list[Said]:
    """A thousand messages of both platforms in forty chats within half an hour."""
    moments = sorted(dice.sample(range(1_800_000), MESSAGES))
    return [
        Said(dice.choice(("feishu", "slack")), number, dice.randrange(20), moment / 1000)
        for number, moment in enumerate(moments)
    ]


def deliveries(said: list[Said], dice: random.Random) -> list[tuple[float, Said, str, bool]]:
    """When each message comes, under which event id, and as which of Slack's two events."""
    plan: list[tuple[float, Said, str, bool]] = []
    for one in said:
        for copy in range(dice.randint(1, 5)):
            event = f"ev-{one.number}" + (f"-{copy}" if dice.random() < 0.5 else "")
            plan.append((one.at + dice.uniform(0, SPAN), one, event, dice.random() < 0.5))
    return sorted(plan, key=lambda entry: entry[0])


@pytest.mark.parametrize("seed", [1, 2])
async def test_each_message_is_one_turn_and_sessions_keep_their_order(seed: int) -> None:
    dice = random.Random(seed)
    said = conversation(dice)
    office = Office()
    plan = deliveries(said, dice)
    assert len(plan) > 2 * MESSAGES
    for at, one, event, twin in plan:
        office.clock.advance(max(0.0, samples.NOW + at - office.clock.now()))
        await office.deliver(one, event, twin)
    await office.work()
    turns = [record for records in office.answered.values() for record in records]
    assert sorted(record.question.text for record in turns) == sorted(one.text for one in said)
    wanted: dict[tuple[str, int], list[str]] = {}
    for one in said:
        wanted.setdefault((one.platform, one.chat), []).append(one.text)
    got = [[record.question.text for record in records] for records in office.answered.values()]
    assert sorted(got) == sorted(wanted.values())


async def test_a_message_that_was_answered_is_not_answered_again_hours_later() -> None:
    dice = random.Random(3)
    said = conversation(dice)
    office = Office()
    next_work = 0.0
    for at, one, event, twin in deliveries(said, dice):
        office.clock.advance(max(0.0, samples.NOW + at - office.clock.now()))
        await office.deliver(one, event, twin)
        if at >= next_work:  # the worker is busy elsewhere for minutes at a time
            await office.work()
            next_work = at + dice.uniform(0, 600)
    await office.work()
    texts = [r.question.text for records in office.answered.values() for r in records]
    assert sorted(texts) == sorted(one.text for one in said)


async def test_what_waits_together_is_answered_in_the_order_it_was_said() -> None:
    dice = random.Random(4)
    office = Office()
    said = [Said("feishu", number, 0, float(number)) for number in range(50)]
    for one in dice.sample(said, len(said)):
        await office.deliver(one, f"ev-{one.number}", twin=False)
    await office.work()
    (records,) = office.answered.values()
    assert [record.question.text for record in records] == [one.text for one in said]
    assert (
        keys.session_id(records[0].question.asker, records[0].question.chat) == records[0].session
    )

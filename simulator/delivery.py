"""Bring events to the bot as the platforms do: in 3 seconds, else again on their schedule."""

import asyncio
import random
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from simulator.faults.board import Fault
from simulator.lines.line import Line
from simulator.state.records import Delivery
from simulator.state.world import World

DEADLINE_S = 3.0
# FEISHU.md 2.1: redelivery after 15 s, 5 min, 1 h, 6 h; SLACK.md 2.1: at once, 1 min, 5 min.
FEISHU_RETRIES = (15.0, 300.0, 3600.0, 21600.0)
SLACK_RETRIES = (0.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One event; seal(retry number, reason) signs it anew for a try, giving headers and body.

    plain and line_type are what goes over a long connection instead. renew wraps the same event
    under a new event id; None for what the platforms never wrap twice.
    """

    event_id: str
    path: str
    kind: str
    seal: Callable[[int, str], tuple[Mapping[str, str], bytes]]
    retries: tuple[float, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict[str, Any])
    line_type: str = "event"
    renew: "Callable[[], Parcel] | None" = None

    @property
    def platform(self) -> str:
        """The platform it comes from."""
        return self.path.split("/")[1]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What came back: HTTP status (0 when nothing did), headers, body, and why it failed."""

    status: int
    body: bytes
    reason: str
    headers: Mapping[str, str]

    @property
    def good(self) -> bool:
        """Whether the platform counts it as delivered."""
        return 200 <= self.status < 300


_LOST = Receipt(0, b"", "http_timeout", {})


class Courier:
    """Brings parcels to the bot and keeps the record of tries; lines are the long connections."""

    def __init__(self, world: World, client: httpx.AsyncClient, lines: Mapping[str, Line]) -> None:
        self._world = world
        self._client = client
        self._held: list[Parcel] = []
        self.lines = lines

    def send(self, parcel: Parcel) -> None:
        """Deliver in the background with the platform's redeliveries, and with what is wrong."""
        faults, at = self._world.faults, (parcel.platform, parcel.kind)
        twice = faults.take(("duplicate",), *at)
        copies = [parcel] + (_copies(parcel, twice) if twice else [])
        reorder = faults.take(("reorder",), *at)
        if reorder is None:
            self._start(copies)
            return
        self._held += copies
        if len(self._held) >= int(reorder.options.get("window", 2)):
            random.Random(reorder.seed + reorder.hits).shuffle(self._held)  # noqa: S311 - seeded dice
            self.release()

    def release(self) -> None:
        """Deliver what a reorder switch has held back, in the order it lies in."""
        held, self._held = self._held, []
        self._start(held)

    def forget(self) -> None:
        """Throw away what is held back."""
        self._held.clear()

    async def ask(self, parcel: Parcel) -> Receipt:
        """Deliver once and return the bot's answer (callbacks, commands: never redelivered)."""
        record = self._note(parcel)
        receipt = await self._once(parcel, record, 0, "")
        record.status = "delivered" if receipt.good else "given_up"
        return receipt

    def _start(self, parcels: list[Parcel]) -> None:
        for parcel in parcels:
            self._world.spawn(self._insist(parcel))

    def _note(self, parcel: Parcel) -> Delivery:
        record = Delivery(parcel.event_id, self._world.bot + parcel.path, parcel.kind)
        self._world.records.deliveries.append(record)
        return record

    async def _insist(self, parcel: Parcel) -> None:
        record = self._note(parcel)
        receipt = await self._once(parcel, record, 0, "")
        for number, wait in enumerate(parcel.retries, start=1):
            if receipt.good or receipt.headers.get("x-slack-no-retry") == "1":
                break
            record.status = "retrying"
            await self._world.clock.sleep_until(self._world.clock.now() + wait)
            receipt = await self._once(parcel, record, number, receipt.reason)
        record.status = "delivered" if receipt.good else "given_up"

    async def _once(self, parcel: Parcel, record: Delivery, number: int, reason: str) -> Receipt:
        record.tries += 1
        line = self.lines[parcel.platform]
        try:
            async with asyncio.timeout(DEADLINE_S):
                receipt = await (
                    self._over_line(line, parcel, number)
                    if line.open
                    else self._over_http(record.url, parcel, number, reason)
                )
        except (TimeoutError, httpx.TimeoutException):
            receipt = _LOST
        except (httpx.TransportError, ConnectionError):
            receipt = Receipt(0, b"", "connection_failed", {})
        if self._world.faults.take(("lost_answer",), parcel.platform, parcel.kind):
            receipt = _LOST
        record.answers.append(receipt.status)
        return receipt

    async def _over_http(self, url: str, parcel: Parcel, number: int, reason: str) -> Receipt:
        headers, body = parcel.seal(number, reason)
        answer = await self._client.post(url, content=body, headers=dict(headers))
        return Receipt(answer.status_code, answer.content, "http_error", answer.headers)

    async def _over_line(self, line: Line, parcel: Parcel, number: int) -> Receipt:
        key = secrets.token_hex(16)
        heard = await line.deliver(key, parcel.line_type, dict(parcel.plain), number)
        return Receipt(200 if heard.good else 500, heard.body, "http_error", {})


def _copies(parcel: Parcel, fault: Fault) -> list[Parcel]:
    count = int(fault.options.get("copies", 1))
    if fault.options.get("new_event_id") and parcel.renew:
        return [parcel.renew() for _ in range(count)]
    return [parcel] * count

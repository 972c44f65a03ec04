"""Bring events to the bot as the platforms do: in 3 seconds, else again on their schedule."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from simulator.state.records import Delivery
from simulator.state.world import World

DEADLINE_S = 3.0
# FEISHU.md 2.1: redelivery after 15 s, 5 min, 1 h, 6 h; SLACK.md 2.1: at once, 1 min, 5 min.
FEISHU_RETRIES = (15.0, 300.0, 3600.0, 21600.0)
SLACK_RETRIES = (0.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One event; seal(retry number, reason) signs it anew for a try, giving headers and body."""

    event_id: str
    path: str
    kind: str
    seal: Callable[[int, str], tuple[Mapping[str, str], bytes]]
    retries: tuple[float, ...] = ()


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


class Courier:
    """Posts parcels to the bot and keeps the record of tries."""

    def __init__(self, world: World, client: httpx.AsyncClient) -> None:
        self._world = world
        self._client = client

    def send(self, parcel: Parcel) -> None:
        """Deliver in the background with the platform's redeliveries."""
        self._world.spawn(self._insist(parcel))

    async def ask(self, parcel: Parcel) -> Receipt:
        """Deliver once and return the bot's answer (callbacks, commands: never redelivered)."""
        record = self._note(parcel)
        receipt = await self._once(parcel, record, 0, "")
        record.status = "delivered" if receipt.good else "given_up"
        return receipt

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
        headers, body = parcel.seal(number, reason)
        record.tries += 1
        try:
            async with asyncio.timeout(DEADLINE_S):
                answer = await self._client.post(record.url, content=body, headers=dict(headers))
        except (TimeoutError, httpx.TimeoutException):
            receipt = Receipt(0, b"", "http_timeout", {})
        except httpx.TransportError:
            receipt = Receipt(0, b"", "connection_failed", {})
        else:
            receipt = Receipt(answer.status_code, answer.content, "http_error", answer.headers)
        record.answers.append(receipt.status)
        return receipt

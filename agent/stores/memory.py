"""Blobs and doorbell in memory: for simulation, benchmarks and tests."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from agent.ports import Clock, Ids, Ring
from agent.stores.limits import check_blob_key


class MemoryBlobs:
    """Blobs that live as long as the object."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    async def put(self, key: str, data: bytes, media_type: str = "") -> None:
        """Keep the object, replacing what was there."""
        check_blob_key(key)
        self._objects[key] = data

    async def get(self, key: str) -> bytes | None:
        """The object, None when there is none."""
        check_blob_key(key)
        return self._objects.get(key)

    async def delete(self, key: str) -> None:
        """Remove the object; removing what is absent succeeds."""
        check_blob_key(key)
        self._objects.pop(key, None)

    async def presign(self, key: str, seconds: int) -> str:
        """An address that only names the object: nothing outside this process can read it."""
        check_blob_key(key)
        return f"memory:///{quote(key)}"


@dataclass(slots=True)
class _Waiting:
    session: str
    visible_at: float
    receipt: str = ""


class MemoryQueue:
    """A Queue that lives as long as the object.

    A ring that was received and not acknowledged within `visibility` seconds comes again under a
    new receipt; the old one then does nothing.
    """

    def __init__(self, clock: Clock, ids: Ids, visibility: float = 60.0) -> None:
        self._clock = clock
        self._ids = ids
        self._visibility = visibility
        self._rings: list[_Waiting] = []

    async def ring(self, session: str, delay: float = 0.0) -> None:
        """Announce work in the session, to be received after `delay` seconds."""
        self._rings.append(_Waiting(session, self._clock.now() + delay))

    async def receive(self, limit: int = 1) -> tuple[Ring, ...]:
        """Up to `limit` rings whose time has come, oldest first; none is no reason to wait."""
        now = self._clock.now()
        ready = sorted(
            (ring for ring in self._rings if ring.visible_at <= now), key=lambda r: r.visible_at
        )[:limit]
        for ring in ready:
            ring.visible_at = now + self._visibility
            ring.receipt = self._ids.new()
        return tuple(Ring(ring.session, ring.receipt) for ring in ready)

    async def ack(self, receipt: str) -> None:
        """Take the ring off the queue; a receipt that is no longer valid does nothing."""
        self._rings = [ring for ring in self._rings if not receipt or ring.receipt != receipt]

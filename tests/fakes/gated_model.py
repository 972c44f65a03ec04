"""A model that takes its time: nothing is said before the test opens the gate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent.dialogue import Capability, ModelEvent, ModelRequest
from agent.ports import Model


@dataclass(slots=True)
class GatedModel:
    """`inner` behind a gate; `asked` counts the calls, `begun` is set by the first one."""

    inner: Model
    asked: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def capability(self) -> Capability:
        return self.inner.capability()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.asked += 1
        self.begun.set()
        await self.gate.wait()
        async for event in self.inner.stream(request):
            yield event

    @asynccontextmanager
    async def busy(self) -> AsyncGenerator[None]:
        """While the first call runs; the gate opens at the end."""
        async with asyncio.timeout(10):
            await self.begun.wait()
        assert not self.gate.is_set()
        try:
            yield
        finally:
            self.gate.set()

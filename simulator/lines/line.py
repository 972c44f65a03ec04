"""One platform's long connections: an event goes over the newest and waits for its answer."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Heard:
    """What the bot answered to an event: good or not, and the body it gave."""

    good: bool
    body: bytes


class Line(ABC):
    """The open connections of a platform; what stands on the wire is the subclass's business."""

    def __init__(self) -> None:
        self._sockets: list[WebSocket] = []
        self._waiting: dict[str, asyncio.Future[Heard]] = {}

    @property
    def open(self) -> bool:
        """Whether a bot is connected; events then come over the line, as on the platform."""
        return bool(self._sockets)

    async def serve(self, socket: WebSocket) -> None:
        """Keep one connection until the bot or hang_up ends it."""
        await socket.accept()
        self._sockets.append(socket)
        try:
            await self.greet(socket)
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                await self.hear(socket, message.get("bytes") or message.get("text") or b"")
        except WebSocketDisconnect:
            return
        finally:
            if socket in self._sockets:
                self._sockets.remove(socket)

    async def deliver(self, key: str, line_type: str, payload: Json, number: int) -> Heard:
        """Send an event and wait for its answer; the caller sets the time limit.

        Raises:
            ConnectionError: no bot is connected (any more).
        """
        if not self._sockets:
            raise ConnectionError("nobody is on the line")
        answer: asyncio.Future[Heard] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        try:
            await self.send(self._sockets[-1], key, line_type, payload, number)
            return await answer
        except (RuntimeError, WebSocketDisconnect) as gone:
            raise ConnectionError("the line broke") from gone
        finally:
            self._waiting.pop(key, None)

    def settle(self, key: str, heard: Heard) -> None:
        """Hand an answer to the delivery that waits for it."""
        waiting = self._waiting.get(key)
        if waiting is not None and not waiting.done():
            waiting.set_result(heard)

    async def hang_up(self) -> int:
        """End all connections; return how many there were."""
        sockets, self._sockets = self._sockets, []
        for socket in sockets:
            await self.part(socket)
            await socket.close(1000)
        return len(sockets)

    async def part(self, socket: WebSocket) -> None:
        """Say goodbye, where the platform does."""
        del socket

    @abstractmethod
    async def greet(self, socket: WebSocket) -> None:
        """Say what the platform says first."""

    @abstractmethod
    async def hear(self, socket: WebSocket, message: bytes | str) -> None:
        """Take what the bot sent."""

    @abstractmethod
    async def send(
        self, socket: WebSocket, key: str, line_type: str, payload: Json, number: int
    ) -> None:
        """Put an event on the wire; number is 0 for the first try."""

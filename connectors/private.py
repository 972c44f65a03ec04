"""An answer that one person sees alone: its place is opened when there is something to show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from agent.ports import AnswerMessage, Frame

_QUOTED: Final = 300

Open = Callable[[], Awaitable[AnswerMessage]]
Beside = Callable[[Frame], Awaitable[bool]]


def quote(question: str) -> str:
    """The words of a question in quotation marks, on one line of at most 300 characters."""
    words = " ".join(question.split())
    return f"“{words if len(words) <= _QUOTED else words[:_QUOTED] + '…'}”"


async def _nowhere(frame: Frame) -> bool:
    del frame
    return False


class PrivateAnswer:
    """A message whose direct chat is opened with its first words.

    Args:
        opened: Opens the place and begins the message there.
        pace: The least number of seconds between two shows.
        short: Characters up to which an answer waits for its end, to be shown in another way.
        beside: Shows a whole short answer in that way; False when it can not.
    """

    def __init__(
        self, opened: Open, pace: float, short: int = 0, beside: Beside = _nowhere
    ) -> None:
        self._opened = opened
        self._pace = pace
        self._short = short
        self._beside = beside
        self._message: AnswerMessage | None = None

    @property
    def pace(self) -> float:
        """The least number of seconds between two shows."""
        return self._pace

    @property
    def handle(self) -> str:
        """The handle of the message in the direct chat; "" while there is none."""
        return "" if self._message is None else self._message.handle

    async def show(self, frame: Frame) -> None:
        """Show the frame in the direct chat, once there are enough words for it."""
        if self._message is None and len(frame.text) <= self._short:
            return
        await (await self._begun()).show(frame)

    async def finish(self, frame: Frame) -> None:
        """Deliver the whole answer."""
        short = self._message is None and len(frame.text) <= self._short
        if not short or not await self._beside(frame):
            await (await self._begun()).finish(frame)

    async def _begun(self) -> AnswerMessage:
        if self._message is None:
            self._message = await self._opened()
        return self._message

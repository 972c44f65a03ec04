"""The paced stream of one answer: many small changes in, few whole frames out.

A turn reports what it knows (progress, text, sources); the latest frame is shown, never
two at once and no faster than the platform allows. What is shown in between may be skipped; the
last frame is sent until it is delivered or its time is up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Self

from agent import phrases
from agent.domain import Language, Source
from agent.errors import PlumblineError, RateLimited, Retryable
from agent.ports import AnswerMessage, Clock, Control, Frame, Timer
from agent.values import value

log = logging.getLogger(__name__)

FLOOR: Final = 0.05
"""The least pace in seconds between two intermediate frames, whatever the message allows."""
SLOWEST: Final = 10.0
"""The pace is not doubled beyond this many seconds."""
QUIET: Final = 10.0
"""After this many seconds without a show the progress line is repeated."""


@value
class Patience:
    """How long the last frame is tried for, and the first pause between tries; in seconds."""

    limit: float = 120.0
    first_pause: float = 0.5


PATIENT: Final = Patience()
Posted = Callable[[str], Awaitable[None]]
"""Called with a message's handle."""


class AnswerStream:
    """One answer on its way to the person; an async context manager used by one turn.

    `progress`, `delta`, `replace` and `sources` only note the change and return at once. `finish`
    sends the last frame. Leaving the context ends it all; nothing runs on after it, and an
    error of the body goes on as it is.

    Args:
        message: the message of the Chat port that is edited in place.
        clock: time.
        turn: the turn's id; it stands in every frame.
        language: the person's language.
        patience: the limits of the last frame.
        posted: told the message's handle once, after the first frame was shown.
    """

    def __init__(
        self,
        message: AnswerMessage,
        clock: Clock,
        *,
        turn: str,
        language: Language,
        patience: Patience = PATIENT,
        posted: Posted | None = None,
    ) -> None:
        self._message = message
        self._clock = clock
        self._turn = turn
        self._language: Language = language
        self._patience = patience
        self._posted = posted
        self._pieces: list[str] = []
        self._progress = ""
        self._sources: Mapping[str, Source] | None = None
        self._wanted = False
        self._shown = False
        self._showing = False
        self._closing = False
        self._finished = False
        self._slow_down = 1
        self._begun = self._last_call = clock.monotonic()
        self._not_before = self._begun
        self._show_task: asyncio.Task[None] | None = None
        self._slot: Timer | None = None
        self._alarm: Timer | None = None

    async def __aenter__(self) -> Self:
        self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def open(self) -> None:
        """Begin to show life; to be closed whatever happens."""
        self._alarm = self._clock.later(QUIET, self._show_life)

    async def close(self) -> None:
        """End what still runs."""
        self._close()
        if self._alarm is not None:
            self._alarm.cancel()
        # An ended task remembers this stream in its traceback: let go, both are freed at once.
        task, self._show_task = self._show_task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait((task,))

    @property
    def text(self) -> str:
        """The whole text so far: the model's markdown with its markers."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def handle(self) -> str:
        """What a successor needs to go on with the message; "" before anything was posted."""
        return self._message.handle

    def progress(self, line: str) -> None:
        """Show one line in plain words under the text; "" takes it away."""
        if line != self._progress:
            self._progress = line
            self._want()

    def delta(self, text: str) -> None:
        """Add words to the text. The progress line goes: the words themselves show progress."""
        self._pieces.append(text)
        self._progress = ""
        self._want()

    def replace(self, text: str) -> None:
        """Put another text in place of all words so far ("" drops provisional words)."""
        self._pieces = [text]
        self._want()

    def sources(self, table: Mapping[str, Source]) -> None:
        """Say what the markers in the text may mean; the mapping may go on growing."""
        self._sources = table

    async def finish(
        self,
        text: str | None = None,
        *,
        notice: str = "",
        sources: Mapping[str, Source] | None = None,
        controls: Sequence[Control] = (),
    ) -> None:
        """Send the last frame: the whole text (None: as streamed), notice, source list, controls.

        Raises:
            PlatformRefused: the platform takes the answer in no form.
            RateLimited, Unavailable: not delivered within the limit.
            RuntimeError: the stream was already finished.
        """
        if self._finished:
            raise RuntimeError("finish was called twice")
        self._finished = True
        self._close()
        if self._showing and self._show_task is not None:
            await asyncio.wait((self._show_task,))
        frame = Frame(
            self._turn,
            self._language,
            self.text if text is None else text,
            notice=notice,
            sources=self._sources if sources is None else sources,
            done=True,
            controls=controls,
        )
        await self._deliver(frame)

    # --- the last frame ----------------------------------------------------------------------

    async def _deliver(self, frame: Frame) -> None:
        deadline = self._clock.monotonic() + self._patience.limit
        pause = self._patience.first_pause
        wait = self._until_slot(0.0)
        if wait > 0:
            await self._clock.sleep(wait)
        while True:
            try:
                await self._message.finish(frame)
            except Retryable as error:
                wait = error.retry_after if isinstance(error, RateLimited) else pause
                pause = min(pause * 2, SLOWEST)
                if self._clock.monotonic() + wait > deadline:
                    raise
                log.info("last frame refused for now: %s", error.code)
                await self._clock.sleep(wait)
            else:
                return

    # --- intermediate frames -----------------------------------------------------------------

    def _until_slot(self, floor: float) -> float:
        """Seconds until the pace, slowed down by refusals, and a named pause both allow a call."""
        pace = max(self._message.pace, floor)
        if self._slow_down > 1:
            pace = max(pace, min(pace * self._slow_down, SLOWEST))
        slot = self._not_before
        if self._shown:
            slot = max(slot, self._last_call + pace)
        return max(slot - self._clock.monotonic(), 0.0)

    def _want(self) -> None:
        """Have the latest frame shown as soon as the pace allows, if none is on its way."""
        self._wanted = True
        busy = self._show_task is not None and not self._show_task.done()
        if self._slot is None and not busy and not self._closing:
            self._slot = self._clock.later(self._until_slot(FLOOR), self._begin_show)

    def _begin_show(self) -> None:
        self._slot = None
        self._show_task = asyncio.create_task(self._show())

    def _close(self) -> None:
        """Show no further frame; a show in flight goes on."""
        self._closing = True
        if self._slot is not None:
            self._slot.cancel()
            self._slot = None
        if self._show_task is not None and not self._showing:
            self._show_task.cancel()

    def _show_life(self) -> None:
        """Ask for a frame when nothing was shown for a while, so that the person sees life."""
        wait = self._last_call + QUIET - self._clock.monotonic()
        if wait <= 0:
            self._want()
            wait = QUIET
        self._alarm = self._clock.later(wait, self._show_life)

    async def _show(self) -> None:
        now = self._clock.monotonic()
        progress = self._progress
        if now - self._last_call >= QUIET:
            progress = phrases.still(self._language, progress, now - self._begun)
        frame = Frame(self._turn, self._language, self.text, progress, sources=self._sources)
        self._showing, self._shown, self._wanted = True, True, False
        try:
            await self._message.show(frame)
            if self._posted is not None:
                posted, self._posted = self._posted, None
                await posted(self._message.handle)
        except RateLimited as error:
            self._slow_down *= 2
            self._not_before = self._clock.monotonic() + error.retry_after
            log.info("frame skipped: %s", error.code)
            self._wanted = True
        except PlumblineError as error:
            log.info("frame skipped: %s", error.code)
        except Exception:  # a slip in a frame between must not cost the answer; the last one raises
            log.exception("frame skipped")
        finally:
            self._showing = False
            self._last_call = self._clock.monotonic()
        if self._wanted and not self._closing:
            self._slot = self._clock.later(self._until_slot(FLOOR), self._begin_show)

"""The paced stream on a clock turned by hand."""

import asyncio
from itertools import pairwise

import pytest

from agent.errors import PlatformRefused, PlumblineError, RateLimited, Unavailable
from agent.ports import Frame
from agent.stream import AnswerStream, Patience
from tests.fakes.clock import FakeClock


class Message:
    """An answer message that notes its calls and fails as it is told."""

    def __init__(self, clock: FakeClock, pace: float = 1.25) -> None:
        self.pace = pace
        self.handle = ""
        self.calls: list[tuple[float, Frame]] = []
        self.failures: dict[int, PlumblineError] = {}
        self.delivered: list[Frame] = []
        self.slow = 0.0
        self._clock = clock

    async def _call(self, frame: Frame) -> None:
        self.calls.append((self._clock.monotonic(), frame))
        if error := self.failures.get(len(self.calls)):
            raise error
        if self.slow:
            await self._clock.sleep(self.slow)

    async def show(self, frame: Frame) -> None:
        await self._call(frame)

    async def finish(self, frame: Frame) -> None:
        await self._call(frame)
        self.delivered.append(frame)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def pass_time(clock: FakeClock, seconds: float, step: float = 0.05) -> None:
    for _ in range(round(seconds / step)):
        clock.advance(step)
        await settle()


async def finish(
    stream: AnswerStream, clock: FakeClock, text: str | None = None, notice: str = ""
) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stream.finish(text, notice=notice))
        while not task.done():
            await settle()
            clock.advance(0.05)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=False)


async def test_500_pieces_with_a_429_in_between(clock: FakeClock) -> None:  # C-SL-07
    message = Message(clock)
    message.failures[7] = RateLimited("slow down", 10.0)
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        for n in range(500):
            stream.delta(f"w{n} ")
            await pass_time(clock, 0.04, 0.04)
        await finish(stream, clock)
    times = [at for at, _ in message.calls]
    assert len(times) > 8
    assert times[7] - times[6] >= 10.0
    assert all(sum(t <= x < t + 60 for x in times) <= 50 for t in times)
    assert [f.text for f in message.delivered] == ["".join(f"w{n} " for n in range(500))]
    assert message.calls[-1][1].done


async def test_changes_between_two_shows_are_one_frame(clock: FakeClock) -> None:
    message = Message(clock, pace=1.0)
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        stream.progress("Searching…")
        await settle()
        for word in ("a ", "b ", "c "):
            stream.delta(word)
            await settle()
        await pass_time(clock, 1.0)
    assert [(f.text, f.progress) for _, f in message.calls] == [("", "Searching…"), ("a b c ", "")]


async def test_one_show_in_flight(clock: FakeClock) -> None:
    message = Message(clock, pace=0.1)
    message.slow = 2.0
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        for _ in range(10):
            stream.delta("x")
            await pass_time(clock, 0.2)
        await finish(stream, clock)
    times = [at for at, _ in message.calls]
    assert all(b - a >= 2.0 for a, b in pairwise(times))


async def test_quiet_times_show_that_work_goes_on(clock: FakeClock) -> None:
    message = Message(clock)
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        stream.progress("Searching the wiki…")
        await pass_time(clock, 35, 0.5)
    times = [at for at, _ in message.calls]
    assert len(times) >= 4
    assert all(b - a <= 10.5 for a, b in pairwise(times))
    last = message.calls[-1][1].progress
    assert last.startswith("Searching the wiki…")
    assert "still working" in last


async def test_failed_frames_are_skipped(clock: FakeClock) -> None:
    message = Message(clock)
    message.failures[1] = Unavailable("gone")
    message.failures[2] = PlatformRefused("no")
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        for _ in range(3):
            stream.delta("x")
            await pass_time(clock, 2)
        await finish(stream, clock)
    assert [f.text for f in message.delivered] == ["xxx"]


async def test_last_frame_is_tried_until_it_is_taken(clock: FakeClock) -> None:
    message = Message(clock)
    message.failures = {1: Unavailable("gone"), 2: RateLimited("wait", 7.0), 3: Unavailable("gone")}
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        await finish(stream, clock, text="whole", notice="offline")
    assert [(f.text, f.notice, f.done) for f in message.delivered] == [("whole", "offline", True)]
    assert message.calls[2][0] - message.calls[1][0] >= 7.0


async def test_last_frame_gives_up_after_its_limit(clock: FakeClock) -> None:
    message = Message(clock)
    message.failures = {n: Unavailable("gone") for n in range(1, 200)}
    patience = Patience(limit=30)
    async with AnswerStream(message, clock, turn="t", language="en", patience=patience) as stream:
        with pytest.raises(ExceptionGroup) as caught:
            await finish(stream, clock)
    assert caught.group_contains(Unavailable)
    assert 5 < len(message.calls) < 20


async def test_nothing_runs_on_after_an_error_of_the_body(clock: FakeClock) -> None:
    message = Message(clock)
    before = asyncio.all_tasks()

    async def turn() -> None:
        async with AnswerStream(message, clock, turn="t", language="en") as stream:
            stream.delta("x")
            await settle()
            raise KeyError("body")

    with pytest.raises(KeyError):
        await turn()
    assert asyncio.all_tasks() == before


async def test_finish_twice_is_a_fault(clock: FakeClock) -> None:
    message = Message(clock, pace=0)
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        await stream.finish("a")
        with pytest.raises(RuntimeError):
            await stream.finish("a")
    assert len(message.delivered) == 1


async def test_replace_drops_provisional_words(clock: FakeClock) -> None:
    message = Message(clock, pace=0)
    async with AnswerStream(message, clock, turn="t", language="en") as stream:
        stream.delta("let me look")
        stream.replace("")
        stream.delta("answer")
        assert stream.text == "answer"
        await stream.finish()
    assert message.delivered[0].text == "answer"

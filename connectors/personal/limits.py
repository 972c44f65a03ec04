"""What a personal tool may spend, and how its faults are told to the model."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Final, TypeVar

from agent.errors import PlumblineError, RateLimited, Retryable, ToolFailed
from agent.ports import Clock
from connectors.access import ScopeMissing, SearchBudget, SignInNeeded

_T = TypeVar("_T")

SPENT: Final = (
    "No further search of this kind is left for this question. Go on with what was found; the "
    "person may ask again later."
)


def spent(budget: SearchBudget, topic: str) -> bool:
    """Count a search of `topic`; True when none was left and this topic was searched before.

    Raises:
        ToolFailed: none was left and this topic was not searched at all.
    """
    try:
        budget.take(topic)
    except RateLimited as none_left:
        if budget.taken.get(topic):
            return True
        raise ToolFailed(SPENT) from none_left
    return False


@contextmanager
def told(what: str) -> Generator[None, None, None]:
    """Tell passing faults in words that the model can act on.

    Args:
        what: What could not be done, such as "The chats could not be searched".

    Raises:
        ToolFailed: instead of RateLimited and every other Retryable. It always has a cause, by
            which the core knows that the source was not searched.
    """
    try:
        yield
    except RateLimited as error:
        wait = f"in about {max(error.retry_after, 1.0):.0f} seconds"
        advice = f"go on with what there is; the person may ask again {wait}"
        raise ToolFailed(f"{what}: too many requests just now; {advice}.") from error
    except Retryable as error:
        advice = "go on with what there is; the person may ask again later"
        raise ToolFailed(f"{what}: the platform does not answer; {advice}.") from error
    except ToolFailed as error:
        if error.__cause__ is not None:
            raise
        raise ToolFailed(f"{what}: {error}") from error


async def all_of(calls: Sequence[Awaitable[_T]]) -> list[_T | PlumblineError]:
    """Run calls at once; what each gave or raised, in their order. Foreign faults are raised."""

    async def caught(call: Awaitable[_T]) -> _T | PlumblineError:
        try:
            return await call
        except PlumblineError as error:
            return error

    if len(calls) == 1:
        return [await caught(calls[0])]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(caught(call)) for call in calls]
    return [task.result() for task in tasks]


def given(results: Sequence[_T | PlumblineError]) -> list[_T]:
    """What the calls gave.

    Raises:
        SignInNeeded, ScopeMissing: one of the calls did: the person has to act.
        PlumblineError: the first fault, when no call gave anything.
    """
    faults = [r for r in results if isinstance(r, PlumblineError)]
    for_person = [f for f in faults if isinstance(f, SignInNeeded | ScopeMissing)]
    if for_person or (faults and len(faults) == len(results)):
        raise (for_person or faults)[0]
    return [r for r in results if not isinstance(r, PlumblineError)]


def in_turn(lists: Iterable[Sequence[_T]]) -> list[_T]:
    """The firsts of all lists, then the seconds, and so on; each value once."""
    rows = zip_longest(*lists)
    return list(dict.fromkeys(v for row in rows for v in row if v is not None))


class Pace:
    """Lets no more than `most` calls start in any `seconds`; the others wait for their turn."""

    def __init__(self, clock: Clock, most: int, seconds: float = 1.0) -> None:
        self._clock = clock
        self._most = most
        self._seconds = seconds
        self._starts: deque[float] = deque()

    async def turn(self) -> None:
        """Wait until a call may start, and count it."""
        now = self._clock.monotonic()
        start = now if len(self._starts) < self._most else self._starts[0] + self._seconds
        if len(self._starts) >= self._most:
            self._starts.popleft()
        start = max(start, now)
        self._starts.append(start)
        if start > now:
            await self._clock.sleep(start - now)

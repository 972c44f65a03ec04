"""The ground both platforms stand on: clock, company, files, records, live feed, delivery."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from simulator.company import Company, Person
from simulator.faults.board import Board
from simulator.state.clock import SimClock
from simulator.state.feed import Feed
from simulator.state.files import FileStore
from simulator.state.records import Call, Records


@dataclass(slots=True)
class World:
    """Shared state; origin is the simulator's own address, bot the bot's."""

    company: Company
    origin: str
    bot: str
    clock: SimClock = field(default_factory=SimClock)
    feed: Feed = field(default_factory=Feed)
    files: FileStore = field(default_factory=FileStore)
    records: Records = field(default_factory=Records)
    faults: Board = field(default_factory=Board)
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in the background until it ends or the simulator stops or is reset."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Cancel all background work and wait until it is gone."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks) if tasks else None

    def known(self, login: str) -> Person:
        """Return a person of the company.

        Raises:
            LookupError: nobody has this login.
        """
        person = self.company.person(login)
        if person is None:
            raise LookupError(f"nobody here is called {login!r}")
        return person

    def record(
        self,
        platform: str,
        method: str,
        path: str,
        body: object,
        answer: tuple[int, int | str],
        person: str,
    ) -> None:
        """Note one API call; answer is (HTTP status, code)."""
        calls = self.records.calls
        number = calls[-1].n + 1 if calls else 1
        status, code = answer
        calls.append(
            Call(number, self.clock.now(), platform, method, path, body, status, code, person)
        )

"""What the tools of one asker on Slack share within a turn; it ends with the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent.errors import RateLimited, Retryable, ToolFailed
from agent.ports import Clock
from connectors.access import Access, ScopeMissing, SearchBudget
from connectors.personal.evidence import likeness
from connectors.personal.keywords import told_terms
from connectors.personal.limits import SPENT
from connectors.slack.personal.client import Connect, UserCalls, http_of, of_person
from connectors.slack.personal.search import File, Public, Wish, files_of, form_of

LEFT = "No further search was left; what this turn's searches had found was looked through."


@dataclass(slots=True)
class Kit:
    """The asker's access, where the API is, what may be spent and what was found in this turn.

    Search results live here and nowhere else: Slack's may not be kept (SLACK.md §5), and every
    passage says so.
    """

    access: Access
    base_url: str
    clock: Clock
    budget: SearchBudget
    public: Public
    connect: Connect
    shelf: dict[str, File] = field(default_factory=dict[str, File])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    _searched: dict[Wish, tuple[File, ...]] = field(default_factory=dict[Wish, tuple[File, ...]])
    _semantic: bool | None = None
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def asker(self) -> str:
        """The asker's user id."""
        return self.access.asker.user

    def own(self) -> frozenset[str]:
        """The readers of what the asker alone is known to see."""
        return frozenset((f"person:slack:{self.asker}",))

    @asynccontextmanager
    async def calls(self, seconds: float) -> AsyncGenerator[UserCalls, None]:
        """Calls as the asker for one tool call of so many seconds.

        Raises:
            SignInNeeded: the asker has not connected Slack; nothing is sent.
        """
        of_person(await self.access.token())
        async with http_of(self.connect, self.clock) as http:
            yield UserCalls(self.access, http, self.clock.monotonic() + seconds)

    async def semantic(self, calls: UserCalls) -> bool:
        """Whether the workspace's search takes a question as it is; asked once a turn."""
        if self._semantic is None:
            self._semantic = False
            try:
                told = await calls.call("assistant.search.info", {}, tries=1)
            except (Retryable, ToolFailed, ScopeMissing):
                return False
            self._semantic = told.get("is_ai_search_enabled") is True
        return self._semantic

    async def files(self, calls: UserCalls, wish: Wish, topic: str) -> tuple[tuple[File, ...], str]:
        """The files of a search, and a note on it.

        Documents and minutes are both files: the same search is made once for the two. With no
        search left, what was found before in this turn is ranked anew.

        Raises:
            ToolFailed: no search is left, and none was made.
        """
        async with self._one:
            if wish in self._searched:
                return self._searched[wish], ""
            try:
                self.budget.take(topic)
            except RateLimited as none_left:
                if not self._searched:
                    raise ToolFailed(SPENT) from none_left
                return self._again(wish.query), LEFT
            form = form_of(wish, semantic=await self.semantic(calls))
            found = files_of(await calls.call("assistant.search.context", form))
            self._searched[wish] = found
            self.shelf.update({file.source: file for file in found})
            return found, ""

    def _again(self, query: str) -> tuple[File, ...]:
        """The files found in this turn that have one of the words."""
        asked = told_terms([query])
        none = likeness(asked, "")
        rated = [(likeness(asked, f"{f.title}\n{f.excerpt}"), f) for f in self.shelf.values()]
        return tuple(f for rate, f in sorted(rated, key=lambda r: -r[0]) if rate > none)

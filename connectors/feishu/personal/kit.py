"""What the tools of one asker on Feishu share within a turn."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from agent.ports import Clock
from connectors.access import Access, SearchBudget
from connectors.feishu.personal.client import Connect, UserCalls, user_calls
from connectors.personal.limits import Pace

TEXTS_A_SECOND = 4
"""Texts of documents a second: the platform allows an app 5 (FEISHU.md §6)."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The asker's access, where the API is, and what may be spent."""

    access: Access
    base_url: str
    clock: Clock
    budget: SearchBudget
    connect: Connect
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pace", Pace(self.clock, TEXTS_A_SECOND))

    @property
    def asker(self) -> str:
        """The asker's open_id."""
        return self.access.asker.user

    def own(self) -> frozenset[str]:
        """The readers of what the asker alone is known to see."""
        return frozenset((f"person:feishu:{self.asker}",))

    def calls(self, seconds: float) -> AbstractAsyncContextManager[UserCalls]:
        """Calls as the asker for one tool call of so many seconds."""
        return user_calls(self.access, self.connect, self.clock, seconds)

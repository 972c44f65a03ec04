"""A person's own access to a platform: what a connector asks for before each call.

The asker is bound in when it is made. A connector without such access refuses; it never calls as
the app (ARCHITECTURE.md, decision 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agent.domain import Identity
from agent.errors import ForModel, RateLimited


class SignInNeeded(ForModel):
    """The asker has not connected this platform, or the connection ended; the turn offers it."""

    code = "PL-210"


class ScopeMissing(ForModel):
    """The asker's connection does not cover this; `scopes` are the ones to ask for."""

    code = "PL-211"

    def __init__(self, message: str, scopes: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.scopes = scopes


class Access(Protocol):
    """The asker's own tokens on one platform, refreshed as needed."""

    @property
    def asker(self) -> Identity:
        """Whose access it is."""
        ...

    async def token(self) -> str:
        """A token that should hold for the next minute.

        Raises:
            SignInNeeded: there is none, or its renewal was refused.
            Unavailable: the store or the platform gave no answer.
        """
        ...

    async def renewed(self, refused: str) -> str:
        """Another token after the platform refused this one as invalid or expired.

        Raises:
            SignInNeeded: it can not be renewed.
            Unavailable: the store or the platform gave no answer.
        """
        ...

    async def scopes(self) -> frozenset[str]:
        """The scopes the person has granted; empty without a connection."""
        ...


@dataclass(slots=True)
class SearchBudget:
    """How many searches a turn may still make; all tools of a turn share one.

    SLACK.md and FEISHU.md give the rates behind it: at most 2 Slack and 3 Feishu searches a turn.
    """

    left: int
    taken: Mapping[str, int] = field(default_factory=dict[str, int])

    def take(self, topic: str) -> None:
        """Count one search of `topic`.

        Raises:
            RateLimited: none is left; the model goes on with what it has.
        """
        if self.left <= 0:
            raise RateLimited(f"no search of {topic} is left in this turn", 0.0)
        self.left -= 1
        self.taken = {**self.taken, topic: self.taken.get(topic, 0) + 1}

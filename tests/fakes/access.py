"""A person's access with a fixed token, and with further ones for tests that expire it."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.domain import Identity
from connectors.access import SignInNeeded


@dataclass(slots=True)
class FixedAccess:
    """Gives its token until it is renewed; then the next of `spares`, and none is sign-in needed.

    `current` "" stands for a person who has not connected the platform. `refused` keeps the tokens
    that were handed back as refused, in order, `asked` counts the tokens that were asked for.
    """

    asker: Identity
    current: str
    granted: frozenset[str] = frozenset()
    spares: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    asked: int = 0

    async def token(self) -> str:
        """The current token."""
        self.asked += 1
        if not self.current:
            raise SignInNeeded("not connected")
        return self.current

    async def renewed(self, refused: str) -> str:
        """The next of the spare tokens; the current one if it is newer than the refused one."""
        self.refused.append(refused)
        if self.current != refused:
            return await self.token()
        self.current = self.spares.pop(0) if self.spares else ""
        return await self.token()

    async def scopes(self) -> frozenset[str]:
        """The granted scopes; empty without a connection."""
        return self.granted if self.current else frozenset()

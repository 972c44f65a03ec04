"""The vault: people's own tokens, sealed, with one refresh at a time whoever asks (ADR 0018).

A refresh token works once on Feishu and soon ends after its use on Slack, so a refresh happens
under a lease on the token's item, and the new pair is stored before anybody uses it. What became of
a refresh that had no answer is not known: it is tried a second time, and the platform's own refusal
ends the connection. The person is then asked to sign in again, once, and nothing is repeated.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass, replace
from typing import Final, Protocol

from agent.domain import Identity
from agent.errors import ConditionFailed, Misconfigured, Retryable, Unavailable
from agent.ports import (
    Absent,
    AnyOf,
    Change,
    Cipher,
    Clock,
    Compare,
    Ids,
    Table,
)
from connectors import holdings
from connectors.access import SignInNeeded
from connectors.holdings import Grant, Held

log = logging.getLogger(__name__)

LEASE: Final = 40.0
"""Seconds that a refresh may take: two calls of 15 s and the store."""
MARGIN: Final = 5.0
"""Seconds that another worker adds to a lease before it takes over (clocks differ)."""
PATIENCE: Final = 20.0
"""Seconds that a call waits for somebody else's refresh."""
POLL: Final = 0.1
"""Seconds between two looks at somebody else's refresh."""
USABLE: Final = 60.0
"""Seconds that a token which is handed out should still hold (connectors/access.py)."""
EARLY: Final = 600.0
"""Seconds before its end from which a token is renewed, at most a quarter of its life."""
STORE_TRIES: Final = 3


class Issuer(Protocol):
    """The platform's side of a token."""

    async def refresh(self, grant: Grant) -> Grant:
        """A new pair for the refresh token.

        Raises:
            SignInNeeded: the refresh token does not count any more.
            Misconfigured: our own id or secret is refused.
            Retryable: no answer, or a passing fault.
        """
        ...

    async def revoke(self, grant: Grant) -> None:
        """End the tokens at the platform.

        Raises:
            Retryable: no answer, or a passing fault.
        """
        ...


@dataclass(frozen=True, slots=True)
class Vault:
    """All tokens of people; each is opened under its owner's context only."""

    table: Table
    cipher: Cipher
    clock: Clock
    ids: Ids

    async def keep(self, owner: Identity, grant: Grant, asked: frozenset[str]) -> None:
        """Store what a person has just granted, in place of what was there.

        Args:
            owner: The person, proven by the platform.
            grant: The tokens.
            asked: The scopes that were asked for; fewer may have been granted.
        """
        held = Held(owner, self.ids.new(), grant)
        token = await holdings.token_item(self.cipher, held, self.clock.now(), _renew_at)
        await self.table.transact(holdings.connection(token, owner, grant, asked, self.clock.now()))

    async def held(self, owner: Identity) -> Held | None:
        """What is stored of a person; None without a connection.

        Raises:
            SignInNeeded: it can not be opened (the key changed); a new sign-in mends it.
        """
        item = await self.table.get(holdings.key_of(owner))
        if item is None:
            return None
        try:
            return await holdings.opened(self.cipher, owner, item)
        except Misconfigured as fault:
            log.error("a stored token can not be opened: %s", fault)  # noqa: TRY400 - the sentence says it all
            raise SignInNeeded("the stored connection can not be opened") from fault

    async def scopes(self, owner: Identity) -> frozenset[str]:
        """The scopes a person has granted; empty without a connection."""
        item = await self.table.get(holdings.key_of(owner))
        return frozenset() if item is None else holdings.scopes_of(item)

    async def forget(self, owner: Identity) -> Grant | None:
        """Delete the tokens and the consent; what was there, to be revoked at the platform."""
        try:
            held = await self.held(owner)
        except SignInNeeded:
            held = None
        await holdings.forget(self.table, owner)
        return held and held.grant

    async def usable(self, owner: Identity, issuer: Issuer, refused: str = "") -> Grant:
        """A grant whose access token is not `refused` and should hold for the next minute.

        Raises:
            SignInNeeded: there is none, or its refresh was refused.
            Unavailable: store or platform gave no answer, or somebody else's refresh takes long.
            RateLimited: the platform asked for a pause.
            Misconfigured: our own id or secret is refused.
        """
        give_up = self.clock.monotonic() + PATIENCE
        while True:
            held = await self.held(owner)
            if held is None:
                raise SignInNeeded("the person has not connected this platform")
            now = self.clock.now()
            good = held.grant.access != refused and held.grant.holds_at(now + USABLE)
            if good and now < held.renew_at:
                return held.grant
            if not held.grant.renewable_at(now):
                return await self._without_refresh(held, good=good)
            leased = await self._lease(held, now)
            if leased:
                return await self._sheltered(held, leased, issuer, good=good)
            if good:
                return held.grant
            if self.clock.monotonic() >= give_up:
                raise Unavailable("the token is being renewed elsewhere and that takes long")
            await self.clock.sleep(POLL)

    async def _without_refresh(self, held: Held, *, good: bool) -> Grant:
        """The token as it is; one that is used up and can not be renewed is dropped."""
        if good:
            return held.grant
        await holdings.drop(self.table, held)
        raise SignInNeeded("the connection has ended")

    async def _lease(self, held: Held, now: float) -> str:
        """Our mark on the item while we refresh; "" when somebody else has theirs."""
        mark = self.ids.new()
        free = AnyOf((Absent("lease"), Compare("lease_until", "<", now - MARGIN)))
        change = Change(set={"lease": mark, "lease_until": now + LEASE})
        key = holdings.key_of(held.owner)
        try:
            await self.table.update_if(key, change, (Compare("ver", "=", held.version), free))
        except (ConditionFailed, Unavailable):
            # A write whose answer was lost may have been made.
            item = await self.table.get(key)
            return mark if item is not None and item.get("lease") == mark else ""
        return mark

    async def _sheltered(self, held: Held, mark: str, issuer: Issuer, *, good: bool) -> Grant:
        """Refresh to the end even when the caller's time runs out: a pair that was given counts."""
        task = asyncio.create_task(self._refreshed(held, mark, issuer, good=good))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait((task,))
            if not task.cancelled() and (fault := task.exception()):
                log.warning("a refresh that nobody waits for failed: %s", type(fault).__name__)
            raise

    async def _refreshed(self, held: Held, mark: str, issuer: Issuer, *, good: bool) -> Grant:
        try:
            grant = await _asked_twice(issuer, held.grant)
        except SignInNeeded:
            await holdings.drop(self.table, held)
            return await self._newer(held)
        except Retryable as fault:
            await self._give_back(held, mark)
            if good:
                log.warning("a token was not renewed early: %s", fault)
                return held.grant
            raise
        except Misconfigured:
            await self._give_back(held, mark)
            raise
        return await self._stored(held, grant, issuer)

    async def _newer(self, held: Held) -> Grant:
        """What a sign-in has stored while our refresh was refused.

        Raises:
            SignInNeeded: nothing.
        """
        there = await self.held(held.owner)
        if there is None or there.version == held.version:
            raise SignInNeeded("the platform has ended the connection")
        return there.grant

    async def _give_back(self, held: Held, mark: str) -> None:
        change = Change(remove=("lease", "lease_until"))
        try:
            await self.table.update_if(
                holdings.key_of(held.owner), change, (Compare("lease", "=", mark),)
            )
        except (ConditionFailed, Unavailable) as fault:
            log.warning("the lease of a token runs out by itself: %s", fault)

    async def _stored(self, held: Held, grant: Grant, issuer: Issuer) -> Grant:
        """Store the new pair in place of the old one, whoever has the lease by now."""
        if not grant.scopes:
            grant = replace(grant, scopes=held.grant.scopes)
        fresh = Held(held.owner, self.ids.new(), grant)
        item = await holdings.token_item(self.cipher, fresh, self.clock.now(), _renew_at)
        for last in (False,) * (STORE_TRIES - 1) + (True,):
            try:
                await self.table.put_if(item, (Compare("ver", "=", held.version),))
            except (ConditionFailed, Unavailable) as fault:
                there = await self._after(fault, held, last=last)
                if there is not None and there.version == held.version:
                    continue
                return await self._instead(there, fresh, issuer)
            return grant
        raise Unavailable("the renewed token could not be stored")

    async def _after(self, fault: Exception, held: Held, *, last: bool) -> Held | None:
        """What stands there after a write that failed or had no answer."""
        try:
            return await self.held(held.owner)
        except Unavailable:
            if last:
                raise Unavailable("the renewed token could not be stored") from fault
            await self.clock.sleep(POLL)
            return held

    async def _instead(self, there: Held | None, fresh: Held, issuer: Issuer) -> Grant:
        """What counts when the stored version is not the one that was renewed."""
        if there is not None:
            return there.grant  # ours, stored although the answer was lost, or a new sign-in's
        try:
            await issuer.revoke(fresh.grant)
        except Retryable as fault:
            log.warning("a token of somebody who signed out was not revoked: %s", fault)
        raise SignInNeeded("the person signed out meanwhile")


@dataclass(frozen=True, slots=True)
class PersonalAccess:
    """One person's access to one platform (connectors/access.py)."""

    asker: Identity
    vault: Vault
    issuer: Issuer

    async def token(self) -> str:
        """A token that should hold for the next minute."""
        return (await self.vault.usable(self.asker, self.issuer)).access

    async def renewed(self, refused: str) -> str:
        """Another token in place of a refused one."""
        return (await self.vault.usable(self.asker, self.issuer, refused)).access

    async def scopes(self) -> frozenset[str]:
        """The scopes the person has granted."""
        return await self.vault.scopes(self.asker)


async def _asked_twice(issuer: Issuer, grant: Grant) -> Grant:
    """A refresh, tried once more when it had no answer (a pause that was asked for is obeyed)."""
    try:
        return await issuer.refresh(grant)
    except Unavailable as fault:
        log.warning("a refresh had no answer and is tried once more: %s", fault)
        return await issuer.refresh(grant)


def _renew_at(version: str, grant: Grant, now: float) -> float:
    """When to renew: before the end, and not everybody's tokens at the same moment.

    The jitter follows from the version, which is random, so that all workers agree on it.
    """
    if not grant.ends:
        return float("inf")
    early = min(EARLY, (grant.ends - now) / 4)
    share = int.from_bytes(hashlib.sha256(version.encode()).digest()[:4]) / 2**32
    return grant.ends - early * (1 + share) / 2

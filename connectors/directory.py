"""Who people are to the organisation: configuration and platform together, looked up once a day.

A person's labels decide what is found for them, so nothing here is guessed: whoever is of another
tenant, or has left, carries no label at all; a guest carries their own name alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, Protocol, cast

from agent.domain import Identity, Platform
from agent.durable import keys, rights
from agent.durable.records import DAY, check_format, new_item, packed, text_of, time_of, unpacked
from agent.errors import PlumblineError, Retryable
from agent.ports import Clock, Item, Key, Page, Table
from agent.values import value

log = logging.getLogger(__name__)

LOOKED_UP_AGAIN = 1 * DAY
"""Seconds until the platform is asked again who somebody is (SECURITY.md: look up daily)."""
PARTLY_AGAIN = 600
"""The same when the platform gave only a part of its answer."""
ANSWER_LIMIT = 3.0
"""Seconds that a turn waits for a platform to say who somebody is."""

Kind = Literal["member", "guest", "stranger", "gone"]


@value
class Standing:
    """What a platform says of a person.

    `guest` is somebody who was let in to single chats, `stranger` belongs to another tenant, `gone`
    was deleted, suspended or has left. `groups` are the platform's own groups in the words of
    plumbline.toml: department:ID, user-group:ID, usergroup:ID. `whole` is False when the platform
    did not tell all of them.
    """

    kind: Kind
    name: str = ""
    groups: frozenset[str] = frozenset()
    whole: bool = True


class People(Protocol):
    """A platform's own directory."""

    @property
    def unknown(self) -> Standing:
        """What holds of an asker whom the platform does not say anything about.

        Feishu has no guests within a tenant, so a member; in Slack it might be a guest.
        """
        ...

    async def standing(self, person: Identity) -> Standing:
        """What the platform says; raises what its calls raise."""
        ...


class Rules(Protocol):
    """What the operator decided (handlers/configuration.py)."""

    def owns(self, person: Identity) -> bool:
        """Whether a person comes from one of the organisation's own tenants."""
        ...

    def groups_of(self, person: Identity, platform_groups: frozenset[str]) -> frozenset[str]:
        """The reader groups that name the person, or a platform group the person is in."""
        ...


def labels_of(person: Identity, standing: Standing, rules: Rules) -> frozenset[str]:
    """The reader labels of a person of whom this is known."""
    if not rules.owns(person) or standing.kind in ("stranger", "gone"):
        return frozenset()
    if standing.kind == "guest":
        return frozenset((f"person:{person.platform}:{person.user}",))
    return person.labels(rules.groups_of(person, standing.groups))


class OrganisationDirectory:
    """The directory of one organisation; what a platform said is kept for two days at most.

    The number of the last change of rights is part of each key, so that `drop` leaves nothing of
    what was known before in use.
    """

    def __init__(
        self,
        table: Table,
        clock: Clock,
        org: str,
        rules: Rules,
        people: Callable[[Platform], People],
    ) -> None:
        self._table = table
        self._clock = clock
        self._org = org
        self._rules = rules
        self._people = people

    async def labels(self, person: Identity) -> frozenset[str]:
        """The reader labels of a person; of one whom we do not own none, and no platform is asked.

        A platform that gives no answer leaves out its own groups, Slack also everyone and all
        groups; an answer of yesterday still counts.
        """
        if not self._rules.owns(person):
            return frozenset()
        return labels_of(person, await self._standing(person), self._rules)

    async def known(self) -> tuple[tuple[Identity, Standing], ...]:
        """Everybody whom a platform was asked about and whose answer still counts."""
        pk = keys.directory_person(self._org, await self._generation(), "-").pk
        found: list[tuple[Identity, Standing]] = []
        page = Page(())
        while True:
            page = await self._table.query(pk, "U#", after=page.after)
            found += [_read(item) for item in page.items if self._counts(item)]
            if page.after is None:
                return tuple(found)

    async def drop(self) -> None:
        """Look up everybody anew from here on."""
        await rights.changed(self._table, self._org)

    async def _standing(self, person: Identity) -> Standing:
        key = await self._key(person)
        item = await self._table.get(key)
        if item is not None and not self._counts(item):
            item = None
        if item is not None and time_of(item, "again_at") > self._clock.now():
            return _read(item)[1]
        try:
            people = self._people(person.platform)
            async with asyncio.timeout(ANSWER_LIMIT):
                standing = await people.standing(person)
        except (PlumblineError, TimeoutError) as fault:
            log.warning("%s does not say who an asker is: %s", person.platform, fault)
            if item is not None:
                return _read(item)[1]
            standing = self._unknown(person.platform)
            if isinstance(fault, Retryable | TimeoutError):
                return standing
        await self._keep(key, person, standing)
        return standing

    def _unknown(self, platform: Platform) -> Standing:
        try:
            return self._people(platform).unknown
        except PlumblineError:  # the platform is not set up any more
            return Standing("guest", whole=False)

    async def _key(self, person: Identity) -> Key:
        who = f"{person.platform}:{person.app}:{person.tenant}:{person.user}"
        return keys.directory_person(self._org, await self._generation(), who)

    async def _generation(self) -> str:
        return f"rights-{await rights.version(self._table, self._org)}"

    async def _keep(self, key: Key, person: Identity, standing: Standing) -> None:
        now = self._clock.now()
        item = new_item(key, "person", self._org, now, person.principal)
        item["again_at"] = now + (LOOKED_UP_AGAIN if standing.whole else PARTLY_AGAIN)
        item["person"] = packed([person.platform, person.app, person.tenant, person.user])
        item["standing"], item["name"] = standing.kind, standing.name
        item["groups"] = " ".join(sorted(standing.groups))
        await self._table.put(item)

    def _counts(self, item: Item) -> bool:
        return time_of(item, "exp") > self._clock.now()


def _read(item: Item) -> tuple[Identity, Standing]:
    check_format(item, "person")
    platform, app, tenant, user = cast(tuple[Platform, str, str, str], unpacked(item["person"]))
    name = text_of(item, "name")
    groups = frozenset(text_of(item, "groups").split())
    person = Identity(text_of(item, "org"), platform, app, tenant, user, name)
    return person, Standing(cast(Kind, text_of(item, "standing")), name, groups)

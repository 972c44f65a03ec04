"""What a question would look through for one person: sources, rights and counts, no model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent.domain import EVERYONE, Identity, Json, Platform
from agent.durable import preferences
from agent.errors import PlumblineError
from agent.ports import Table
from connectors.tools import kinds_without
from handlers import personal, wiring
from handlers.settings import Settings
from handlers.wiring import Workplace

if TYPE_CHECKING:
    from handlers.configuration import Configuration

State = Literal["runs", "switched off", "not connected", "scopes missing", "not offered"]


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """One source: whether it would run, and how many things there are before and after rights.

    `missing` are scopes that the person has not granted. The counts are None where only the
    platform knows them; `found` are the documents that this query finds for the person.
    """

    name: str
    state: State
    missing: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None
    found: int | None = None

    def as_json(self) -> dict[str, Json]:
        """The source for machines."""
        return {
            "source": self.name,
            "state": self.state,
            "scopes_missing": [*self.missing],
            "before_permission": self.before,
            "after_permission": self.after,
            "found": self.found,
        }


@dataclass(frozen=True, slots=True)
class DryRun:
    """The person's labels, each source, and titles of what the query finds for the person."""

    labels: tuple[str, ...]
    sources: tuple[SourceCheck, ...]
    titles: tuple[str, ...]


async def dry_run(
    settings: Settings, asker: Identity, query: str, *, known_member: bool = False
) -> DryRun:
    """Look a query up as a person would have it looked up; nothing is sent to a model.

    Args:
        settings: What the operator decided.
        asker: The person.
        query: The question.
        known_member: Whether the configuration alone says who the person is, as for the demo's.

    Raises:
        Misconfigured: settings or configuration can not be used.
        PlumblineError: the knowledge base can not be searched.
    """
    from handlers.configuration import load_configuration

    configuration = load_configuration(settings.config).with_tenants(
        settings.feishu_tenant, settings.slack_tenant
    )
    place = Workplace(settings)
    try:
        labels = asker.labels(configuration.groups_of(asker))
        if not known_member:
            labels = await _labels(place, configuration, asker)
        chosen = await preferences.load(place.table, asker.principal)
        base, titles = await _knowledge(settings, labels, query, off="kb" in chosen.off)
        member = EVERYONE in labels
        own = [s async for s in _own(settings, place, asker, chosen.off, member=member)]
    finally:
        await place.aclose()
        await _close(place.table)
    return DryRun(tuple(sorted(labels)), (base, *own), titles)


async def _close(table: Table) -> None:
    from agent.stores.sqlite_table import SqliteTable

    if isinstance(table, SqliteTable):
        await table.aclose()
        wiring.receiving.cache_clear()


async def _labels(
    place: Workplace, configuration: Configuration, asker: Identity
) -> frozenset[str]:
    """What the person carries; the configuration alone decides where no platform is set up."""
    from connectors.directory import OrganisationDirectory, People

    def people(platform: Platform) -> People:
        return place.people(platform, configuration.platform_groups(platform))

    directory = OrganisationDirectory(place.table, place.clock, place.org, configuration, people)
    return await directory.labels(asker)


async def _knowledge(
    settings: Settings, labels: frozenset[str], query: str, *, off: bool
) -> tuple[SourceCheck, tuple[str, ...]]:
    from rag.knowledge import build_tools

    async with wiring.knowledge(settings) as knowledge:
        before = 0
        for space in await knowledge.catalog.spaces():
            entries = await knowledge.catalog.entries(space)
            before += sum(entry.state == "indexed" for entry in entries)
        after = await knowledge.catalog.readable(labels)
        if off:
            return SourceCheck("kb", "switched off", (), before, after), ()
        search = build_tools(knowledge.index, knowledge.embedder, labels)[0]
        result = await search.call({"queries": [query]})
    titles = dict.fromkeys(passage.title for passage in result.passages)
    found = len({passage.source for passage in result.passages})
    return SourceCheck("kb", "runs", (), before, after, found), tuple(titles)


async def _own(
    settings: Settings, place: Workplace, asker: Identity, off: Iterable[str], *, member: bool
) -> AsyncGenerator[SourceCheck]:
    """The person's own sources; what stands in them is neither searched nor counted."""
    offered = personal.offered(settings, asker.platform) if member else ()
    scopes = place.connector(asker.platform).scopes()
    vault = personal.safe(place.table, place.cipher, place.clock, place.ids).vault
    try:
        granted = await vault.scopes(asker)
    except PlumblineError:
        granted = frozenset[str]()
    lacking = kinds_without(scopes, personal.KINDS, granted)
    for kind in personal.KINDS:
        missing = tuple(sorted(lacking.get(kind, ())))
        state: State = "runs"
        if kind not in offered:
            state = "not offered"
        elif kind in off:
            state = "switched off"
        elif not granted:
            state = "not connected"
        elif missing:
            state = "scopes missing"
        yield SourceCheck(kind, state, missing)

"""`plumbline kb space | who-can-see | drop-cache`: who reads what, and how that is changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated

import typer
from rich.console import Console

from agent.domain import EVERYONE, Identity, Json, Platform
from agent.errors import Misconfigured
from agent.stores.system_clock import SystemClock
from connectors.directory import OrganisationDirectory, People, labels_of
from handlers import wiring
from handlers.cli.terminal import run, show_json, show_rows, stop
from handlers.configuration import Configuration, load_configuration
from handlers.settings import Settings
from rag.catalog import Catalog, CatalogEntry, Space
from rag.documents import DocumentRefused
from rag.loaders.metadata import reader_labels

_UNSEEN = "named in the configuration"
_READER = "named as a reader"


@dataclass(frozen=True, slots=True)
class _Readers:
    """A document or space with its readers, and whom they stand for as far as it is known."""

    name: str
    labels: frozenset[str]
    people: Mapping[str, str]


def space(
    name: Annotated[str, typer.Argument(help="Name of the space.")],
    readers: Annotated[
        str, typer.Option(help="everyone, group:NAME, person:PLATFORM:ID; several with commas.")
    ] = "",
    from_folder: Annotated[
        bool, typer.Option("--from-folder", help="Let the folder's _space.yaml decide again.")
    ] = False,
) -> None:
    """Show who reads a space, or set it; what is set here wins over the folder's _space.yaml."""
    console = Console()
    if readers and from_folder:
        stop(console, "Use --readers or --from-folder, not both.", 2)
    wanted = _labels(console, readers) if readers else None
    shown, changed = run(console, _set(name, wanted, from_folder=from_folder))
    if shown is None:
        stop(
            console, f"There is no space {name}: plumbline kb space {name} --readers ... makes it."
        )
    set_by = "set by hand" if shown.by_hand else "set by the folder"
    console.print(f"{name}: {', '.join(sorted(shown.readers))} ({set_by})", markup=False)
    if wanted or from_folder:
        console.print(f"{len(changed)} documents have other readers now.")
    known = load_configuration(Settings.from_environment().config).groups
    for label in sorted(wanted or ()):
        if label.startswith("group:") and label.removeprefix("group:") not in known:
            console.print(f"Nobody is in {label}: no such group in plumbline.toml.", style="yellow")


def who_can_see(
    thing: Annotated[str, typer.Argument(help="A document's id or path, or a space.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the reader labels of a document or space, and the people who carry one.

    People are those whom the bot has met within two days, and those whom the configuration names.
    """
    console = Console()
    found = run(console, _who(thing))
    if not found:
        stop(console, f"There is no document or space {thing}: see plumbline kb list.")
    if as_json:
        plain: list[Json] = [
            {"name": f.name, "readers": [*sorted(f.labels)], "people": dict(f.people)}
            for f in found
        ]
        return show_json(plain)
    for one in found:
        console.print(f"{one.name}: {', '.join(sorted(one.labels))}", markup=False, soft_wrap=True)
        if EVERYONE in one.labels:
            console.print("Everybody of the organisation; guests are not. Of these are known:")
        show_rows(console, ("person", "name"), [*sorted(one.people.items())])
    return None


def drop_cache() -> None:
    """Look up anew who is in which group; use it when a right was taken away just now."""
    console = Console()
    run(console, _drop())
    console.print("From the next question on, the platforms are asked again who somebody is.")
    console.print("Slack's user groups may be a minute old then.")


def _labels(console: Console, readers: str) -> frozenset[str]:
    try:
        return reader_labels([label.strip() for label in readers.split(",")])
    except DocumentRefused as refusal:
        stop(console, refusal.next_step, 2)


async def _set(
    name: str, wanted: frozenset[str] | None, *, from_folder: bool
) -> tuple[Space | None, frozenset[str]]:
    async with wiring.knowledge(Settings.from_environment()) as knowledge:
        known = await knowledge.catalog.space(name)
        changed: frozenset[str] = frozenset()
        if wanted is not None:
            changed = await knowledge.ingestion.set_readers(Space(name, wanted, by_hand=True))
        elif from_folder and known is not None:
            await knowledge.ingestion.set_readers(replace(known, by_hand=False))
        return await knowledge.catalog.space(name), changed


async def _who(thing: str) -> list[_Readers]:
    async with _rights() as (catalog, configuration, directory):
        named = await _named(catalog, thing)
        met = {
            f"{who.platform}:{who.user}": (labels_of(who, standing, configuration), who.name)
            for who, standing in await directory.known()
        }
    for member, person in _configured(configuration).items():
        own = person.labels(configuration.groups_of(person))
        met.setdefault(member, (own, _UNSEEN))
    for label in (one for _, labels in named for one in labels if one.startswith("person:")):
        met.setdefault(label.removeprefix("person:"), (frozenset((label,)), _READER))
    return [
        _Readers(name, labels, {m: who for m, (own, who) in met.items() if own & labels})
        for name, labels in named
    ]


async def _named(catalog: Catalog, thing: str) -> list[tuple[str, frozenset[str]]]:
    space_ = await catalog.space(thing)
    if space_ is not None:
        return [(f"space {thing}", space_.readers)]
    found: list[CatalogEntry] = []
    for name in await catalog.spaces():
        entries = await catalog.entries(name)
        found += [e for e in entries if thing in (e.source, e.external, f"{name}/{e.external}")]
    return [(f"{e.space}/{e.external}", e.readers) for e in found if e.state == "indexed"]


def _configured(configuration: Configuration) -> dict[str, Identity]:
    """The people whom the configuration names, as members of an own tenant."""
    members = {m for group in configuration.groups.values() for m in group if m.count(":") == 1}
    people: dict[str, Identity] = {}
    for member in sorted({*members, *configuration.admins}):
        platform, _, user = member.partition(":")
        own: Platform = "feishu" if platform == "feishu" else "slack"
        tenants = [t for t in configuration.tenants if t.startswith(f"{own}:")]
        tenant = tenants[0].partition(":")[2] if tenants else "own"
        people[member] = Identity("", own, "", tenant, user)
    return people


async def _drop() -> None:
    async with _rights() as (_, _, directory):
        await directory.drop()


@asynccontextmanager
async def _rights() -> AsyncGenerator[tuple[Catalog, Configuration, OrganisationDirectory]]:
    settings = Settings.from_environment()
    configuration = load_configuration(settings.config).with_tenants(
        settings.feishu_tenant, settings.slack_tenant
    )
    async with wiring.state_table(settings) as table:
        clock = SystemClock()
        directory = OrganisationDirectory(table, clock, settings.org, configuration, _nobody)
        async with wiring.knowledge(settings) as knowledge:
            yield knowledge.catalog, configuration, directory


def _nobody(platform: Platform) -> People:
    raise Misconfigured(f"The command line does not ask {platform} who somebody is.")

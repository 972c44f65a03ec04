"""`plumbline forget`: erase a person, and say what was removed."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Annotated

import typer
from rich.console import Console

from agent.domain import Identity, Platform
from agent.errors import PlumblineError
from agent.ports import Table
from agent.stores.folder_blobs import FolderBlobs
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.system_clock import RandomIds, SystemClock
from handlers import personal, wiring
from handlers.cli.terminal import run, show_json, show_rows
from handlers.cli.workspace import PlatformName
from handlers.erasure import Erasure
from handlers.settings import Settings

log = logging.getLogger(__name__)


def forget(
    user: Annotated[
        str, typer.Argument(help="The person's id on the platform (ou_..., U...), or principal.")
    ],
    platform: Annotated[
        PlatformName | None, typer.Option(help="Only what is known from this platform.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Erase all that is kept of a person: questions, answers, tokens, choices, opinions, blobs.

    It may be done again, also after it broke off. Messages in the chats themselves stay: they
    belong to the platform.
    """
    console = Console()
    if not yes and not typer.confirm(f"Erase everything that is kept of {user}, for ever?"):
        raise typer.Exit(1)
    removed = run(console, _forget(user, platform))
    if as_json:
        show_json({who: dict(counts) for who, counts in removed.items()})
        return
    if not any(removed.values()):
        console.print(f"Nothing is kept of {user}.", markup=False)
    for who, counts in removed.items():
        console.print(who, markup=False, soft_wrap=True)
        rows = [(kind, str(count)) for kind, count in sorted(counts.items())]
        show_rows(console, ("removed", "count"), rows)


async def _forget(user: str, platform: Platform | None) -> dict[str, Counter[str]]:
    settings = Settings.from_environment()
    blobs = FolderBlobs(wiring.blob_folder(settings))
    async with wiring.state_table(settings) as table:
        erasure = Erasure(table, blobs, SystemClock())
        removed: dict[str, Counter[str]] = {}
        for who in await table.owners():
            if user not in (who, who.rsplit("/", 1)[-1]):
                continue
            if platform in (None, who.split("/")[1]):
                removed[who] = await _revoked(settings, table, who) + await erasure.forget(who)
        await table.compact()
    return removed


async def _revoked(settings: Settings, table: Table, principal: str) -> Counter[str]:
    """Delete a person's tokens and take them back at the platform, if it can be reached."""
    org, named, app, tenant, user = principal.split("/", 4)
    platform: Platform = "feishu" if named == "feishu" else "slack"
    clock = SystemClock()
    cipher = LocalKeyCipher(wiring.state_folder(settings) / "key")
    vault = personal.safe(table, cipher, clock, RandomIds()).vault
    grant = await vault.forget(Identity(org, platform, app, tenant, user))
    if grant is None:
        return Counter()
    authority = personal.authority(settings, platform, clock)
    try:
        await authority.revoke(grant)
    except PlumblineError as fault:
        log.warning("the tokens are deleted here, %s did not take them back: %s", platform, fault)
        return Counter({"tokens deleted": 1})
    finally:
        await authority.close()
    return Counter({"tokens revoked": 1})

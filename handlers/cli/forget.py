"""`plumbline forget`: erase a person, and say what was removed."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer
from rich.console import Console

from agent.domain import Platform
from agent.stores.folder_blobs import FolderBlobs
from agent.stores.system_clock import SystemClock
from handlers import wiring
from handlers.cli.terminal import run, show_json, show_rows
from handlers.cli.workspace import PlatformName
from handlers.erasure import Erasure
from handlers.settings import Settings


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
        people = [
            who
            for who in await table.owners()
            if user in (who, who.rsplit("/", 1)[-1]) and platform in (None, who.split("/")[1])
        ]
        removed = {who: await erasure.forget(who) for who in people}
        await table.compact()
    return removed

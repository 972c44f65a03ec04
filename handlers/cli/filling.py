"""Brings the sample company's documents into the knowledge base, with a progress bar."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from agent.errors import Misconfigured
from handlers import wiring
from handlers.settings import Settings
from rag.knowledge import Knowledge
from rag.loaders.metadata import SPACE_FILE


def fill(settings: Settings, folder: Path) -> None:
    """Index what is new or changed in a folder of spaces; a second run has nothing to do.

    Raises:
        Misconfigured: the folder is not there; the sample company comes with the repository.
    """
    spaces = _spaces(folder)
    if not spaces:
        raise Misconfigured("The sample company is missing: run this from the repository's folder.")
    asyncio.run(_fill(settings, spaces, only_when_alone=False))


def fill_when_alone(settings: Settings, folder: Path) -> None:
    """The same, unless the knowledge base holds spaces of somebody else."""
    asyncio.run(_fill(settings, _spaces(folder), only_when_alone=True))


def _spaces(folder: Path) -> list[Path]:
    return sorted(file.parent for file in folder.glob(f"*/{SPACE_FILE}"))


async def _fill(settings: Settings, spaces: list[Path], *, only_when_alone: bool) -> None:
    async with wiring.knowledge(settings) as knowledge:
        known = await knowledge.catalog.spaces()
        if only_when_alone and not set(known) <= {space.name for space in spaces}:
            return
        await _index(knowledge, spaces)


async def _index(knowledge: Knowledge, spaces: list[Path]) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        for space in spaces:
            bar = bars.add_task(f"Knowledge base: {space.name}", total=None)

            def advance(done: int, total: int, _: str, bar: object = bar) -> None:
                bars.update(bar, completed=done, total=total)  # pyright: ignore[reportArgumentType]  rich's own id

            await knowledge.ingestion.add(space, space.name, advance)

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
    if not folder.is_dir():
        raise Misconfigured("The sample company is missing: run this from the repository's folder.")
    asyncio.run(_fill(settings, folder, only_when_empty=False))


def fill_when_empty(settings: Settings, folder: Path) -> None:
    """The same, but only when the knowledge base holds nothing at all."""
    if folder.is_dir():
        asyncio.run(_fill(settings, folder, only_when_empty=True))


async def _fill(settings: Settings, folder: Path, *, only_when_empty: bool) -> None:
    async with wiring.knowledge(settings) as knowledge:
        if only_when_empty and await knowledge.catalog.spaces():
            return
        await _index(knowledge, folder)


async def _index(knowledge: Knowledge, folder: Path) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        for space in sorted(f.parent for f in folder.glob(f"*/{SPACE_FILE}")):
            bar = bars.add_task(f"Knowledge base: {space.name}", total=None)

            def advance(done: int, total: int, _: str, bar: object = bar) -> None:
                bars.update(bar, completed=done, total=total)  # pyright: ignore[reportArgumentType]  rich's own id

            await knowledge.ingestion.add(space, space.name, advance)

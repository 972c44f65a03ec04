"""`plumbline kb`: put documents into the knowledge base, see what is there, take them out."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from agent.errors import PlumblineError
from handlers import wiring
from handlers.settings import Settings
from rag.ingest import IngestReport
from rag.knowledge import Knowledge
from rag.loaders.metadata import SPACE_FILE

app = typer.Typer(help="The knowledge base.", no_args_is_help=True)

_Result = TypeVar("_Result")
Space = Annotated[str, typer.Option("--space", help="Name of the space.")]
_SHOWN = ("document", "space", "path", "state", "readers", "reason")
_COUNTED = ("added", "changed", "unchanged", "removed")


@app.command()
def add(
    path: Annotated[Path, typer.Argument(help="A file, a space's folder, or a folder of spaces.")],
    space: Space = "",
) -> None:
    """Index what is new or changed in PATH and drop what is gone from it.

    Without --space the folder's name is the space; a folder whose subfolders have a _space.yaml is
    taken as one space each.
    """
    console = Console()
    if not path.exists():
        _stop(console, f"{path} does not exist.")
    reports = _run(console, _add(console, _spaces(path, space)))
    for name, report in reports.items():
        _show_report(console, name, report)
    if not any(report.usable for report in reports.values()):
        raise typer.Exit(1)


@app.command("list")
def list_documents(space: Space = "") -> None:
    """Show every document with its state, its readers and why it was refused."""
    console = Console()
    grid = Grid(*_SHOWN)
    for column in grid.columns:
        column.overflow = "fold"
    grid.columns[0].no_wrap = True
    for row in _run(console, _rows(space)):
        grid.add_row(*row)
    console.print(grid)


@app.command()
def remove(
    document: Annotated[str, typer.Argument(help="A document's id or path.")] = "",
    space: Space = "",
) -> None:
    """Remove one document, or a whole space when only --space is given."""
    console = Console()
    if not document and not space:
        _stop(console, "Name a document, or a space with --space.")
    removed = _run(console, _remove(document, space))
    if not removed:
        _stop(console, "Nothing of that name is in the knowledge base; see `plumbline kb list`.")
    console.print(f"Removed {len(removed)}: {', '.join(removed)}", markup=False)


def _knowledge() -> AbstractAsyncContextManager[Knowledge]:
    return wiring.knowledge(Settings.from_environment())


def _spaces(path: Path, name: str) -> dict[str, Path]:
    """Space to the folder or file that goes into it."""
    if name or path.is_file():
        return {name or path.resolve().parent.name: path}
    spaces = {f.parent.name: f.parent for f in sorted(path.glob(f"*/{SPACE_FILE}"))}
    return spaces or {path.resolve().name: path}


async def _add(console: Console, spaces: dict[str, Path]) -> dict[str, IngestReport]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    reports: dict[str, IngestReport] = {}
    async with _knowledge() as knowledge:
        with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
            for name, path in spaces.items():
                bar = bars.add_task(name, total=None)

                def advance(done: int, total: int, _file: str, bar: object = bar) -> None:
                    bars.update(bar, completed=done, total=total)  # pyright: ignore[reportArgumentType]  rich's own id

                reports[name] = await knowledge.ingestion.add(path, name, advance)
                bars.update(bar, total=bars.tasks[-1].completed)
    return reports


async def _rows(space: str) -> list[tuple[str, ...]]:
    async with _knowledge() as knowledge:
        names = (space,) if space else await knowledge.catalog.spaces()
        return [
            (
                *(e.source, e.space, e.external),
                *(e.status if e.state == "indexed" else e.state, ", ".join(sorted(e.readers))),
                e.reason,
            )
            for name in names
            for e in await knowledge.catalog.entries(name)
        ]


async def _remove(document: str, space: str) -> tuple[str, ...]:
    async with _knowledge() as knowledge:
        names = (space,) if space else await knowledge.catalog.spaces()
        removed: list[str] = []
        for name in names:
            entries = await knowledge.catalog.entries(name)
            chosen = [e.source for e in entries if document in ("", e.source, e.external)]
            if chosen:
                removed += await knowledge.ingestion.remove(name, chosen)
        return tuple(removed)


def _run(console: Console, work: Coroutine[object, object, _Result]) -> _Result:
    try:
        return asyncio.run(work)
    except PlumblineError as error:
        _stop(console, f"{error} ({error.code})")


def _stop(console: Console, sentence: str) -> NoReturn:
    console.print(sentence, markup=False, style="red")
    raise typer.Exit(1)


def _show_report(console: Console, space: str, report: IngestReport) -> None:
    grid = Grid(title=f"Space {space}", title_justify="left")
    for name in (*_COUNTED, "refused", "chunks"):
        grid.add_column(name, justify="right")
    counts = [len(getattr(report, name)) for name in (*_COUNTED, "refused")]
    grid.add_row(*(str(count) for count in (*counts, report.chunks)))
    console.print(grid)
    for file, reason in report.refused.items():
        console.print(f"  refused {file}: {reason}", markup=False)
    if report.kept:
        console.print(
            f"  {len(report.kept)} documents of the space are not in this folder and stay, because "
            "nothing in it was known. To take them out: plumbline kb remove --space " + space,
            markup=False,
        )

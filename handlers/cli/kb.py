"""`plumbline kb`: put documents into the knowledge base, see what is there, take them out."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agent.domain import Json
from handlers import wiring
from handlers.cli import kb_rights
from handlers.cli.terminal import run, show_json, show_rows, stop
from handlers.settings import Settings
from rag.catalog import CatalogEntry, copies
from rag.ingest import IngestReport
from rag.knowledge import Knowledge
from rag.loaders.metadata import SPACE_FILE

SOME_REFUSED = 3
"""Exit status when a part of the files could not be taken in."""

app = typer.Typer(help="The knowledge base.", no_args_is_help=True)
app.command()(kb_rights.space)
app.command()(kb_rights.who_can_see)
app.command()(kb_rights.drop_cache)

Space = Annotated[str, typer.Option("--space", help="Name of the space.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]
_SHOWN = ("space", "title", "readers", "status", "version", "path")
_COUNTED = ("added", "changed", "unchanged", "removed")


@app.command()
def add(
    path: Annotated[Path, typer.Argument(help="A file, a space's folder, or a folder of spaces.")],
    space: Space = "",
) -> None:
    """Index what is new or changed in PATH and drop what is gone from it.

    Without --space the folder's name is the space; a folder whose subfolders have a _space.yaml is
    taken as one space each. Exit status: 0 when everything was taken in, 3 when some files were
    refused, 1 when nothing of PATH can be found now.
    """
    console = Console()
    if not path.exists():
        stop(console, f"{path} does not exist.")
    _report(console, run(console, _add(console, _spaces(path, space))))


@app.command()
def rebuild() -> None:
    """Write an OpenSearch index anew, with today's embedder and format, while searches go on.

    Nothing can be added meanwhile. With another embedder the next `kb add` reads every file again.
    """
    console = Console()
    console.print(f"{run(console, _rebuild())} passages stand in the new index.")


async def _rebuild() -> int:
    async with wiring.knowledge(Settings.from_environment()) as knowledge:
        return await knowledge.rebuild()


@app.command()
def sync(
    path: Annotated[Path, typer.Argument(help="The folder that the space is made from.")],
    space: Annotated[str, typer.Option("--space", help="Name of the space.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Even if the folder has nothing of the space.")
    ] = False,
) -> None:
    """Make a space equal to a folder: what is new, changed and gone, file by file.

    A folder that has nothing of the space is probably the wrong one, and removes nothing without
    --replace. Exit statuses are those of add.
    """
    console = Console()
    if not path.is_dir():
        stop(console, f"{path} is no folder.")
    reports = run(console, _add(console, {space: path}, replace=replace))
    for name in ("added", "changed", "removed"):
        for file in getattr(reports[space], name):
            console.print(f"  {name} {file}", markup=False, soft_wrap=True)
    _report(console, reports)


@app.command("list")
def list_documents(space: Space = "", as_json: AsJson = False) -> None:
    """Show every document with its readers, its status, and why it was refused."""
    console = Console()
    entries = run(console, _entries(space))
    if as_json:
        spaces = {entry.space for entry in entries}
        same = {name: copies(e for e in entries if e.space == name) for name in spaces}
        show_json([_plain(e, same[e.space].get(e.external, "")) for e in entries])
    else:
        show_rows(console, _SHOWN, [_row(entry) for entry in entries])


@app.command()
def remove(
    document: Annotated[str, typer.Argument(help="A document's id or path.")] = "",
    space: Space = "",
) -> None:
    """Remove one document, or a whole space when only --space is given."""
    console = Console()
    if not document and not space:
        stop(console, "Name a document, or a space with --space.")
    removed = run(console, _remove(document, space))
    if not removed:
        stop(console, "Nothing of that name is in the knowledge base; see `plumbline kb list`.")
    console.print(f"Removed {len(removed)}: {', '.join(removed)}", markup=False)


def _knowledge() -> AbstractAsyncContextManager[Knowledge]:
    return wiring.knowledge(Settings.from_environment())


def _spaces(path: Path, name: str) -> dict[str, Path]:
    """Space to the folder or file that goes into it."""
    if name or path.is_file():
        return {name or path.resolve().parent.name: path}
    spaces = {f.parent.name: f.parent for f in sorted(path.glob(f"*/{SPACE_FILE}"))}
    return spaces or {path.resolve().name: path}


async def _add(
    console: Console, spaces: dict[str, Path], *, replace: bool = False
) -> dict[str, IngestReport]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    reports: dict[str, IngestReport] = {}
    async with _knowledge() as knowledge:
        with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
            for name, path in spaces.items():
                bar = bars.add_task(name, total=None)

                def advance(done: int, total: int, _file: str, bar: object = bar) -> None:
                    bars.update(bar, completed=done, total=total)  # pyright: ignore[reportArgumentType]  rich's own id

                reports[name] = await knowledge.ingestion.add(path, name, advance, replace=replace)
                bars.update(bar, total=bars.tasks[-1].completed)
    return reports


async def _entries(space: str) -> list[CatalogEntry]:
    async with _knowledge() as knowledge:
        names = (space,) if space else await knowledge.catalog.spaces()
        return [entry for name in names for entry in await knowledge.catalog.entries(name)]


def _row(entry: CatalogEntry) -> tuple[str, ...]:
    status = entry.status if entry.state == "indexed" else entry.state
    return (
        entry.space,
        entry.title,
        ", ".join(sorted(entry.readers)),
        f"{status}: {entry.reason}" if entry.reason else status,
        entry.version,
        entry.external,
    )


def _plain(entry: CatalogEntry, original: str) -> Json:
    return {
        "document": entry.source,
        "space": entry.space,
        "path": entry.external,
        "title": entry.title,
        "readers": [*sorted(entry.readers)],
        "readers_from": "space" if entry.inherited else "document",
        "state": entry.state,
        "status": entry.status,
        "version": entry.version,
        "reason": entry.reason,
        "nearly_same_as": original,
    }


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


def _report(console: Console, reports: dict[str, IngestReport]) -> None:
    """Show what became of the files, and end with the status that says it."""
    for name, report in reports.items():
        _show_report(console, name, report)
    if not any(report.usable for report in reports.values()):
        raise typer.Exit(1)
    if any(report.refused for report in reports.values()):
        raise typer.Exit(SOME_REFUSED)


def _show_report(console: Console, space: str, report: IngestReport) -> None:
    counts = [len(getattr(report, name)) for name in (*_COUNTED, "refused")]
    console.print(f"Space {space}", markup=False)
    row = [str(count) for count in (*counts, report.chunks)]
    show_rows(console, (*_COUNTED, "refused", "chunks"), [row])
    for file, reason in report.refused.items():
        console.print(f"  refused {file}: {reason}", markup=False)
    for copy, original in report.copies.items():
        console.print(f"  {copy} says nearly the same as {original}", markup=False, soft_wrap=True)
    if report.kept:
        console.print(
            f"  {len(report.kept)} documents of the space are not in this folder and stay, because "
            "nothing in it was known. To take them out: plumbline kb remove --space " + space,
            markup=False,
        )

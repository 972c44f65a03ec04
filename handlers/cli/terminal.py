"""How commands run, tell a fault in one sentence, and end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Sequence
from typing import NoReturn, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from agent.domain import Json
from agent.errors import PlumblineError

_Result = TypeVar("_Result")


def run(console: Console, work: Coroutine[object, object, _Result]) -> _Result:
    """The result; a fault of ours ends the command with its sentence and status 1."""
    try:
        return asyncio.run(work)
    except PlumblineError as error:
        stop(console, f"{error} ({error.code})")


def stop(console: Console, sentence: str, status: int = 1) -> NoReturn:
    """End the command with a sentence."""
    console.print(sentence, markup=False, style="red", soft_wrap=True)
    raise typer.Exit(status)


def show_rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table without lines: one row a thing, long cells folded."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*map(escape, row))
    console.print(grid)


def show_json(value: Json) -> None:
    """The value as JSON on the standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))

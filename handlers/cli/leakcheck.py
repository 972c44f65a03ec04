"""`plumbline leakcheck`: show that nobody is shown, told or left anything they may not read."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from handlers.cli.terminal import run, show_json, show_rows
from handlers.leakcheck.check import Report, check_fixture
from handlers.leakcheck.own import check_own
from handlers.leakcheck.tenant import FULL, Size
from handlers.settings import Settings


def leakcheck(
    full: Annotated[
        bool, typer.Option("--full", help="50 people, 2,000 documents, 500 questions.")
    ] = False,
    own: Annotated[
        bool, typer.Option("--own", help="Your own knowledge base and configuration.")
    ] = False,
    seed: Annotated[int, typer.Option(help="What is made up.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Ask as many people at once and search every trace for words that are not for them.

    Without --own on an invented organisation. Exit status 1 when a word was seen by somebody who
    may not read it, or (invented organisation only) when something readable was not found.
    """
    console = Console()
    size = FULL if full else Size()
    check = (
        check_own(Settings.from_environment(), size.queries, seed)
        if own
        else check_fixture(size, seed)
    )
    report = run(console, check)
    if as_json:
        show_json(report.as_json())
    else:
        _show(console, report)
    raise typer.Exit(0 if report.sound or (own and not report.leaks) else 1)


def _show(console: Console, report: Report) -> None:
    console.print(
        f"{report.users} people, {report.documents} documents, {report.queries} questions; "
        f"{sum(report.searched.values())} texts searched."
    )
    console.print(f"Leaks: {len(report.leaks)}. Readable and found: {report.recall_allowed:.1%}.")
    rows = [(leak.where, leak.who, leak.source) for leak in report.leaks[:50]]
    if rows:
        show_rows(console, ("where", "seen by", "what"), rows)

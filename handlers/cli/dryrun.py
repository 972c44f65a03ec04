"""`plumbline dryrun`: what a question would look through for one person, without a model."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from agent.domain import Identity
from handlers.cli.filling import fill_when_alone
from handlers.cli.terminal import run, show_json, show_rows, stop
from handlers.cli.workspace import COMPANY, demo_settings
from handlers.dryrun import dry_run
from handlers.settings import Settings

_SIMULATOR = "http://127.0.0.1:8085"
_BOT = "http://127.0.0.1:8086"
_DEMO = ("alice", "bob", "chen", "dana", "emil", "fang")


def dryrun(
    query: Annotated[str, typer.Argument(help="The question.")],
    user: Annotated[
        str, typer.Option("--as", help="feishu:ou_..., slack:U..., or a name of the demo.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say which sources would run for a person, which scopes are missing, and how much is theirs.

    No model is asked. Titles are shown only of what the person may read.
    """
    console = Console()
    settings = Settings.from_environment()
    demo = user in _DEMO
    if demo:
        fill_when_alone(settings, COMPANY / "kb")
        settings, user = demo_settings(settings, _SIMULATOR, _BOT), f"feishu:ou_demo_{user}"
    platform, _, name = user.partition(":")
    if platform not in ("feishu", "slack") or not name:
        stop(console, "Use --as feishu:ou_..., slack:U..., or a name of the demo.", 2)
    on = "feishu" if platform == "feishu" else "slack"
    app = settings.feishu_app_id if on == "feishu" else settings.slack_app_id
    tenant = settings.feishu_tenant if on == "feishu" else settings.slack_tenant
    asker = Identity(settings.org, on, app, tenant or ("tenant_demo" if demo else ""), name)
    told = run(console, dry_run(settings, asker, query, known_member=demo))
    if as_json:
        show_json(
            {
                "labels": [*told.labels],
                "sources": [source.as_json() for source in told.sources],
                "titles": [*told.titles],
            }
        )
        return
    console.print("Labels: " + (", ".join(told.labels) or "none"), markup=False)
    rows = [
        (s.name, s.state, *(("-" if n is None else str(n)) for n in (s.before, s.after, s.found)),
         " ".join(s.missing))
        for s in told.sources
    ]  # fmt: skip
    columns = ("source", "state", "before", "after", "found", "scopes missing")
    show_rows(console, columns, rows)
    for title in told.titles:
        console.print(f"  {title}", markup=False)

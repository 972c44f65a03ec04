"""The commands of `plumbline`."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from agent.errors import PlumblineError
from handlers.cli import ask as asking
from handlers.cli import demo as demonstrating
from handlers.cli import doctor as examining
from handlers.cli import kb
from handlers.cli.dryrun import dryrun
from handlers.cli.filling import fill_when_alone
from handlers.cli.forget import forget
from handlers.cli.leakcheck import leakcheck
from handlers.cli.workspace import COMPANY, Person, PlatformName
from handlers.models import check_name
from handlers.settings import Settings

app = typer.Typer(
    name="plumbline",
    help="An enterprise knowledge bot for Feishu/Lark and Slack.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(kb.app, name="kb")
app.command()(forget)
app.command()(leakcheck)
app.command()(dryrun)


def main() -> None:
    """The entry point: errors of ours end in one sentence and exit status 1."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of every odd font
    try:
        app()
    except PlumblineError as error:
        typer.secho(f"{error} ({error.code})", fg="red", err=True)
        raise SystemExit(1) from None


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in Chinese or English.")],
    login: Annotated[Person, typer.Option("--as", help="Who asks.")] = "alice",
    platform: Annotated[PlatformName, typer.Option(help="Where it is asked.")] = "feishu",
    model: Annotated[
        str,
        typer.Option(help="offline, a Claude name, bedrock/NAME, or what your model server has."),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the turn as JSON.")] = False,
) -> None:
    """Ask one question in the demo workspace; exit status 0 when it was answered or refused."""
    if not question.strip():
        raise typer.BadParameter('the question is empty: plumbline ask "..."')
    settings = Settings.from_environment()
    if model:
        settings = replace(settings, model=model)
        check_name(settings)
    fill_when_alone(settings, COMPANY / "kb")
    asked = asyncio.run(asking.ask(settings, question, login, platform))
    typer.echo(asking.as_json(asked) if as_json else asking.as_text(asked))
    raise typer.Exit(0 if asked.answer.status in ("answered", "refused") else 1)


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="Port of the chat page.")] = 8085,
    bot_port: Annotated[int, typer.Option(help="Port of the bot.")] = 8086,
) -> None:
    """Start the demo workspace and the bot, and say where the chat page is."""
    demonstrating.run(Settings.from_environment(), port, bot_port)


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="Where to listen.")] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    feishu_long_connection: Annotated[
        bool, typer.Option("--feishu-long-connection", help="Events of Feishu without an address.")
    ] = False,
    slack_socket_mode: Annotated[
        bool, typer.Option("--slack-socket-mode", help="Events of Slack without an address.")
    ] = False,
) -> None:
    """Run the bot on this machine: the handlers over HTTP and a worker beside them."""
    lines = demonstrating.Lines(feishu_long_connection, slack_socket_mode)
    demonstrating.run_server(Settings.from_environment(), host, port, lines)


@app.command()
def doctor(
    platform: Annotated[examining.Choice, typer.Option(help="Which platform.")] = "all",
    chat: Annotated[
        str,
        typer.Option(
            help="Your mail address or Slack user id, or a chat of your own: "
            "test messages are written there and taken back."
        ),
    ] = "",
    save: Annotated[
        Path | None, typer.Option(help="Keep redacted samples of all answers in this folder.")
    ] = None,
    user_token_file: Annotated[
        Path | None, typer.Option(help="A file with a person's token, for what needs a person.")
    ] = None,
) -> None:
    """Probe your real tenant call by call and scope by scope; exit status 1 for a missing need."""
    settings, person = Settings.from_environment(), examining.read_token(user_token_file)
    examined, sound = examining.platforms(settings, platform), True
    examining.check_chat(chat, examined)
    for one in examined:
        wanted = examining.examination(one, chat, save, person)
        findings = asyncio.run(examining.examine_platform(settings, wanted))
        typer.echo(examining.report(one, findings))
        sound = sound and examining.healthy(findings)
    raise typer.Exit(0 if sound else 1)


if __name__ == "__main__":
    main()

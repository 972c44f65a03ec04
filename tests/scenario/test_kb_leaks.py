"""Random rights and canary words (S2): nobody finds a foreign word, everybody all of their own."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.domain import EVERYONE, Json
from agent.ports import Tool
from rag.documents import Chunk, Document
from rag.read_tool import read_tool
from rag.retrieval import Retriever
from rag.search_tool import search_tool
from tests.fakes.knowledge import KnowledgeBase
from tests.unit.rag.test_retrieval import PLAIN

GROUPS = ("hr", "finance", "engineering", "sales", "legal", "leadership")
FILLING = (
    "leave",
    "travel",
    "budget",
    "robot",
    "policy",
    "contract",
    "年假",
    "差旅",
    "报销",
    "合同",
)


@dataclass(frozen=True)
class Page:
    """A document with a word that no other one has."""

    source: str
    text: str
    canary: str
    readers: frozenset[str]


def people(rng: random.Random, count: int) -> dict[str, frozenset[str]]:
    """Login to labels; every seventh person is a guest."""
    found: dict[str, frozenset[str]] = {}
    for n in range(count):
        groups = {f"group:{g}" for g in GROUPS if rng.random() < 0.3}
        own = {f"person:slack:U{n:03}"}
        found[f"U{n:03}"] = frozenset(own if n % 7 == 6 else own | groups | {EVERYONE})
    return found


def pages(rng: random.Random, count: int, persons: int) -> tuple[Page, ...]:
    """Documents for everyone, for some groups, or for some people."""
    found: list[Page] = []
    for n in range(count):
        kind = rng.random()
        readers = {f"group:{g}" for g in rng.sample(GROUPS, rng.randint(1, 3))}
        if kind < 0.2:
            readers = {EVERYONE}
        elif kind < 0.4:
            readers = {f"person:slack:U{rng.randrange(persons):03}" for _ in range(2)}
        canary = f"canary{n:04}x{rng.randrange(10**6):06}"
        words = [*rng.choices(FILLING, k=12), canary]
        rng.shuffle(words)
        found.append(Page(f"kb-{n:04}", " ".join(words), canary, frozenset(readers)))
    return tuple(found)


async def filled(folder: Path, stock: Iterable[Page]) -> KnowledgeBase:
    base = KnowledgeBase(folder)
    for page in stock:
        document = Document(
            page.source, "s", f"{page.source}.md", page.source, readers=page.readers
        )
        vectors = base.embedder.embed_passages([page.text])
        await base.index.upsert(document, [Chunk(0, page.text)], vectors, base.embedder.name)
    return base


def tools(base: KnowledgeBase, labels: frozenset[str]) -> tuple[Tool, Tool]:
    retriever = Retriever(base.index, base.embedder, PLAIN)
    return search_tool(retriever, labels), read_tool(base.index, labels)


async def found(tool: Tool, *queries: str) -> str:
    """Everything that a search hands on, as text."""
    asked: Mapping[str, Json] = {"queries": list[Json](queries)}
    result = await tool.call(asked)
    return json.dumps([result.note, [repr(p) for p in result.passages]])


def foreign(said: str, labels: frozenset[str], stock: Sequence[Page]) -> list[str]:
    return [p.source for p in stock if p.canary in said and p.readers.isdisjoint(labels)]


def query(rng: random.Random, stock: Sequence[Page]) -> str:
    wanted = rng.choice(stock)
    return " ".join([*rng.choices(FILLING, k=rng.randint(1, 4)), wanted.canary])


@pytest.mark.parametrize("seed", range(3))
async def test_s2_what_is_hidden_might_as_well_be_absent(tmp_path: Path, seed: int) -> None:
    """Every answer is, to the last byte, the answer of a base that holds the readable part only."""
    rng = random.Random(seed)
    who = people(rng, 8)
    stock = pages(rng, 120, len(who))
    whole = await filled(tmp_path / "whole", stock)
    for login, labels in who.items():
        own = [page for page in stock if not page.readers.isdisjoint(labels)]
        part = await filled(tmp_path / login, own)
        mine, alone = tools(whole, labels)[0], tools(part, labels)[0]
        for page in stock[:: len(who)]:
            said = await found(mine, page.canary)
            assert (page.canary in said) == (page in own), "recall equals brute force"
        for _ in range(25):
            asked = query(rng, stock)
            said = await found(mine, asked)
            assert foreign(said, labels, stock) == []
            assert said == await found(alone, asked)
        part.index.close()
    whole.index.close()


@pytest.mark.slow
async def test_p17_ten_thousand_mixed_queries_in_one_warm_process(tmp_path: Path) -> None:
    rng = random.Random(17)
    who = people(rng, 50)
    stock = pages(rng, 1000, len(who))
    base = await filled(tmp_path, stock)
    leaks: list[tuple[str, str]] = []
    missed: list[tuple[str, str]] = []

    async def one(login: str, page: Page) -> None:
        search, read = tools(base, who[login])
        said = await found(search, " ".join([*rng.choices(FILLING, k=2), page.canary]))
        leaks.extend((login, source) for source in foreign(said, who[login], stock))
        if page.readers.isdisjoint(who[login]):
            return
        whole = await read.call({"source": page.source})
        if page.canary not in said or page.canary not in whole.passages[0].text:
            missed.append((login, page.source))

    logins = list(who)
    for _ in range(50):
        async with asyncio.TaskGroup() as group:
            for _ in range(200):
                group.create_task(one(rng.choice(logins), rng.choice(stock)))
    base.index.close()
    assert leaks == []
    assert missed == []

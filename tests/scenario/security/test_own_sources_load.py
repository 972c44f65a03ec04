"""P17 for people's own sources: 10,000 mixed searches at once in one warm process."""

from __future__ import annotations

import asyncio
import random

import pytest

from agent.domain import ChatRef, Json, Question
from connectors.access import SearchBudget
from handlers.leakcheck.platforms import OwnConnector, World, granted
from handlers.leakcheck.tenant import CANARY, Size, generate
from tests.fakes.access import FixedAccess
from tests.fakes.clock import FakeClock

QUERIES = 10_000


@pytest.mark.slow
async def test_p17_no_foreign_passage_in_ten_thousand_searches_of_own_sources() -> None:
    rng = random.Random(17)
    tenant = generate(Size(20, 1, 1), 17)
    world, secrets = World(tenant), tenant.secrets
    clock = FakeClock(1_790_000_000.0, auto=True)
    people = [p for p in tenant.people.values() if p.token]
    foreign: list[str] = []
    found = 0

    async def one() -> None:
        nonlocal found
        person, wanted = rng.choice(people), rng.choice(tenant.own)
        who = person.identity
        access = FixedAccess(who, person.token, granted(person).scopes)
        asked = Question(who, ChatRef("d", "direct", "m"), wanted.key, "en", 1_790_000_000.0)
        connector = OwnConnector(who.platform, world, clock)
        made = connector.tools(access, SearchBudget(3), asked)["messages"][0]
        many = "queries" in str(made.spec.schema)
        arguments: dict[str, Json] = {"queries": [wanted.key]} if many else {"query": wanted.key}
        said = repr((await made.call(arguments)).passages)
        seen = {secrets[c] for c in CANARY.findall(said)}
        foreign.extend(s.source for s in seen if not s.is_for(person))
        assert (wanted in seen) == wanted.is_for(person)
        found += wanted in seen

    for _ in range(QUERIES // 100):
        async with asyncio.TaskGroup() as group:
            for _ in range(100):
                group.create_task(one())
    assert foreign == []
    assert found > QUERIES // 50

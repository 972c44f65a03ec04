"""The same question, different people, different answers: the real connectors behind a sign-in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from agent.dialogue import ModelRequest, ToolReply, ToolSpec
from agent.domain import Json
from tests.fakes import browser
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply
from tests.fakes.stage import Stage, until

Open = Callable[..., AbstractAsyncContextManager[Stage]]
ASK = "What was decided about the launch of the X-300?"


def _arguments(spec: ToolSpec) -> dict[str, Json]:
    fields = spec.schema["properties"]
    assert isinstance(fields, dict)
    return {"queries": ["X-300", "上市"]} if "queries" in fields else {"query": "X-300 上市"}


def plays(request: ModelRequest) -> Played:
    """Search all own sources at once, then name every source that was shown."""
    results = [b for b in request.messages[-1].blocks if isinstance(b, ToolReply)]
    if not results:
        own = [spec for spec in request.tools if spec.name.startswith("search_my_")]
        return reply(*(call(s.name, _arguments(s), id=f"c{n}") for n, s in enumerate(own)))
    said = "\n".join(result.text for result in results)
    sources = dict.fromkeys(re.findall(r'<passage src="([^"]+)"', said))
    return " ".join(f"See this. [src:{source}]" for source in sources) or "I found nothing."


@pytest.fixture
async def bot(stage: Open) -> AsyncIterator[Stage]:
    async with stage(ScriptedModel(plays), connectable=True) as opened:
        yield opened


async def button(bot: Stage, login: str) -> str:
    """The address behind the newest connect button of a person."""
    found: list[str] = []

    async def there() -> bool:
        where = {"platform": bot.platform, "chat": await bot.direct(login), "as": login}
        found[:] = re.findall(
            r'(http[^"\\ \']+/start\?ticket=[0-9a-f]+)', str(await bot.get("messages", **where))
        )
        return bool(found)

    await until(there, f"a connect button for {login}")
    return found[-1]


async def test_two_people_get_their_own_sources(bot: Stage) -> None:
    cited: dict[str, set[str]] = {}
    titles: dict[str, set[str]] = {}
    for login in ("alice", "emil"):
        first = await bot.ask(ASK, login)
        assert not [c for c in first.answer.citations if c.source.private]
        page = await browser.connect(await button(bot, login), login)
        assert page.status_code == 200, page.text
        second = await bot.ask(ASK, login)
        assert "PL-210" not in second.shown
        cited[login] = {c.source.source for c in second.answer.citations}
        titles[login] = {c.source.title for c in second.answer.citations}
        kinds = {c.source.kind for c in second.answer.citations}
        assert {"message", "document", "minutes"} & kinds
    # Alice is in the launch's chat and meetings, Emil is not.
    assert cited["alice"] - cited["emil"], titles
    calls = [c for c in await bot.calls() if "search" in c["path"]]
    assert {c["person"] for c in calls if c["person"] != "bot"} == {"alice", "emil"}

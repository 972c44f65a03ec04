"""Connecting one's own sources, from the first question to signing out, all through the wire."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.dialogue import ModelRequest, ToolReply
from agent.domain import Identity, Platform
from agent.ports import Item
from connectors import holdings
from handlers import personal
from handlers.settings import Settings
from handlers.wiring import TurnKit
from tests.fakes import browser
from tests.fakes import platform_samples as samples
from tests.fakes.connector import WhoConnector
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply
from tests.fakes.stage import Stage, Theatre, until

Json = dict[str, Any]
Open = Callable[..., AbstractAsyncContextManager[Stage]]
ASK = "When is the launch?"


def plays(request: ModelRequest) -> Played:
    """Search everything at once, then say what came back."""
    last = request.messages[-1]
    results = [block for block in last.blocks if isinstance(block, ToolReply)]
    if not results:
        names = [spec.name for spec in request.tools if spec.name.startswith("search_my_")]
        return reply(*(call(n, {"query": ASK}, id=f"c{i}") for i, n in enumerate(names)))
    found = re.findall(
        r'src="(x-[a-z]+)"[^>]*>\n(.*?)\n</passage>', "\n".join(r.text for r in results)
    )
    if not found:
        return "I found nothing."
    return " ".join(f"{text} [src:{source}]" for source, text in found)


@pytest.fixture
async def bot(
    stage: Open, house: Theatre, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    def connector(settings: Settings, platform: Platform, clock: object) -> WhoConnector:
        return WhoConnector(platform, house.origin)

    monkeypatch.setattr(personal, "connector", connector)
    async with stage(ScriptedModel(plays), connectable=True) as opened:
        yield opened


def owner(bot: Stage, login: str = "alice") -> Identity:
    if bot.platform == "feishu":
        app, tenant, user = "cli_demo0000000001", "tenant_demo", f"ou_demo_{login}"
    else:
        users = {"alice": "U0ALICE001", "bob": "U0BOB00001"}
        app, tenant, user = "A0DEMO0001", "T0DEMO0001", users[login]
    return Identity(bot.settings.org, bot.platform, app, tenant, user)


async def token_item(bot: Stage, login: str = "alice") -> Item | None:
    return await bot.place.table.get(holdings.key_of(owner(bot, login)))


async def told(bot: Stage, login: str, words: str, chat: str = "") -> Json:
    """The newest message to a person in a chat (their direct one) that holds the words."""
    found: list[Json] = []

    async def there() -> bool:
        where = {"platform": bot.platform, "chat": chat or await bot.direct(login), "as": login}
        shown: list[Json] = await bot.get("messages", **where)
        for message in list(shown):
            if bot.platform == "slack" and not message["thread"]:
                shown += await bot.get("messages", **where, thread=message["id"])
        found[:] = [m for m in shown if words in json.dumps(m, ensure_ascii=False)]
        return bool(found)

    await until(there, f"{words!r} for {login}")
    return max(found, key=lambda m: float(m["at"]))


def read(message: Json) -> str:
    """A message as a person reads it."""
    return unbroken(json.dumps(message, ensure_ascii=False))


def unbroken(text: str) -> str:
    """The text without the marks that keep a platform from making an address of it."""
    return unescape(re.sub("[`\u200b-\u200d\u2060]", "", text))


async def button(bot: Stage, login: str = "alice") -> str:
    """The address behind the newest connect button of a person."""
    message = json.dumps(await told(bot, login, "/start?ticket="))
    return re.findall(r'(http[^"\\ ]+/start\?ticket=[0-9a-f]+)', message)[-1]


async def test_alice_connects_and_gets_her_own_sources(bot: Stage) -> None:
    first = await bot.ask(ASK)
    assert "Not searched, because it is not connected" in first.shown
    assert "12 May" not in first.shown
    offered = read(await told(bot, "alice", "/start?ticket="))
    for scopes in WhoConnector(bot.platform, "").scopes().values():
        assert all(scope in offered for scope in scopes)
    assert "30 days at most" in offered, offered

    page = await browser.connect(await button(bot), "alice")
    assert page.status_code == 200
    assert "return to the chat" in page.text
    await told(bot, "alice", "is connected. From now on I search")

    second = await bot.ask(ASK)
    assert f"{owner(bot).user} was told: the launch is on 12 May" in second.shown
    assert "Not searched" not in second.shown
    assert {c.source.private for c in second.answer.citations} == {True}


async def test_the_question_is_asked_again_with_one_press(bot: Stage) -> None:
    asked = await bot.ask(ASK)
    await browser.connect(await button(bot), "alice")
    message = await told(bot, "alice", "is connected. From now on I search")
    shown = json.dumps(message)
    assert "retry" in shown
    assert asked.said.turn in shown


async def test_it_is_the_newest_question_that_is_asked_again(bot: Stage) -> None:
    first = await bot.ask(ASK)
    offer = await button(bot)
    newest = await bot.ask("And where is it?")
    await bot.ask("status")
    await browser.connect(offer, "alice")
    shown = json.dumps(await told(bot, "alice", "is connected. From now on I search"))
    assert newest.said.turn in shown
    assert first.said.turn not in shown


async def test_somebody_elses_account_is_refused_and_nothing_stored(bot: Stage) -> None:
    await bot.ask(ASK)
    page = await browser.connect(await button(bot), "bob")
    assert page.status_code == 403
    assert "不是在聊天里提问的那个人" in page.text
    assert "not the person who asked" in page.text
    assert await token_item(bot) is None
    assert await token_item(bot, "bob") is None
    ended = [c for c in await bot.calls() if "revoke" in c["path"]]
    assert len(ended) == 1


async def test_a_state_works_once(bot: Stage) -> None:
    await bot.ask(ASK)
    page = await browser.connect(await button(bot), "alice")
    again = await browser.open_button(str(page.url))
    assert again.status_code == 400
    assert "PL-213" in again.text
    other = page.url.copy_set_param("state", "f" * 48)
    assert "PL-213" in (await browser.open_button(str(other))).text


async def test_a_state_is_too_old_after_ten_minutes(bot: Stage) -> None:
    await bot.ask(ASK)
    first = await browser.open_button(await button(bot))
    found = await bot.place.table.query_index("own", owner(bot).principal, limit=1000)
    states = [key for key in found if key.pk.startswith("O#")]
    assert len(states) == 2  # the ticket and the state
    for key in states:
        item = await bot.place.table.get(key)
        assert item is not None
        assert str(item["pk"]).removeprefix("O#") not in str(first.url)
        if "box" in item:
            assert 0 < float(str(item["ends"])) - bot.place.clock.now() <= 600
            await bot.place.table.put({**item, "ends": bot.place.clock.now()})
    page = await browser.agree(first, "alice")
    assert "PL-213" in page.text
    assert await token_item(bot) is None


async def test_declining_stores_nothing(bot: Stage) -> None:
    await bot.ask(ASK)
    page = await browser.agree(await browser.open_button(await button(bot)), "alice", decline=True)
    assert "nothing was stored" in page.text
    assert await token_item(bot) is None


async def test_an_unknown_ticket_gets_a_page_in_both_languages(bot: Stage) -> None:
    page = await browser.open_button(f"{bot.url}/oauth/{bot.platform}/start?ticket=nonsense")
    assert page.status_code == 400
    assert "链接已失效" in page.text
    assert "too old" in page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"


async def test_fewer_scopes_switch_kinds_off_and_it_is_said(bot: Stage) -> None:
    await bot.ask(ASK)
    unwanted = WhoConnector(bot.platform, "").scopes()["minutes"]
    page = await browser.connect(await button(bot), "alice", without=unwanted)
    assert all(scope in page.text for scope in unwanted)
    said = read(await told(bot, "alice", "PL-211"))
    assert all(scope in said for scope in unwanted)
    answer = await bot.ask(ASK)
    assert {c.source.source for c in answer.answer.citations} == {"x-messages", "x-docs"}
    listed = await bot.ask("sources")
    assert f"lacks {', '.join(unwanted)}" in unbroken(listed.shown)


async def test_signing_out_forgets_at_once_and_ends_the_token(bot: Stage) -> None:
    await bot.ask(ASK)
    await browser.connect(await button(bot), "alice")
    await told(bot, "alice", "is connected. From now on I search")
    assert "your chats (messages): on, connected" in (await bot.ask("sources")).shown
    left = await bot.ask("logout")
    assert "your tokens are deleted here and ended at" in left.shown
    assert await token_item(bot) is None
    assert await holdings.consent(bot.place.table, owner(bot)) is None
    assert [c for c in await bot.calls() if "revoke" in c["path"]]
    after = await bot.ask(ASK)
    assert "Not searched, because it is not connected" in after.shown
    assert "nothing to end" in (await bot.ask("logout")).shown


async def test_the_offer_comes_once_a_day_and_when_it_is_asked_for(bot: Stage) -> None:
    async def offers() -> int:
        where = {"platform": bot.platform, "chat": await bot.direct(), "as": "alice"}
        return str(await bot.get("messages", **where)).count("/start?ticket=")

    first = await bot.ask(ASK)
    assert "To connect, send" in first.shown
    await told(bot, "alice", "/start?ticket=")
    made = await offers()
    again = await bot.ask("And where?")
    assert "PL-210" in again.shown
    assert await offers() == made
    await bot.ask("sources")
    assert await offers() > made


async def test_what_is_switched_off_is_not_offered(bot: Stage) -> None:
    await bot.ask("sources off minutes")
    await bot.ask(ASK)
    offered = read(await told(bot, "alice", "Shall I search"))
    assert "your meeting minutes" not in offered
    first = await browser.open_button(await button(bot))
    page = await browser.agree(first, "alice")
    assert "PL-211" not in page.text
    item = await token_item(bot)
    assert item is not None
    scopes = WhoConnector(bot.platform, "").scopes()
    assert scopes["docs"] <= holdings.scopes_of(item)
    assert not scopes["minutes"] & holdings.scopes_of(item)
    assert "minutes (minutes): on, lacks" in unbroken((await bot.ask("sources on minutes")).shown)
    listed = await bot.ask("sources off own")
    assert "your chats (messages): off" in unbroken(listed.shown)
    assert "the knowledge base (kb): on" in unbroken(listed.shown)
    answer = await bot.ask(ASK)
    assert "Not searched, because" not in answer.shown


async def test_a_guest_has_no_own_sources(bot: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    class Guests:
        async def labels(self, person: Identity) -> frozenset[str]:
            return replace(person, external=True).labels()

    def directory(kit: TurnKit, place: object) -> Guests:
        return Guests()

    monkeypatch.setattr(TurnKit, "directory", directory)
    answer = await bot.ask(ASK)
    assert "Not searched" not in answer.shown
    assert "messages" not in (await bot.ask("sources")).shown


async def test_in_a_group_the_offer_is_for_the_asker_alone(bot: Stage) -> None:
    asked = await bot.ask(ASK, chat=bot.group, mention=True)
    await button_anywhere(bot, "alice")
    where = {"platform": bot.platform, "chat": bot.group, "as": "bob"}
    seen = await bot.get("messages", **where)
    seen += await bot.get("messages", **where, thread=asked.said.message)
    assert "ticket=" not in json.dumps(seen)


async def button_anywhere(bot: Stage, login: str) -> None:
    """Wait for the offer, in the group (Slack) or the direct chat (Feishu)."""
    chat = bot.group if bot.platform == "slack" else ""
    await told(bot, login, "/start?ticket=", chat)


async def test_no_store_file_and_no_log_line_holds_a_token(
    bot: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SECURITY.md S11 and S8, on the whole way of a sign-in."""
    caplog.set_level(logging.DEBUG)
    await bot.ask(ASK)
    await browser.connect(await button(bot), "alice")
    await told(bot, "alice", "is connected. From now on I search")
    await bot.ask(ASK)
    assert await token_item(bot) is not None
    prefixes = (b"u-issued-", b"ur-issued-", b"xoxp-issued", b"xoxe-1-", b"code-")
    files = await asyncio.to_thread(_contents, tmp_path)
    assert any(owner(bot).user.encode() in data for data in files)
    assert not [prefix for prefix in prefixes if any(prefix in data for data in files)]
    ours = ("handlers", "agent", "connectors", "plumbline", "uvicorn")
    lines = [r.getMessage() for r in caplog.records if r.name.startswith(ours)]
    assert any("page=callback" in line for line in lines)
    secrets = [*(prefix.decode() for prefix in prefixes), "ticket=", "state=", "demo-app-secret"]
    assert not [line for line in lines if any(secret in line for secret in secrets)]


def _contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def test_a_token_that_the_person_revoked_asks_for_one_sign_in(bot: Stage) -> None:
    await bot.ask(ASK)
    await browser.connect(await button(bot), "alice")
    await told(bot, "alice", "is connected. From now on I search")
    await bot.post("revoke", {"platform": bot.platform, "as": "alice"})
    answer = await bot.ask(ASK)
    assert "Not searched, because it is not connected" in answer.shown


async def test_a_revoked_consent_deletes_the_tokens_at_once(bot: Stage) -> None:
    """Slack tells of a person; in Feishu somebody who left the company is told of."""
    await bot.ask(ASK)
    await browser.connect(await button(bot), "alice")
    assert await token_item(bot) is not None
    if bot.platform == "slack":
        await bot.post("revoke", {"platform": "slack", "as": "alice"})
    else:
        event = {"object": {"open_id": "ou_demo_alice", "name": "Alice"}}
        await deliver(bot, "contact.user.deleted_v3", event)
    await until(lambda: gone(bot), "the token to be gone")
    assert await holdings.consent(bot.place.table, owner(bot)) is None


async def test_an_uninstalled_app_forgets_everybody(bot: Stage) -> None:
    for login in ("alice", "bob"):
        await bot.ask(ASK, login)
        await browser.connect(await button(bot, login), login)
        assert await token_item(bot, login) is not None
    await bot.post("uninstall", {"platform": bot.platform})
    await until(lambda: gone(bot, "alice"), "Alice's token to be gone")
    await until(lambda: gone(bot, "bob"), "Bob's token to be gone")


async def gone(bot: Stage, login: str = "alice") -> bool:
    return await token_item(bot, login) is None


async def deliver(bot: Stage, kind: str, event: Json) -> None:
    """Bring a signed Feishu event ourselves."""
    header = {
        "event_id": "ev_left",
        "token": "demo-verification-token",
        "create_time": str(int(bot.place.clock.now() * 1000)),
        "event_type": kind,
        "tenant_key": "tenant_demo",
        "app_id": "cli_demo0000000001",
    }
    payload = {"schema": "2.0", "header": header, "event": event}
    request = samples.feishu(payload, bot.settings, int(bot.place.clock.now()))
    async with httpx.AsyncClient(base_url=bot.url, trust_env=False) as http:
        body = base64.b64decode(request["body"])
        answer = await http.post("/feishu/events", content=body, headers=request["headers"])
    assert answer.status_code == 200


async def test_only_gets_are_answered_and_other_pages_are_not_there(bot: Stage) -> None:
    async with httpx.AsyncClient(base_url=bot.url, trust_env=False) as http:
        assert (await http.get("/oauth/feishu/install")).status_code == 400
        assert (await http.get("/oauth/teams/start")).status_code == 400
        assert (await http.post("/oauth/feishu/start")).status_code == 405

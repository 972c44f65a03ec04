"""The pages around a sign-in as Lambda calls them: what is refused, what never shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agent.errors import Unavailable
from agent.stores.system_clock import RandomIds
from handlers import gateway, loop, oauth, personal, wiring
from handlers.settings import Settings
from tests.fakes.cipher import PlainCipher
from tests.fakes.turns import question


def event(path: str, query: str = "", method: str = "GET") -> dict[str, Any]:
    http = {"method": method, "path": path}
    return {"rawPath": path, "rawQueryString": query, "requestContext": {"http": http}}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        home=str(tmp_path),
        feishu_app_id="cli_x",
        feishu_app_secret="secret-canary",
        public_url="https://bot.example",
    )


def answered(found: dict[str, object]) -> tuple[int, str, dict[str, str]]:
    headers = cast("dict[str, str]", found["headers"])
    return cast(int, found["statusCode"]), cast(str, found["body"]), headers


@pytest.mark.parametrize(
    ("path", "query", "method"),
    [
        ("/oauth/feishu/start", "ticket=made-up", "GET"),
        ("/oauth/feishu/start", "", "GET"),
        ("/oauth/feishu/start", "ticket=a&ticket=b", "GET"),
        ("/oauth/feishu/callback", "code=c&state=made-up", "GET"),
        ("/oauth/feishu/callback", "error=access_denied", "GET"),
        ("/oauth/feishu/install", "", "GET"),
        ("/oauth/other/start", "ticket=x", "GET"),
        ("/oauth", "", "GET"),
        ("/oauth/feishu/start", "ticket=x", "POST"),
        ("/oauth/feishu/start/../callback", "ticket=x", "GET"),
    ],
)
def test_what_nobody_asked_for_gets_a_page_in_both_languages(
    path: str, query: str, method: str, settings: Settings
) -> None:
    status, body, headers = answered(oauth.receive(event(path, query, method), None, settings))
    assert status == 400
    assert 'lang="zh-CN"' in body
    assert 'lang="en"' in body
    assert headers["cache-control"] == "no-store"
    assert headers["content-type"].startswith("text/html")


def test_a_ticket_opens_its_own_platform_by_get_only(settings: Settings) -> None:
    stores = wiring.receiving(settings)
    safe = personal.safe(stores.table, PlainCipher(), stores.clock, RandomIds())
    ticket = loop.run(safe.signins.ticket(question(), ""))
    query = f"ticket={ticket}"

    def status(path: str, method: str = "GET") -> int:
        return answered(oauth.receive(event(path, query, method), None, settings))[0]

    assert status("/oauth/feishu/start", "POST") == 400
    assert status("/oauth/slack/start") == 400
    assert status("/oauth/feishu/start") == 302
    assert status("/oauth/feishu/start") == 302
    bare = replace(settings, public_url="")
    found = oauth.receive(event("/oauth/feishu/start", query), None, bare)
    assert answered(found)[0] == 404


@pytest.mark.parametrize("broken", [None, {}, {"body": 7}, {"rawPath": "/oauth/feishu/start"}])
def test_a_broken_event_gets_a_page_as_well(broken: Any, settings: Settings) -> None:
    assert answered(oauth.receive(broken, None, settings))[0] == 400


def test_the_lambda_entry_reads_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    assert answered(oauth.handler(event("/oauth/slack/start", "ticket=x"), None))[0] == 400
    assert answered(oauth.handler(event("/oauth/slack/install"), None))[0] == 404
    monkeypatch.setenv("PLUMBLINE_STEP_LIMIT", "no number")
    assert answered(oauth.handler(event("/oauth/slack/start", "ticket=x"), None))[0] == 404


@pytest.mark.parametrize("fault", [Unavailable("text-canary"), ValueError("text-canary")])
def test_a_fault_shows_nothing_of_itself(
    fault: Exception,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(personal, "safe", broken)
    found = oauth.receive(event("/oauth/feishu/start", "ticket=x"), None, settings)
    status, body, _ = answered(found)
    assert status == 503
    assert "canary" not in body
    assert "canary" not in caplog.text


def test_the_address_of_the_accounts_host_follows_from_the_api(settings: Settings) -> None:
    stores = wiring.receiving(settings)
    page = personal.authority(settings, "feishu", stores.clock).page("s", "c", "b", frozenset())
    assert page.startswith("https://accounts.feishu.cn/open-apis/authen/v1/authorize?")
    assert "scope=offline_access" in page


def test_a_query_keeps_names_that_come_once_in_both_payload_formats() -> None:
    new = gateway.read(event("/x", "a=1&b=2&b=3&c="))
    old = gateway.read({"httpMethod": "GET", "path": "/x", "queryStringParameters": {"a": "1"}})
    assert new is not None
    assert old is not None
    assert new.query == {"a": "1", "c": ""}
    assert old.query == {"a": "1"}
    many = gateway.read(event("/x", "&".join(f"n{i}=1" for i in range(60))))
    assert many is not None
    assert many.query == {}


def test_cookies_come_back_into_the_headers() -> None:
    request = gateway.read({**event("/x"), "cookies": ["a=1", 7, "b=2"]})
    assert request is not None
    assert request.headers["cookie"] == "a=1; b=2"

"""S8 and case C-SE-02: no secret, text or name in any output, at DEBUG, on every error path."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from agent.domain import Json
from agent.errors import (
    ModelFailed,
    ModelRefused,
    PlumblineError,
    RateLimited,
    ToolFailed,
    Unavailable,
)
from connectors.feishu.api import FeishuApi
from connectors.slack.api import SlackApi
from handlers import feishu, receiving, slack
from handlers.settings import Settings
from handlers.worker import drain
from tests.fakes.clock import FakeClock
from tests.fakes.desk import PlainPlace
from tests.fakes.feishu_reading import ReadFeishu
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.slack_reading import ReadSlack
from tests.fakes.turns import ALICE, question

CANARIES: dict[str, str] = json.loads(
    (Path(__file__).parents[2] / "data/cases/security/log_canaries.json").read_text()
)
TEXT, NAME = CANARIES["message_text"], "Nora CANARY-9"
ECHO = json.dumps(CANARIES)
Answer = Callable[[httpx.Request], httpx.Response]


def lost(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError(f"lost {request.headers} {ECHO}", request=request)


FAULTS: dict[str, Answer] = {
    "echo 500": lambda r: httpx.Response(500, text=f"{r.headers} {r.content!r} {ECHO}"),
    "echo 400": lambda r: httpx.Response(400, json={"code": 99991663, "msg": ECHO, "ok": False}),
    "echo 200": lambda r: httpx.Response(200, json={"ok": False, "error": ECHO, "code": 230001}),
    "page": lambda r: httpx.Response(200, text=f"<html>{ECHO}"),
    "too many": lambda r: httpx.Response(429, json={"ok": False, "code": 99991400, "msg": ECHO}),
    "lost": lost,
}


@pytest.fixture
def output(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Everything that was written to the logs at DEBUG and to both outputs."""
    root, written = logging.getLogger(), io.StringIO()
    handler, before = logging.StreamHandler(written), root.level
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("canary").debug("the logs are heard")

    def said() -> str:
        out, err = capfd.readouterr()
        return written.getvalue() + out + err

    yield said
    root.removeHandler(handler)
    root.setLevel(before)


def check(text: str) -> None:
    assert "the logs are heard" in text
    assert "CANARY" not in text, [line for line in text.splitlines() if "CANARY" in line][:3]
    assert "bank card" not in text


@pytest.mark.parametrize("fault", FAULTS)
async def test_failing_calls_of_the_bot(fault: str, output: Callable[[], str]) -> None:
    transport, clock = httpx.MockTransport(FAULTS[fault]), FakeClock(auto=True)
    shop = httpx.AsyncClient(transport=transport, base_url="http://s.test/api/")
    larks = httpx.AsyncClient(transport=transport, base_url="http://f.test")
    slack_api = SlackApi(CANARIES["slack_bot_token"], "http://s.test/api/", clock, shop)
    secret = CANARIES["feishu_app_secret"]
    feishu_api = FeishuApi("cli_x", secret, "http://f.test", clock, client=larks)
    calls: list[Awaitable[object]] = [
        slack_api.post("D0", "", {"text": TEXT}),
        slack_api.react("D0", "1.2", "eyes"),
        slack_api.open_direct("U0"),
        slack_api.replies("D0", "1.2", "0"),
        feishu_api.react("om_1", "OK"),
    ]
    for one in calls:
        with suppress(PlumblineError):
            await one
    check(output())


@pytest.mark.parametrize("fault", FAULTS)
async def test_failing_calls_as_a_person(fault: str, output: Callable[[], str]) -> None:
    person, other = ReadSlack(spares=("xoxp-CANARY-8b",)), ReadFeishu(spares=("u-CANARY-8b",))
    person.access.current, other.access.current = "xoxp-CANARY-8", "u-CANARY-8"
    request = httpx.Request("POST", "https://x.test", headers={"authorization": "CANARY-8"})
    try:
        answer = FAULTS[fault](request)
    except httpx.ConnectError:
        pytest.skip("these fakes give answers only")
    person.always["assistant.search.context"] = answer
    other.always |= dict.fromkeys(("message.search", "docs.search", "minutes.search"), answer)
    for name in ("search_my_messages", "search_my_documents", "search_my_minutes"):
        with suppress(PlumblineError):
            await person.call(name, TEXT)
        many = "queries" in str(other.tools[name].spec.schema)
        asked: dict[str, Json] = {"queries": [TEXT]} if many else {"query": TEXT}
        with suppress(PlumblineError):
            await other.tools[name].call(asked)
    check(output())


MODEL_FAULTS = [
    ModelFailed("the model failed"),
    ModelRefused("declined"),
    Unavailable("no answer"),
    RateLimited("too many", 1.0),
]


@pytest.mark.parametrize("fault", MODEL_FAULTS, ids=lambda f: type(f).__name__)
async def test_a_turn_that_fails(
    fault: PlumblineError, tmp_path: Path, output: Callable[[], str]
) -> None:
    place = PlainPlace(tmp_path, ScriptedModel(lambda _: fault))
    asked = replace(question(text=TEXT), asker=replace(ALICE, name=NAME))
    accepted = await place.accept(asked)
    await drain(place, accepted.session)
    check(output())


async def test_a_turn_whose_tool_fails_and_one_whose_chat_is_deaf(
    tmp_path: Path, output: Callable[[], str]
) -> None:
    def play(request: object) -> object:
        return reply(call("no_such_tool", {"query": TEXT})) if "Tool" not in repr(request) else TEXT

    place = PlainPlace(tmp_path, ScriptedModel(play))  # pyright: ignore[reportArgumentType]  a part
    place.talk.deaf = ToolFailed("deaf")
    asked = replace(question(text=TEXT), asker=replace(ALICE, name=NAME))
    accepted = await place.accept(asked)
    with suppress(PlumblineError):
        await drain(place, accepted.session)
    check(output())


@pytest.mark.parametrize("edge", [feishu.EDGE, slack.EDGE], ids=["feishu", "slack"])
@pytest.mark.parametrize("body", [json.dumps({"text": TEXT, **CANARIES}), TEXT, "{", "\udcff"])
async def test_a_refused_event(
    edge: receiving.Edge, body: str, tmp_path: Path, output: Callable[[], str]
) -> None:
    settings = Settings(
        home=str(tmp_path),
        slack_signing_secret=CANARIES["signing_secret"],
        feishu_encrypt_key=CANARIES["encrypt_key"],
        feishu_verification_token=CANARIES["tenant_access_token"],
    )
    request: dict[str, object] = {
        "headers": {"authorization": CANARIES["authorization_header"], "x-slack-signature": "v0=0"},
        "body": body,
        "isBase64Encoded": False,
    }
    answer = await receiving.respond(request, edge, settings, lambda _: None)  # pyright: ignore[reportArgumentType]  never reached
    assert answer.status != 200
    assert "CANARY" not in repr(answer)
    check(output() + repr(settings))


def test_values_that_hold_text_are_not_printed_by_a_fault() -> None:
    """What could stand in a traceback: the settings and the tokens have no secret in their repr."""
    secrets = {name: f"CANARY {name}" for name in Settings.__dataclass_fields__
               if any(part in name for part in ("secret", "token", "key"))}  # fmt: skip
    secrets.pop("feishu_token_url")
    made = Settings(**secrets)  # pyright: ignore[reportArgumentType]  all of these are texts
    assert "CANARY" not in repr(made)

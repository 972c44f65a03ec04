"""The entry points themselves: environment, synchronous shell, embedded stores."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agent.errors import Misconfigured
from agent.language import detect
from handlers import feishu, gateway, slack
from handlers.settings import Settings
from tests.fakes import platform_samples as samples


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PLUMBLINE_HOME", str(tmp_path))
    monkeypatch.setenv("PLUMBLINE_FEISHU_ENCRYPT_KEY", "sample-encrypt-key-0001")
    monkeypatch.setenv("PLUMBLINE_FEISHU_VERIFICATION_TOKEN", "sampleVerificationToken01")
    monkeypatch.setenv("PLUMBLINE_SLACK_SIGNING_SECRET", "sample0signing0secret0000000001")
    return monkeypatch


def _now() -> int:
    return int(time.time())  # noqa: TID251 - the entry points read the machine's clock


def test_signed_events_are_taken_in(environment: pytest.MonkeyPatch) -> None:
    lark = samples.sample("feishu", "message_text_p2p")["payload"]
    assert feishu.handler(samples.feishu(lark, at=_now()), None)["statusCode"] == 200
    mention = samples.sample("slack", "app_mention")["payload"]
    assert slack.handler(samples.slack(mention, at=_now()), None)["statusCode"] == 200


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        (feishu.handler, ("feishu", "lambda_event_v2")),
        (slack.handler, ("slack", "lambda_event_v2_slash")),
    ],
)
def test_recorded_gateway_events_are_stale_by_now(
    environment: pytest.MonkeyPatch, handler: Any, name: tuple[str, str]
) -> None:
    answer = handler(samples.sample(*name)["lambda_event"], None)
    assert answer["statusCode"] == 401


def test_settings_are_read_for_each_call(environment: pytest.MonkeyPatch) -> None:
    event = samples.slack(samples.sample("slack", "message_im")["payload"], at=_now())
    assert slack.handler(event, None)["statusCode"] == 200
    environment.setenv("PLUMBLINE_SLACK_SIGNING_SECRET", "another")
    assert slack.handler(event, None)["statusCode"] == 401
    environment.setenv("PLUMBLINE_SLACK_SIGNING_SECRET", " ")
    assert slack.handler(event, None)["statusCode"] == 401


async def test_entry_points_work_beside_running_loops(environment: pytest.MonkeyPatch) -> None:
    event = samples.slack(samples.sample("slack", "message_im")["payload"], at=_now())
    statuses: list[object] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(slack.handler(event, None)["statusCode"]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    statuses.append(slack.handler(event, None)["statusCode"])
    assert statuses == [200] * 5


def test_a_store_that_fails_is_a_503_that_says_nothing(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    environment.setenv("PLUMBLINE_HOME", str(blocked))
    event = samples.slack(samples.sample("slack", "message_im")["payload"], at=_now())
    answer = slack.handler(event, None)
    assert (answer["statusCode"], answer["body"]) == (503, "")


@pytest.mark.parametrize("value", ["x", "0", "-3", "1001", "²", "9" * 5000])
def test_a_bad_number_names_its_variable(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("PLUMBLINE_STEP_LIMIT", value)
    with pytest.raises(Misconfigured, match="PLUMBLINE_STEP_LIMIT"):
        Settings.from_environment()
    assert feishu.handler({}, None)["statusCode"] == 503


def test_secrets_stay_out_of_sight_and_settings_are_keys(environment: pytest.MonkeyPatch) -> None:
    settings = Settings.from_environment()
    for secret in ("sample-encrypt-key-0001", "sampleVerificationToken01", "sample0signing"):
        assert secret not in repr(settings)
    assert hash(settings) == hash(Settings.from_environment())


def test_gateway_events_of_both_formats_are_read() -> None:
    old = {"httpMethod": "post", "path": "/p", "headers": {"X-A": "1", "x-a": "2"}, "body": "é"}
    request = gateway.read(old)
    assert request == gateway.Request("POST", "/p", {"x-a": "1,2"}, "é".encode())
    assert gateway.read({"headers": None, "body": None}) == gateway.Request("", "", {}, b"")
    assert gateway.read({"body": "*", "isBase64Encoded": True}) is None
    assert gateway.read({"body": "x" * (gateway.MAX_BODY + 1)}) is None


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("出差住宿标准是多少？", "zh"),
        ("怎么 reset VPN password", "zh"),
        ("帮我查一下 Kubernetes ImagePullBackOff 的处理办法", "zh"),
        ("What does 报销 mean?", "en"),
        ("and in Berlin?", "en"),
        ("看 https://example.com/a/very/long/address/of/a/page", "zh"),
        ("", "zh"),
        ("2026?", "zh"),
        ("これは何ですか", "en"),
    ],
)
def test_the_language_of_a_question(text: str, want: str) -> None:
    assert detect(text, "zh") == want

"""S1: 20,000 malformed or hostile requests, none of which is taken in or makes us stumble."""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import quote_from_bytes

import pytest

from agent.stores.memory import MemoryQueue
from agent.stores.memory_table import MemoryTable
from handlers import feishu, receiving, slack
from handlers.wiring import Receiving
from tests.fakes import platform_samples as samples
from tests.fakes.clock import CountingIds, FakeClock

FORGED = 12_000
SIGNED = 8_000
EDGES = {"feishu": feishu.EDGE, "slack": slack.EDGE}
ODD: tuple[Any, ...] = (
    None, True, -1, 10**30,
    1.5, "", "\0", "\ud800", "@_user_1", "x" * 5000, [], {}, [[]], {"a": []},
    [None, 1, "x"], {"text": {"text": {}}}, "<@U0BOTSAMPL1|", "²", "١٢٣", "{\"text\":[1]}",
)  # fmt: skip


def _requests(platform: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in samples.names(platform):
        if name == "ssl_check":
            continue
        data = samples.sample(platform, name)
        found += [samples.event(data[key]) for key in ("encrypted", "http") if key in data]
        found += [data["lambda_event"]] if "lambda_event" in data else []
    return found


def _flip(event: dict[str, Any], chance: random.Random) -> None:
    body = bytearray(base64.b64decode(event["body"]))
    for _ in range(chance.randint(1, 8)):
        body[chance.randrange(len(body))] ^= chance.randint(1, 255)
    event["body"] = base64.b64encode(bytes(body)).decode()


def _drop_proof(event: dict[str, Any], chance: random.Random) -> None:
    proofs = [name for name in event["headers"] if name.startswith(("x-lark-", "x-slack-"))]
    event["headers"].pop(chance.choice([p for p in proofs if "retry" not in p] or ["x"]), None)


def _odd_proof(event: dict[str, Any], chance: random.Random) -> None:
    names = [n for n in event["headers"] if n.endswith(("signature", "timestamp"))] or ["x"]
    odd = ("", "é", "\ud800", "v0=", "-1", "1e9", "²", "9" * 400, None, 7, "\0", "nan")
    event["headers"][chance.choice(names)] = chance.choice(odd)


def _double_proof(event: dict[str, Any], chance: random.Random) -> None:
    name = next((n for n in event["headers"] if n.endswith("signature")), "x-lark-signature")
    event["headers"][name.upper()] = f"v0={chance.getrandbits(256):064x}"


def _broken_base64(event: dict[str, Any], chance: random.Random) -> None:
    event["body"] = chance.choice(["*", "A", "é" * 9, event["body"][:-1] + "!", 5, ["x"]])


def _recoded(event: dict[str, Any], chance: random.Random) -> None:
    text = base64.b64decode(event["body"]).decode()
    spaced = text.replace(":", ": ", 1) if ":" in text else text + "&"
    event["isBase64Encoded"] = chance.choice([False, None])
    event["body"] = chance.choice(
        [spaced, "\ufeff" + text, text + "\ud800", text + " ", "[" * 9999]
    )


def _replayed(event: dict[str, Any], chance: random.Random) -> None:
    names = [n for n in event["headers"] if n.endswith("timestamp")] or ["x-lark-request-timestamp"]
    late = samples.NOW + chance.choice([-1, 1]) * chance.randint(1, 10**9)
    event["headers"][names[0]] = str(late)


def _stripped(event: dict[str, Any], chance: random.Random) -> None:
    event[chance.choice(["headers", "body"])] = None
    event["requestContext"] = chance.choice([None, [], event["requestContext"]])


BREAKS: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
    _flip, _drop_proof, _odd_proof, _double_proof, _broken_base64, _recoded, _replayed, _stripped,
)  # fmt: skip


def _store() -> Receiving:
    clock = FakeClock(float(samples.NOW))
    return Receiving(MemoryTable(), MemoryQueue(clock, CountingIds()), clock)


async def test_s1_forged_requests_are_all_refused(caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(20_260)
    store = _store()
    pool = [(p, r) for p in EDGES for r in _requests(p)]
    # What no signature vouches for by design: address checks that carry the right token.
    statuses: dict[int, int] = {}
    for n in range(FORGED):
        platform, original = pool[n % len(pool)]
        event = copy.deepcopy(original)
        BREAKS[(n // len(pool)) % len(BREAKS)](event, chance)
        answer = await receiving.respond(event, EDGES[platform], samples.SAMPLES, lambda _: store)
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        if answer.status == 200:
            assert "challenge" in answer.body
    assert max(statuses) < 500
    assert statuses[200] < FORGED * 0.02
    assert await store.queue.receive(1) == ()
    assert "fault" not in caplog.text


def _leaves(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            found += _leaves(part, (*path, key))
    elif isinstance(value, list):
        for key, part in enumerate(cast("list[object]", value)):
            found += _leaves(part, (*path, key))
    return found


def _put(payload: Any, path: tuple[Any, ...], value: object) -> None:
    for key in path[:-1]:
        payload = payload[key]
    payload[path[-1]] = value


def _mutated(payload: Any, chance: random.Random) -> Any:
    """The payload with wrong types in one to three places; inner JSON texts are opened too."""
    mutant = copy.deepcopy(payload)
    for _ in range(chance.randint(1, 3)):
        if leaves := _leaves(mutant):
            odd = chance.choice(ODD) if chance.random() < 0.95 else _nested(150)
            _put(mutant, chance.choice(leaves), copy.deepcopy(odd))
    return mutant


def _nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


def _signed(platform: str, data: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    payload = data["payload"]
    if platform == "feishu":
        mutant = _mutated(payload, chance)
        content = payload.get("event", {}).get("message", {}).get("content", "")
        if content.startswith("{") and chance.random() < 0.5:
            mutant = copy.deepcopy(payload)
            inner = _mutated(json.loads(content), chance)
            mutant["event"]["message"]["content"] = json.dumps(inner)
        return samples.feishu(mutant)
    body = json.dumps(_mutated(payload, chance)).encode()
    if "event" in payload or chance.random() < 0.2:
        return samples.slack(body)

    return samples.slack(b"payload=" + quote_from_bytes(body).encode(), form=True)


async def test_s1_signed_requests_with_wrong_types_never_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chance = random.Random(20_261)
    store = _store()
    pool = [(p, samples.sample(p, n)) for p in EDGES for n in samples.names(p)]
    for n in range(SIGNED):
        platform, data = pool[n % len(pool)]
        event = _signed(platform, data, chance)
        answer = await receiving.respond(event, EDGES[platform], samples.SAMPLES, lambda _: store)
        assert answer.status in (200, 401), caplog.text
    assert "fault" not in caplog.text


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"1e999999", b'{"a":NaN}', b"9" * 6000]
)
@pytest.mark.parametrize("platform", ["feishu", "slack"])
async def test_signed_bodies_that_are_no_object_are_refused(platform: str, body: bytes) -> None:
    event = samples.feishu(body) if platform == "feishu" else samples.slack(body)
    answer = await receiving.respond(event, EDGES[platform], samples.SAMPLES, lambda _: _store())
    assert answer.status == 401


@pytest.mark.parametrize("event", [None, [], "x", {}, {"headers": []}, {"requestContext": 1}])
async def test_what_is_no_request_at_all_is_refused(event: object) -> None:
    answer = await receiving.respond(event, feishu.EDGE, samples.SAMPLES, lambda _: _store())
    assert 400 <= answer.status < 500

"""The vendors' SDKs as a second opinion on signatures, decryption and plain words.

Known, wanted deviations from lark_oapi: an event without a token is refused, timestamps age, plain
unsigned bodies are refused, unknown events get 200; base64 with foreign characters is refused.
It strips our own mention first, so that @all before it melts into a word behind it; ours does not.
From slack_sdk: what makes its verifier raise is refused.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from slack_sdk.signature import Clock, SignatureVerifier

from connectors.feishu import reader
from connectors.feishu import signature as feishu_signature
from connectors.incoming import Verified
from connectors.slack import signature as slack_signature
from tests.fakes import platform_samples as samples

KEYS = feishu_signature.Keys("sample-encrypt-key-0001", "sampleVerificationToken01")
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def lark() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mentions = import_module("lark_oapi.channel.normalize.mentions")
        decryptor = import_module("lark_oapi.core.utils.decryptor")
        dispatcher = import_module("lark_oapi.event.dispatcher_handler")
        raw_request: Any = import_module("lark_oapi.core.model").RawRequest

    class Lark:
        cipher = decryptor.AESCipher
        names = mentions

        @staticmethod
        def accepts(headers: dict[str, str], body: bytes) -> bool:
            handler = (
                dispatcher.EventDispatcherHandler.builder(KEYS.encrypt_key, KEYS.verification_token)
                .register_p2_customized_event("im.message.receive_v1", _ignore)
                .build()
            )
            request = raw_request()
            request.uri, request.body = "/", body
            request.headers = {name.title(): value for name, value in headers.items()}
            return handler.do(request).status_code == 200

    return Lark


@COMMON
@given(plain=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers()))
def test_what_is_encrypted_opens_the_same_way(lark: Any, plain: dict[str, int]) -> None:
    body = samples.encrypted(json.dumps(plain).encode(), KEYS.encrypt_key)
    box = json.loads(body)["encrypt"]
    assert feishu_signature.decrypt(box, KEYS.encrypt_key) == plain
    assert json.loads(lark.cipher(KEYS.encrypt_key).decrypt_str(box)) == plain


@COMMON
@given(raw=st.binary(max_size=80))
def test_what_does_not_open_opens_for_neither(lark: Any, raw: bytes) -> None:
    box = base64.b64encode(raw).decode()
    try:
        theirs: object = json.loads(lark.cipher(KEYS.encrypt_key).decrypt_str(box))
    except ValueError:
        theirs = None
    assert feishu_signature.decrypt(box, KEYS.encrypt_key) == theirs


@COMMON
@given(
    text=st.text(max_size=60), flip=st.integers(0, 63) | st.none(), nonce=st.text("abc", min_size=1)
)
def test_signatures_are_judged_alike(lark: Any, text: str, flip: int | None, nonce: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    header = {"event_type": "im.message.receive_v1", "token": KEYS.verification_token}
    payload = {"schema": "2.0", "header": header, "event": {"text": clean}}
    body = samples.encrypted(json.dumps(payload).encode(), KEYS.encrypt_key)
    given_one = feishu_signature.sign(str(samples.NOW), nonce, KEYS.encrypt_key, body)
    if flip is not None:
        other = "0" if given_one[flip] != "0" else "1"
        given_one = given_one[:flip] + other + given_one[flip + 1 :]
    headers = {
        "x-lark-request-timestamp": str(samples.NOW),
        "x-lark-request-nonce": nonce,
        "x-lark-signature": given_one,
    }
    ours = feishu_signature.verify(headers, body, KEYS, samples.NOW)
    assert isinstance(ours, Verified) is lark.accepts(headers, body) is (flip is None)


PIECES = st.lists(
    st.sampled_from(["@_user_1", "@_user_10", "@_user_2", "@_all", "@_all_x", "问", "x", " ", "."]),
    max_size=12,
)


@COMMON
@given(pieces=PIECES)
def test_mentions_read_alike_up_to_spaces(lark: Any, pieces: list[str]) -> None:
    raw: list[Any] = [
        {"key": "@_user_1", "id": {"open_id": "ou_bot"}, "name": "Bot", "mentioned_type": "bot"},
        {"key": "@_user_10", "id": {"open_id": "ou_ten"}, "name": "Ten"},
    ]
    text = "".join(pieces)
    assume(not re.search(r"@_all(?:@_user_1)+[x_]", text))
    ours = reader.resolve(text, reader.read_mentions(raw, "ou_bot"))
    theirs = lark.names.resolve_mentions(
        text,
        lark.names.extract_mentions(raw, "ou_bot"),
        strip_bot_mentions=True,
        bot_open_id="ou_bot",
    )
    assert "".join(ours.split()) == "".join(theirs.split())


def _ignore(event: object) -> None:
    del event


class _At(Clock):
    def now(self) -> float:
        return float(samples.NOW)


@COMMON
@given(
    body=st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    age=st.integers(-400, 400),
    flip=st.integers(3, 66) | st.none(),
)
def test_slack_signatures_are_judged_alike(body: str, age: int, flip: int | None) -> None:
    timestamp = str(samples.NOW - age)
    proof = slack_signature.sign(timestamp, body.encode(), "secret")
    if flip is not None:
        proof = proof[:flip] + ("0" if proof[flip] != "0" else "1") + proof[flip + 1 :]
    headers = {"x-slack-request-timestamp": timestamp, "x-slack-signature": proof}
    ours = slack_signature.verify(headers, body.encode(), "secret", samples.NOW) is None
    assert ours == SignatureVerifier("secret", _At()).is_valid_request(body, dict(headers))


@pytest.mark.parametrize("name", samples.names("slack"))
def test_slack_samples_are_judged_alike(name: str) -> None:
    data = samples.sample("slack", name)
    if "http" not in data:
        return
    headers = {key.lower(): value for key, value in data["http"]["headers"].items()}
    body, secret = data["http"]["body"], data["secrets"]["signing_secret"]
    ours = slack_signature.verify(headers, body.encode(), secret, samples.NOW) is None
    try:
        theirs = SignatureVerifier(secret, _At()).is_valid_request(body, dict(headers))
    except ValueError:
        theirs = False  # a timestamp that is no number
    assert ours == theirs


@pytest.mark.parametrize("name", samples.names("feishu"))
def test_feishu_samples_are_judged_alike(lark: Any, name: str) -> None:
    data = samples.sample("feishu", name)
    header = data["payload"].get("header", {})
    if "encrypted" not in data or header.get("event_type") != "im.message.receive_v1":
        return
    headers, body = data["encrypted"]["headers"], data["encrypted"]["body"].encode()
    lower = {key.lower(): value for key, value in headers.items()}
    ours = feishu_signature.verify(lower, body, KEYS, samples.NOW)
    assert isinstance(ours, Verified) is lark.accepts(headers, body)

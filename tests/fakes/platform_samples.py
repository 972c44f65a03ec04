"""Requests of the chat platforms for tests: the recorded samples, and freshly signed ones."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from connectors.feishu import signature as feishu_signature
from connectors.slack import signature as slack_signature
from handlers.settings import Settings

DATA = Path(__file__).parents[1] / "data"
NOW = 1_767_225_600
"""The clock of the samples."""

SAMPLES = Settings(
    org="org",
    feishu_encrypt_key="sample-encrypt-key-0001",
    feishu_verification_token="sampleVerificationToken01",
    slack_signing_secret="sample0signing0secret0000000001",
)
CASES = Settings(
    org="org",
    feishu_encrypt_key="case-encrypt-key",
    feishu_verification_token="case-verify-token",
    slack_signing_secret="case-signing-secret",
)


def names(platform: str) -> list[str]:
    """The names of a platform's samples."""
    return sorted(path.stem for path in (DATA / "platforms" / platform).glob("*.json"))


def sample(platform: str, name: str) -> dict[str, Any]:
    return json.loads((DATA / "platforms" / platform / f"{name}.json").read_text())


def case(platform: str, name: str) -> Any:
    return json.loads((DATA / "cases" / platform / f"{name}.json").read_text())


def event(request: dict[str, Any], path: str = "/") -> dict[str, Any]:
    """A recorded request as an API Gateway event of payload format 2.0."""
    return http(request["headers"], request["body"].encode(), request.get("path", path))


def http(headers: dict[str, str], body: bytes, path: str = "/") -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": path,
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {"http": {"method": "POST", "path": path}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def encrypted(plain: bytes, key: str, iv: bytes = b"0123456789abcdef") -> bytes:
    """A body as Feishu encrypts it."""
    pad = 16 - len(plain) % 16
    sealer = Cipher(AES(hashlib.sha256(key.encode()).digest()), CBC(iv)).encryptor()
    box = iv + sealer.update(plain + bytes([pad]) * pad) + sealer.finalize()
    return json.dumps({"encrypt": base64.b64encode(box).decode()}).encode()


def feishu(
    payload: object, settings: Settings = SAMPLES, at: int = NOW, *, signed: bool = True
) -> dict[str, Any]:
    """A signed and encrypted Feishu request; `payload` may be bytes to send them as they are."""
    plain = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    key = settings.feishu_encrypt_key
    body = encrypted(plain, key)
    headers = {"content-type": "application/json"}
    if signed:
        headers["x-lark-request-timestamp"] = str(at)
        headers["x-lark-request-nonce"] = "nonce"
        headers["x-lark-signature"] = feishu_signature.sign(str(at), "nonce", key, body)
    return http(headers, body)


def slack(
    payload: object, settings: Settings = SAMPLES, at: int = NOW, *, form: bool = False
) -> dict[str, Any]:
    """A signed Slack request; `payload` may be bytes to send them as they are."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    headers = {
        "content-type": kind,
        "x-slack-request-timestamp": str(at),
        "x-slack-signature": slack_signature.sign(str(at), body, settings.slack_signing_secret),
    }
    return http(headers, body)

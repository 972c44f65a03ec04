"""Proves that a request comes from Feishu: signature over the raw bytes, freshness, key, token.

Scheme: FEISHU.md 2.2. Stricter than the vendor's SDK on purpose: both secrets are mandatory, a
timestamp is good for 300 s, comparisons take constant time and an event without a token is refused.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from agent.domain import Json
from connectors import wire
from connectors.incoming import Refused, Verified

WINDOW = 300
"""Seconds a signature is good for, in both directions."""

_HEADERS = ("x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature")
_BLOCK = 16


@dataclass(frozen=True, slots=True)
class Keys:
    """The app's Encrypt Key and Verification Token; with either empty everything is refused."""

    encrypt_key: str = field(repr=False)
    verification_token: str = field(repr=False)


def verify(headers: Mapping[str, str], body: bytes, keys: Keys, now: float) -> Verified | Refused:
    """The payload of a request, if its sender is proven. `headers` have lower-case names.

    The address check (url_verification) may come without a signature, but only encrypted: that it
    decrypts and carries the token is its proof (case C-FS-01).
    """
    if not keys.encrypt_key or not keys.verification_token:
        return Refused("keys_missing")
    signed = any(headers.get(name) for name in _HEADERS)
    if signed and (fault := _signature_fault(headers, body, keys.encrypt_key, now)):
        return Refused(fault)
    envelope = wire.parse(body)
    if envelope is None:
        return Refused("not_json")
    box = envelope.get("encrypt")
    if box is None and not signed:
        return Refused("unsigned")
    payload = envelope if box is None else decrypt(box, keys.encrypt_key)
    if payload is None:
        return Refused("not_decrypted")
    if not _same(token_of(payload), keys.verification_token):
        return Refused("token")
    if not signed and payload.get("type") != "url_verification":
        return Refused("unsigned")
    return Verified(payload)


def sign(timestamp: str, nonce: str, key: str, body: bytes) -> str:
    """The signature of a body as it goes over the wire (still encrypted): hex SHA-256."""
    return hashlib.sha256((timestamp + nonce + key).encode("utf-8", "replace") + body).hexdigest()


def decrypt(box: Json, key: str) -> dict[str, Json] | None:
    """The JSON object in an encrypted body; None when it does not open or holds something else.

    base64(iv ‖ AES-256-CBC(PKCS#7(plain))) with sha256(key) as the AES key.
    """
    try:
        raw = base64.b64decode(box, validate=True) if isinstance(box, str) else b""
    except ValueError:
        return None
    if len(raw) < 2 * _BLOCK or len(raw) % _BLOCK:
        return None
    opener = Cipher(AES(hashlib.sha256(key.encode()).digest()), CBC(raw[:_BLOCK])).decryptor()
    plain = opener.update(raw[_BLOCK:]) + opener.finalize()
    pad = plain[-1]
    if not 1 <= pad <= _BLOCK or plain[-pad:] != bytes([pad]) * pad:
        return None
    return wire.parse(plain[:-pad])


def token_of(payload: Mapping[str, Json]) -> str:
    """The verification token: in the header of a v2 event, at the top of everything else."""
    inner = wire.members(payload.get("header")).get("token") if "schema" in payload else None
    token = payload.get("token") if inner is None else inner
    return token if isinstance(token, str) else ""


def _signature_fault(headers: Mapping[str, str], body: bytes, key: str, now: float) -> str:
    timestamp, nonce, given = (headers.get(name, "") for name in _HEADERS)
    if not _same(given, sign(timestamp, nonce, key, body)):
        return "signature"
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return "timestamp"
    return "" if abs(now - int(timestamp)) <= WINDOW else "stale"


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())

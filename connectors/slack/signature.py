"""Proves that a request comes from Slack: v0 HMAC over the raw bytes, fresh, in constant time.

Scheme: SLACK.md 2.2. What makes the vendor's helper raise (SECURITY.md M4) is refused here.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from connectors.incoming import Refused

WINDOW = 300
"""Seconds a signature is good for, in both directions."""


def verify(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> Refused | None:
    """None when the request is proven, else why it is not. `headers` have lower-case names."""
    if not secret:
        return Refused("secret_missing")
    timestamp = headers.get("x-slack-request-timestamp", "")
    given = headers.get("x-slack-signature", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return Refused("timestamp")
    if abs(now - int(timestamp)) > WINDOW:
        return Refused("stale")
    expected = sign(timestamp, body, secret).encode()
    if not hmac.compare_digest(given.encode("utf-8", "replace"), expected):
        return Refused("signature")
    return None


def sign(timestamp: str, body: bytes, secret: str) -> str:
    """The value of X-Slack-Signature for a raw body."""
    base = f"v0:{timestamp}:".encode() + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()

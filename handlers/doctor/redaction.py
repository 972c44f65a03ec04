"""Takes out of a sample what belongs to people: texts go, ids become hashes, shapes stay."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import cast

from agent.domain import Json

_KEPT = frozenset(
    (
        "chat_type",
        "channel_type",
        "element_id",
        "emoji_type",
        "entity_type",
        "error",
        "id_type",
        "message_type",
        "msg_type",
        "needed",
        "obj_type",
        "provided",
        "receive_id_type",
        "scope",
        "sender_type",
        "subtype",
        "tag",
        "token_type",
        "type",
    )
)
"""Names under which a plain word stands that the platform defines."""
_TOLD = frozenset(("msg", "error_description", "warning"))
"""Names under which the platform explains a refusal."""
_SECRET = re.compile(r"token|secret|password|ticket|cookie|authorization", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.,:\[\] -]{0,400}")
_ID = re.compile(
    r"\b(?:(?:ou|on|oc|om|omt|cli|img|file|u|t|tenant)_[A-Za-z0-9_-]{4,}|[ABCDEFGTUW][A-Z0-9]{7,}"
    r"|\d{10}\.\d{6}|\d{15,})\b"
)


class Redactor:
    """One run's redaction: the same id has the same hash, another run has another.

    Args:
        key: a random text of this run, so that no id can be found by trying.
    """

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def value(self, value: Json, name: str = "") -> Json:
        """The value without what belongs to people; `name` is the key it stands under."""
        if isinstance(value, dict):
            return {self.ids(key): self.value(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, name) for inner in value]
        return self._text(value, name) if isinstance(value, str) else value

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers that say something about limits and content."""
        kept = ("content-type", "retry-after", "x-oauth-scopes")
        return {
            name.lower(): text
            for name, text in headers.items()
            if name.lower() in kept or name.lower().startswith("x-ogw-ratelimit")
        }

    def ids(self, text: str) -> str:
        """The text with every id in it replaced by its hash."""
        return _ID.sub(lambda found: self._hashed(found[0]), text)

    def _text(self, value: str, name: str) -> str:
        if not value:
            return value
        if _SECRET.search(name) and name not in _KEPT:
            return "[removed]"
        if _ID.fullmatch(value):
            return self._hashed(value)
        if name in _TOLD or (name in _KEPT and _PLAIN.fullmatch(value)):
            return self.ids(value)
        return f"[text of {len(value)} characters]"

    def _hashed(self, value: str) -> str:
        head = re.match(r"[a-z]+_|[A-Z]|", value)
        digest = hashlib.blake2b(value.encode(), key=self._key[:64], digest_size=5).hexdigest()
        return f"{cast('re.Match[str]', head)[0]}#{digest}"

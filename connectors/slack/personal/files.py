"""The text of files that are text; of all others only what the search showed is known."""

from __future__ import annotations

from typing import Final

from connectors import wire
from connectors.personal import evidence
from connectors.slack.personal.client import Denied, UserCalls

MOST_BYTES: Final = 1_000_000
"""The longest file that is read."""
_TEXT: Final = frozenset(
    (
        "text/plain",
        "text/markdown",
        "text/x-markdown",
        "text/csv",
        "text/tab-separated-values",
        "application/json",
        "application/x-yaml",
        "text/yaml",
    )
)
_STANDING: Final = ("hosted", "snippet")


async def text_of(calls: UserCalls, ident: str) -> str:
    """A file's text.

    Raises:
        Denied: it is no text, too long, gone, not the asker's to read, or what came instead of it
            is a sign-in page.
        SignInNeeded, ScopeMissing, RateLimited, Unavailable: as every call.
    """
    info = wire.members((await calls.call("files.info", {"file": ident})).get("file"))
    mode, media = wire.name(info.get("mode")), wire.name(info.get("mimetype")).lower()
    if mode not in _STANDING or info.get("file_access") == "access_denied":
        raise Denied(f"The file is not there to be read ({mode or 'no mode'})", "mode")
    if media not in _TEXT:
        raise Denied("The file is no text", "media_type")
    if wire.whole(info.get("size")) > MOST_BYTES:
        raise Denied("The file is too long", "too_long")
    url = wire.text(info.get("url_private_download") or info.get("url_private"))
    raw, _ = await calls.download(url)
    if len(raw) > MOST_BYTES or b"\x00" in raw:
        raise Denied("The file is too long or no text", "content")
    return evidence.long_text(raw.decode("utf-8-sig", "replace"))

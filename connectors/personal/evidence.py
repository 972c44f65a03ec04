"""The evidence of a personal source: ids, likeness to the question, parts and pages of a text."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterable, Sequence
from typing import Final

from connectors.personal.keywords import terms

PAGE: Final = 6_000
"""Characters of a page at most; the knowledge base has pages of the same length."""
MOST: Final = 400_000
"""Characters of a document or a transcript that are read: about ten hours of talk."""
_TAG: Final = re.compile(r"</?(?:h|em|hb|b)>", re.IGNORECASE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff]")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`\\\x00-\x1f]{1,600}")


def source_id(prefix: str, ident: str) -> str:
    """The id under which a thing of a platform is cited, such as fd-ab12cd34ef.

    Args:
        prefix: Two letters for platform and sort of thing.
        ident: The platform's own id of the thing.
    """
    digest = hashlib.sha256(ident.encode("utf-8", "replace")).digest()
    return f"{prefix}-{b32encode(digest).decode()[:10].lower()}"


def plain(text: str) -> str:
    """A platform's text without search highlights and control characters."""
    return _CONTROL.sub(" ", _TAG.sub("", text)).strip()


def long_text(text: object) -> str:
    """A document's text as `plain` gives it; one of more than MOST characters says that it is cut.

    Anything but text gives "".
    """
    if not isinstance(text, str):
        return ""
    head = plain(text[:MOST].encode("utf-8", "replace").decode("utf-8"))
    return head if len(text) <= MOST else f"{head}\n[The text is longer; the rest is left out.]"


def line(text: str, most: int = 160) -> str:
    """The same on one line of at most so many characters."""
    words = " ".join(plain(text).split())
    return words if len(words) <= most else words[: most - 1] + "…"


def clipped(text: str, most: int) -> str:
    """The text, cut with a sign of it."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def address(url: str) -> str:
    """A web address that a platform named; "" for anything else."""
    return url if _ADDRESS.fullmatch(url) else ""


def likeness(asked: frozenset[str], text: str) -> float:
    """A score for a passage that no index rated: 0.2, plus up to 0.6 by the asked words in it.

    No figure was measured behind it; it orders passages of personal sources among each other.

    Args:
        asked: The question's words, of `keywords.terms`.
        text: The passage with its title.
    """
    share = len(asked & terms(text)) / len(asked) if asked else 0.5
    return round(0.2 + 0.6 * share, 2)


def pages(blocks: Iterable[str], most: int = PAGE) -> list[str]:
    """Blocks joined by line breaks into pages of at most `most` characters; one page at least.

    A block that is longer than a page is cut, at a blank near the end if there is one.
    """
    made: list[str] = []
    now = ""
    for block in _short(blocks, most):
        if now and len(now) + 1 + len(block) > most:
            made.append(now)
            now = block
        else:
            now = f"{now}\n{block}" if now else block
    return [*made, now] if now or not made else made


def best_pages(found: Sequence[str], asked: frozenset[str], most: int) -> list[int]:
    """The places of the pages that are most like the question, in the text's order."""
    rated = sorted(range(len(found)), key=lambda n: (-likeness(asked, found[n]), n))
    return sorted(rated[:most])


def _short(blocks: Iterable[str], most: int) -> Iterable[str]:
    for block in blocks:
        rest = block
        while len(rest) > most:
            cut = rest.rfind(" ", most - most // 10, most) + 1 or most
            yield rest[:cut].rstrip()
            rest = rest[cut:]
        yield rest

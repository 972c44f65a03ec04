"""Citation markers in an answer's markdown: `[src:a]`, `[src:a, b]`, `[src:a; src:b]`."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

_ID: Final = r"[A-Za-z0-9._-]+"
_WHOLE: Final = rf"\[src:\s*({{ids}}{_ID}(?:\s*[,;]\s*(?:src:\s*)?{_ID})*)\s*\]"
MARKER: Final = re.compile(_WHOLE.format(ids=""))
"""A whole marker; group 1 holds the ids with what stands between them."""
_BETWEEN: Final = re.compile(r"\s*[,;]\s*(?:src:\s*)?")
_CODE_OR_MARKERS: Final = re.compile(
    rf"(?P<code>^[ \t]*(?P<fence>`{{3,}}|~{{3,}})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)"
    rf"|(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=tick)(?!`))"
    rf"|(?P<space>[ \t]*){_WHOLE.format(ids='?P<ids>')}",
    re.MULTILINE | re.DOTALL,
)
CUT_OFF: Final = re.compile(r"\[src:[A-Za-z0-9._\-,; :]*\Z")
"""A marker that broke off at the end of its block."""
_CUT_OFF_END: Final = re.compile(rf"[ \t]*{CUT_OFF.pattern}")
NO_ANSWER: Final = "[no-answer]"
"""What a refusal starts with."""


def marker_ids(body: str) -> tuple[str, ...]:
    """The ids of a marker's body (group 1 of `MARKER`)."""
    return tuple(_BETWEEN.split(body))


def is_refusal(text: str) -> bool:
    """Whether the model said that it has no answer: the text starts with `[no-answer]`."""
    return text.lstrip().startswith(NO_ANSWER)


def without_refusal(text: str) -> str:
    """The text without the refusal marker and the space at its start."""
    return text.lstrip().removeprefix(NO_ANSWER).lstrip()


def cited(text: str, known_ids: Container[str]) -> tuple[str, tuple[str, ...]]:
    """Keep the markers that name a known source.

    Args:
        text: the model's markdown. A refusal marker is left alone; markers in code are code.
        known_ids: the ids that may be cited.

    Returns:
        The text with resolved markers only (several ids become several markers; an unknown id goes
        with the space before it), and the cited ids in order of first appearance.
    """
    order: dict[str, None] = {}

    def keep(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        ids = [i for i in marker_ids(match["ids"]) if i in known_ids]
        order.update(dict.fromkeys(ids))
        return match["space"] + "".join(f"[src:{i}]" for i in ids) if ids else ""

    cut_off = text.rfind("[src:") > text.rfind("]")
    clean = _CUT_OFF_END.sub("", text) if cut_off else text
    while True:
        order.clear()
        before, clean = clean, _CODE_OR_MARKERS.sub(keep, clean)
        if clean == before:  # a marker that went may have made another of what stood around it
            return clean, tuple(order)

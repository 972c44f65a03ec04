"""What known models can do, by their names; an operator's own lines come first."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from agent.dialogue import Capability
from agent.errors import Misconfigured

_KNOWN: tuple[tuple[str, bool, bool, int], ...] = (
    # pattern, tools, images, window in tokens; the first that fits counts
    ("*claude*", True, True, 200_000),
    ("gpt-4.1*", True, True, 1_047_576),
    ("gpt-4o*", True, True, 128_000),
    ("gpt-5*", True, True, 400_000),
    ("o[134]*", True, True, 200_000),
    ("*deepseek*", True, False, 128_000),
    ("*qwen*vl*", True, True, 128_000),
    ("*qwen*", True, False, 128_000),
    ("*glm-*v*", True, True, 64_000),
    ("*glm-*", True, False, 128_000),
    ("*kimi*", True, False, 128_000),
    ("*llava*", False, True, 32_000),
    ("*llama*vision*", False, True, 128_000),
    ("*llama*", True, False, 128_000),
    ("*mistral*", True, False, 128_000),
    ("*gemma*", False, True, 128_000),
    ("*gemini*", True, True, 1_000_000),
)
"""From the vendors' model pages as remembered; the smaller figure where a family differs."""

_UNKNOWN = (True, False, 32_000)
"""What is asked of a model nobody described: it calls tools, it sees nothing, it is small."""

_SMALLEST = 1_000
_SETTING = "PLUMBLINE_MODEL_CAPABILITIES"


def capability(model: str, own: str = "") -> Capability:
    """What the model can do.

    Args:
        model: Its name, as the service knows it; upper and lower case are the same.
        own: The operator's lines, separated by `;`: a name or pattern, a colon, and what differs,
            as in `qwen3-max*: window=262144; house-model: images=yes tools=no`.

    Raises:
        Misconfigured: a line of `own` can not be read.
    """
    name = model.lower()
    tools, images, window = next(
        ((t, i, w) for pattern, t, i, w in _KNOWN if fnmatchcase(name, pattern)), _UNKNOWN
    )
    about = Capability(model, tools, images, window)
    for line in own.split(";"):
        pattern, _, words = line.rpartition(":")
        if not line.strip():
            continue
        if not pattern.strip():
            raise Misconfigured(f"{_SETTING}: {line.strip()!r} names no model before a colon.")
        changed = _changed(about, words)
        if fnmatchcase(name, pattern.strip().lower()):
            about = changed
    return about


def _changed(about: Capability, words: str) -> Capability:
    for word in words.replace(",", " ").split():
        name, _, value = word.partition("=")
        if name == "window" and value.isascii() and value.isdigit() and int(value) >= _SMALLEST:
            about = replace(about, window=int(value))
        elif name == "tools" and value in ("yes", "no"):
            about = replace(about, tools=value == "yes")
        elif name == "images" and value in ("yes", "no"):
            about = replace(about, images=value == "yes")
        else:
            raise Misconfigured(
                f"{_SETTING}: {word!r} is none of tools=yes|no, images=yes|no and window=TOKENS"
                f" (from {_SMALLEST})."
            )
    return about

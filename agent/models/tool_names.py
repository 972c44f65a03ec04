"""Tool names as vendors take them, and the way back to our own (case C-AG-10)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LONGEST = 64
"""The vendors' common rule: ^[a-zA-Z0-9_-]{1,64}$."""

_GOOD = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_BAD = re.compile(r"[^a-zA-Z0-9_-]+")
_DIGITS = 8


class ToolNames:
    """The names of one request's tools, each advertised under a name that is allowed and unique.

    A good name stays as it is. Another gets its bad characters replaced and ends in a hash of
    itself, so that it is the same on every start whatever else is advertised.
    """

    __slots__ = ("_back", "_out")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._out: dict[str, str] = {}
        self._back: dict[str, str] = {}
        for name in sorted(names, key=lambda n: _GOOD.fullmatch(n) is None):
            made, salt = _advertised(name), 0
            while self._back.setdefault(made, name) != name:
                salt += 1
                made = _advertised(name, str(salt))
            self._out[name] = made

    def advertised(self, name: str) -> str:
        """What a vendor is told; also of a name that only the history knows."""
        return self._out.get(name) or _advertised(name)

    def original(self, advertised: str) -> str:
        """Our name behind an advertised one; an unknown one as it is."""
        return self._back.get(advertised, advertised)


def _advertised(name: str, salt: str = "") -> str:
    if not salt and _GOOD.fullmatch(name):
        return name
    mark = hashlib.sha256((name + salt).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{_BAD.sub('_', name)[: LONGEST - _DIGITS - 1]}_{mark}"

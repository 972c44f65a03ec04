"""Takes a model's thoughts out of the beginning of its text, where some servers leave them."""

from __future__ import annotations

from dataclasses import dataclass

_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(slots=True)
class Thoughts:
    """Lets the words after a leading `<think>…</think>` through as they come.

    Only the very beginning counts: later in a text the tags are words like any other.
    """

    _state: str = "start"
    _held: str = ""

    def spoken(self, text: str) -> str:
        """What of the next piece is meant for the reader."""
        if self._state == "said":
            return text
        self._held += text
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._state = "thinking"
            elif not _OPEN.startswith(begun):
                return self._release(self._held)
            else:
                return ""
        _, closed, after = self._held.partition(_CLOSE)
        return self._release(after.lstrip()) if closed else ""

    def rest(self) -> str:
        """What was held back when the text ends; thoughts that never closed are no words."""
        return self._release(self._held) if self._state == "start" else ""

    def _release(self, text: str) -> str:
        self._state, self._held = "said", ""
        return text

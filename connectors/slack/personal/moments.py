"""Days and moments as Slack's search takes them and as a person reads them; a day is one of UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from agent.errors import BadArguments
from agent.values import value

_LAST: Final = 1e11


@value
class Span:
    """From one moment to before another, in whole seconds since the epoch; 0 is an open end."""

    after: int = 0
    before: int = 0

    def form(self) -> dict[str, str]:
        """The bounds as Slack's search takes them; open ends are left out."""
        ends = (("after", self.after), ("before", self.before))
        return {name: str(moment) for name, moment in ends if moment}


def span(since: str, until: str) -> Span:
    """The span of two days, both included; "" is an open end.

    Raises:
        BadArguments: one is no date like 2026-11-30, or they are the wrong way round.
    """
    first, last = _day("since", since), _day("until", until)
    if first and last and last < first:
        raise BadArguments("until is a day before since")
    return Span(_midnight(first), _midnight(last + timedelta(days=1) if last else None))


def day(moment: float) -> str:
    """The ISO date of a moment; "" for 0 (not known)."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat() if 0 < moment < _LAST else ""


def clock_time(moment: float) -> str:
    """Date and minute of a moment, such as 2026-11-30 09:00; "" for 0."""
    known = 0 < moment < _LAST
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M") if known else ""


def _day(name: str, given: str) -> date | None:
    if not given.strip():
        return None
    try:
        found = date.fromisoformat(given.strip()[:10])
    except ValueError as error:
        raise BadArguments(f"{name} is a date like 2026-11-30, not {given[:40]!r}") from error
    if not 1990 <= found.year <= 2200:
        raise BadArguments(f"{name} is a date like 2026-11-30, not {given[:40]!r}")
    return found


def _midnight(when: date | None) -> int:
    return int(datetime(when.year, when.month, when.day, tzinfo=UTC).timestamp()) if when else 0

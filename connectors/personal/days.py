"""Days that a model names and moments that a person reads, in the zone of a platform."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from agent.errors import BadArguments
from agent.values import value

_LAST: Final = 1e11


@value
class Span:
    """From one moment to before another, in seconds since the epoch; None is an open end."""

    start: float | None = None
    end: float | None = None


def span(since: str, until: str, zone: tzinfo) -> Span:
    """The span of two days of the zone, both included; "" is an open end.

    Raises:
        BadArguments: one is no date like 2026-11-30, or they are the wrong way round.
    """
    first, last = _day("since", since), _day("until", until)
    if first and last and last < first:
        raise BadArguments("until is a day before since")
    return Span(
        _midnight(first, zone) if first else None,
        _midnight(last + timedelta(days=1), zone) if last else None,
    )


def day(moment: float, zone: tzinfo) -> str:
    """The ISO date of a moment; "" for 0 (not known)."""
    return datetime.fromtimestamp(moment, zone).date().isoformat() if 0 < moment < _LAST else ""


def clock_time(moment: float, zone: tzinfo) -> str:
    """Date and minute of a moment, such as 2026-11-30 09:00; "" for 0."""
    known = 0 < moment < _LAST
    return datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M") if known else ""


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


def _midnight(when: date, zone: tzinfo) -> float:
    return datetime(when.year, when.month, when.day, tzinfo=zone).timestamp()

"""Days and moments as Feishu's searches take them and as a person reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final

from agent.domain import Json
from agent.errors import BadArguments
from agent.values import value
from connectors import wire

ZONE: Final = timezone(timedelta(hours=8))
"""The platform's own zone: a day that the model names is one there, and times are shown in it."""
_MILLIS: Final = 1e11
"""A time above this is in milliseconds; search answers give seconds, messages milliseconds."""


@value
class Span:
    """From one moment to before another, in seconds since the epoch; None is an open end."""

    start: float | None = None
    end: float | None = None

    def bounds(self) -> dict[str, Json]:
        """The span as start_time and end_time in ISO 8601; open ends are left out."""
        ends = (("start_time", self.start), ("end_time", self.end))
        return {name: iso(moment) for name, moment in ends if moment is not None}


def span(since: str, until: str) -> Span:
    """The span of two days, both included; "" is an open end.

    Raises:
        BadArguments: one is no date like 2026-11-30, or they are the wrong way round.
    """
    first, last = _day("since", since), _day("until", until)
    if first and last and last < first:
        raise BadArguments("until is a day before since")
    return Span(
        _midnight(first) if first else None,
        _midnight(last + timedelta(days=1)) if last else None,
    )


def iso(moment: float) -> str:
    """A moment with its zone, such as 2026-11-30T09:00:00+08:00."""
    return datetime.fromtimestamp(moment, ZONE).isoformat(timespec="seconds")


def day(moment: float) -> str:
    """The ISO date of a moment; "" for 0 (not known)."""
    return datetime.fromtimestamp(moment, ZONE).date().isoformat() if moment else ""


def clock_time(moment: float) -> str:
    """Date and minute of a moment, such as 2026-11-30 09:00."""
    return datetime.fromtimestamp(moment, ZONE).strftime("%Y-%m-%d %H:%M")


def seconds(given: Json) -> float:
    """A time of the platform in seconds since the epoch; 0.0 for what is none."""
    moment = float(wire.whole(given)) or wire.seconds(given)
    moment = moment / 1000 if moment > _MILLIS else moment
    return moment if moment < _MILLIS else 0.0


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


def _midnight(when: date) -> float:
    return datetime(when.year, when.month, when.day, tzinfo=ZONE).astimezone(UTC).timestamp()

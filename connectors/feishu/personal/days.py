"""Days and moments as Feishu's searches take them and as a person reads them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Final

from agent.domain import Json
from connectors import wire
from connectors.personal import days
from connectors.personal.days import Span

ZONE: Final = timezone(timedelta(hours=8))
"""The platform's own zone: a day that the model names is one there, and times are shown in it."""
_MILLIS: Final = 1e11
"""A time above this is in milliseconds; search answers give seconds, messages milliseconds."""


def bounds(span_: Span) -> dict[str, Json]:
    """The span as start_time and end_time in ISO 8601; open ends are left out."""
    ends = (("start_time", span_.start), ("end_time", span_.end))
    return {name: iso(moment) for name, moment in ends if moment is not None}


def span(since: str, until: str) -> Span:
    """The span of two days as connectors/personal/days.py reads them."""
    return days.span(since, until, ZONE)


def iso(moment: float) -> str:
    """A moment with its zone, such as 2026-11-30T09:00:00+08:00."""
    return datetime.fromtimestamp(moment, ZONE).isoformat(timespec="seconds")


def day(moment: float) -> str:
    """The ISO date of a moment; "" for 0 (not known)."""
    return days.day(moment, ZONE)


def clock_time(moment: float) -> str:
    """Date and minute of a moment, such as 2026-11-30 09:00."""
    return days.clock_time(moment, ZONE)


def seconds(given: Json) -> float:
    """A time of the platform in seconds since the epoch; 0.0 for what is none."""
    moment = float(wire.whole(given)) or wire.seconds(given)
    moment = moment / 1000 if moment > _MILLIS else moment
    return moment if moment < _MILLIS else 0.0

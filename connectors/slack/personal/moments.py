"""Days and moments as Slack's search takes them and as a person reads them; a day is one of UTC."""

from __future__ import annotations

from datetime import UTC

from connectors.personal import days
from connectors.personal.days import Span


def bounds(span_: Span) -> dict[str, str]:
    """The bounds as Slack's search takes them, in whole seconds; open ends are left out."""
    ends = (("after", span_.start), ("before", span_.end))
    return {name: str(int(moment)) for name, moment in ends if moment is not None}


def span(since: str, until: str) -> Span:
    """The span of two days as connectors/personal/days.py reads them."""
    return days.span(since, until, UTC)


def day(moment: float) -> str:
    """The ISO date of a moment; "" for 0 (not known)."""
    return days.day(moment, UTC)


def clock_time(moment: float) -> str:
    """Date and minute of a moment, such as 2026-11-30 09:00; "" for 0."""
    return days.clock_time(moment, UTC)

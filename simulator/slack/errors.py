"""Refusals of the Slack Web API: ok false with an error name (SLACK.md section 7)."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class SlackError(Exception):
    """A refused call; HTTP status 200 unless it is a rate limit."""

    error: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


def rate_limited(wait: float) -> SlackError:
    """Too many calls; wait is seconds until the next may pass."""
    return SlackError("ratelimited", 429, {"Retry-After": str(max(1, int(wait + 0.999)))})


def invalid(what: str) -> SlackError:
    """An argument is missing or wrong."""
    return SlackError(
        "invalid_arguments", extra={"response_metadata": {"messages": [f"[ERROR] {what}"]}}
    )

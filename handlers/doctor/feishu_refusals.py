"""What a refusal of Feishu means to an operator, and what to do about it (FEISHU.md 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from connectors.web import part
from handlers.doctor.caller import Answer, Body
from handlers.doctor.probe import Declined

CONSOLE: Final = "Developer console"
_SCOPE_CODES: Final = (99991672, 99991676, 99991679)
_STEPS: Final[Mapping[int, str]] = {
    10003: "Check PLUMBLINE_FEISHU_APP_ID.",
    10014: "Check PLUMBLINE_FEISHU_APP_SECRET.",
    99991543: "Check PLUMBLINE_FEISHU_APP_ID and PLUMBLINE_FEISHU_APP_SECRET.",
    99991662: f"{CONSOLE}: enable the app.",
    99991673: f"{CONSOLE}: create a version and have it released in the tenant.",
    230002: "Add the bot to the chat that --chat names.",
    230006: f"{CONSOLE} > Features: switch the bot capability on, then release a version.",
    99991668: "The person's token is too old or not one: get a new one.",
    99991677: "The person's token is too old: get a new one.",
}


def by_rule(refusal: Declined) -> str:
    """The code of a refusal that was hoped for; one for want of a scope says nothing."""
    if refusal.reason in map(str, _SCOPE_CODES):
        raise refusal
    return refusal.reason


def good(answer: Answer) -> Body:
    """The body of an answer that is no refusal.

    Raises:
        Declined: the platform said no.
    """
    code = answer.body.get("code", 0 if answer.body else -1)
    if not code and answer.status < 400:
        return answer.body
    if not answer.body:
        raise Declined(
            f"HTTP {answer.status} without JSON",
            str(answer.status),
            "Check PLUMBLINE_FEISHU_BASE_URL: https://open.feishu.cn or https://open.larksuite.com",
        )
    if scopes := _scopes(answer.body):
        raise Declined(
            f"code {code}: the scope {scopes} is missing",
            str(code),
            f"{CONSOLE} > Permissions & Scopes: add {scopes}, then release a new version.",
        )
    step = _STEPS.get(code, f"Look up code {code} in the platform's error list.")
    raise Declined(f"HTTP {answer.status}, code {code}", str(code), step)


def _scopes(body: Body) -> str:
    """The scopes that a refusal names, "" when it is about something else."""
    if body.get("code") not in _SCOPE_CODES:
        return ""
    violations: list[Body] = part(body, "error").get("permission_violations") or []
    named = [str(one.get("subject")) for one in violations if one.get("subject")]
    return " or ".join(named) or "it needs (the answer names none)"

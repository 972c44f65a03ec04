"""What a person can see in Slack, as tools: messages, files and canvases, read as that person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from agent.ports import Clock, Tool
from connectors.access import Access, SearchBudget
from connectors.slack.personal import docs, messages, minutes
from connectors.slack.personal.kit import Kit
from connectors.slack.personal.search import Public
from connectors.web import new_client

if TYPE_CHECKING:
    import httpx

SCOPES: Mapping[str, tuple[str, ...]] = {
    "messages": messages.SCOPES,
    "docs": docs.SCOPES,
    "minutes": minutes.SCOPES,
}
"""The user scopes that each kind of source needs."""


def build_tools(
    access: Access,
    base_url: str,
    clock: Clock,
    budget: SearchBudget,
    hints: Mapping[str, str],
    bot_token: str = "",
    connect: Callable[[str], httpx.AsyncClient] = new_client,
) -> Mapping[str, tuple[Tool, ...]]:
    """The tools of one asker by the kinds that a person can switch off.

    Args:
        access: The asker's own access. Without a token each tool raises SignInNeeded, except that
            public channels are searched when the event carried a token for that.
        base_url: Address of the Web API, ending in /api/.
        clock: Time.
        budget: The searches that are left in this turn, shared by all tools.
        hints: What came with the event; `action_token` permits a search of public channels.
        bot_token: The bot's token. It is used for that one search and for nothing else.
        connect: Makes an HTTP client of an address; each tool call has one of its own.
    """
    public = Public(bot_token, hints.get("action_token", ""))
    kit = Kit(access, base_url, clock, budget, public, partial(connect, base_url))
    return {
        "messages": (messages.search_tool(kit),),
        "docs": docs.tools(kit),
        "minutes": minutes.tools(kit),
    }

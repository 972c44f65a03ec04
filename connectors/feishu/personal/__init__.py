"""What a person can see in Feishu, as tools: chats, documents and minutes, read as that person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from agent.ports import Clock, Tool
from connectors.access import Access, SearchBudget
from connectors.feishu.personal import docs, messages, minutes
from connectors.feishu.personal.kit import Kit
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
    connect: Callable[[str], httpx.AsyncClient] = new_client,
) -> Mapping[str, tuple[Tool, ...]]:
    """The tools of one asker by the kinds that a person can switch off.

    Args:
        access: The asker's own access; without a token each tool raises SignInNeeded.
        base_url: Origin of the API.
        clock: Time.
        budget: The searches that are left in this turn, shared by all tools.
        connect: Makes an HTTP client of an origin; each tool call has one of its own.
    """
    kit = Kit(access, base_url, clock, budget, partial(connect, base_url))
    return {
        "messages": (messages.search_tool(kit),),
        "docs": docs.tools(kit),
        "minutes": minutes.tools(kit),
    }

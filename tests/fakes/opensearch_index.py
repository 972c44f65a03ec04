"""An index of its own on a real node, removed with the test."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.stores.system_clock import RandomIds, SystemClock
from rag.opensearch.index import OpenSearchIndex, open_index
from rag.opensearch.target import Target


@asynccontextmanager
async def opensearch_index(url: str) -> AsyncGenerator[OpenSearchIndex]:
    """An organisation's index that nobody else has."""
    made = open_index(Target(url), f"test-{RandomIds().new().lower()}", SystemClock())
    try:
        yield made
    finally:
        await made.server.call("DELETE", f"/{made.alias}-*", missing=True)
        await made.aclose()

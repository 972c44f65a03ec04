"""The index behind an alias: found, made with the first document, replaced when it is empty."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

from rag.opensearch import queries
from rag.opensearch.entries import CHUNK
from rag.opensearch.mapping import (
    Generation,
    check_generation,
    generation_name,
    generation_of,
    index_body,
)
from rag.opensearch.server import IndexRefused, Server

_PAGE = 500
_EXISTS = "resource_already_exists_exception"


async def current(server: Server, alias: str) -> Generation | None:
    """What stands behind an alias; None for nothing.

    Raises:
        IndexMismatch: it is none of ours.
    """
    answer = await server.call("GET", f"/{alias}/_mapping", missing=True)
    for name, mapping in answer.items():
        return generation_of(name, mapping)
    return None


async def claim(
    server: Server, alias: str, embedder: str, dimensions: int, *, serverless: bool
) -> None:
    """Make sure that there is an index for vectors of this embedder, a new one if it is empty.

    Raises:
        IndexMismatch: the index holds passages of another embedder or format.
    """
    found = await current(server, alias)
    if found is None:
        first = Generation(generation_name(alias, 1), embedder, dimensions)
        await _create_first(server, alias, first, serverless=serverless)
        found = await current(server, alias) or first
    if found == Generation(found.name, embedder, dimensions):
        return
    if await _holds_chunks(server, found.name):
        check_generation(found, embedder, dimensions)
    following = next_generation(found, embedder, dimensions)
    await create(server, following, serverless=serverless)
    await swap(server, alias, found, following)
    await drop(server, found)


def next_generation(found: Generation, embedder: str, dimensions: int) -> Generation:
    """What follows an index."""
    alias = found.name.rpartition("-")[0]
    return Generation(generation_name(alias, found.number + 1), embedder, dimensions)


async def create(server: Server, generation: Generation, *, serverless: bool) -> None:
    """Make an index behind no alias, in place of what broke off under its name."""
    await drop(server, generation)
    await _create(server, generation, serverless=serverless)


async def _create_first(server: Server, alias: str, first: Generation, *, serverless: bool) -> None:
    """Make the first index and its alias, which comes last: nobody is to meet one not yet ready."""
    try:
        await _create(server, first, serverless=serverless)
    except IndexRefused as refusal:
        if _EXISTS not in str(refusal):
            raise
        if not serverless:  # somebody else makes it at this moment
            await server.call("GET", f"/_cluster/health/{first.name}?wait_for_status=yellow")
    add = {"add": {"index": first.name, "alias": alias}}
    await server.call("POST", "/_aliases", {"actions": [add]})


async def _create(server: Server, generation: Generation, *, serverless: bool) -> None:
    body = index_body(generation, serverless=serverless)
    await server.call("PUT", f"/{generation.name}", body)


async def swap(server: Server, alias: str, old: Generation, new: Generation) -> None:
    """Let the alias stand for another index from one moment to the next; the old one stays."""
    actions = [
        {"add": {"index": new.name, "alias": alias}},
        {"remove": {"index": old.name, "alias": alias}},
    ]
    await server.call("POST", "/_aliases", {"actions": actions})


async def drop(server: Server, generation: Generation) -> None:
    """Remove an index; one that is gone is no error."""
    await server.call("DELETE", f"/{generation.name}", missing=True)


async def scan(
    server: Server,
    index: str,
    conditions: Sequence[queries.Query],
    shown: Sequence[str],
) -> AsyncGenerator[dict[str, Any]]:
    """Every entry that fulfils the conditions, page by page, by source and position."""
    after: list[Any] = []
    while True:
        body = queries.page(conditions, shown, _PAGE, after)
        answer = await server.call("POST", f"/{index}/_search", body, missing=True)
        hits = cast("list[dict[str, Any]]", answer["hits"]["hits"]) if answer else []
        for hit in hits:
            yield hit
        if len(hits) < _PAGE:
            return
        after = hits[-1]["sort"]


async def _holds_chunks(server: Server, index: str) -> bool:
    body = {"size": 0, "query": {"term": {"part": CHUNK}}, "terminate_after": 1}
    answer = await server.call("POST", f"/{index}/_search", body)
    return int(answer["hits"]["total"]["value"]) > 0

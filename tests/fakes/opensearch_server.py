"""An OpenSearch server that answers bulk requests by a script and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rag.opensearch.server import Answer, Body

Verdict = Callable[[str, int], tuple[int, str]]
"""Id of an entry and number of the request, from 1, to a status and the kind of its error."""


class BulkServer:
    """Counts requests; `verdict` decides about each write."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self.requests: list[list[str]] = []
        self.sizes: list[int] = []

    async def call(
        self, method: str, path: str, body: Body | None = None, *, missing: bool = False
    ) -> Answer:
        assert (method, path) == ("POST", "/i/_bulk")
        assert isinstance(body, str)
        lines = [json.loads(line) for line in body.splitlines()]
        heads: list[dict[str, Any]] = [x for x in lines if {"index", "update", "delete"} & {*x}]
        self.requests.append([next(iter(head.values()))["_id"] for head in heads])
        self.sizes.append(len(body.encode()))
        return {"items": [self._told(head) for head in heads]}

    def _told(self, head: dict[str, Any]) -> dict[str, Any]:
        ((verb, about),) = head.items()
        status, kind = self._verdict(about["_id"], len(self.requests))
        error = {"error": {"type": kind, "reason": f"because {kind}"}} if kind else {}
        return {verb: {"_id": about["_id"], "status": status, **error}}

    async def aclose(self) -> None:
        return

"""Slack as a person reads it: each method has an answer, and every request is kept.

`script` holds answers that are given first, in order, to the method it is keyed by, `always` one
for all of them; an Authorization header in `dead` is refused.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import parse_qsl

import httpx

from agent.domain import Identity
from agent.ports import Tool, ToolResult
from connectors.access import SearchBudget
from connectors.slack.personal import SCOPES, build_tools
from tests.fakes.access import FixedAccess
from tests.fakes.clock import FakeClock

Json = dict[str, Any]
ALL_SCOPES = frozenset(scope for scopes in SCOPES.values() for scope in scopes)
ASKER = Identity("org", "slack", "A0X", "T0X", "U0ASKER001")
BASE = "https://slack.example/api/"
AT = 1_764_000_000


def fine(**more: object) -> httpx.Response:
    """A good answer."""
    return httpx.Response(200, json={"ok": True, **more})


def refused(error: str, status: int = 200, **more: object) -> httpx.Response:
    """A refusal by name."""
    return httpx.Response(status, json={"ok": False, "error": error, **more})


def limited(seconds: str) -> httpx.Response:
    """Too many calls."""
    return httpx.Response(429, json={"ok": False}, headers={"Retry-After": seconds})


def hit(n: int, text: str, channel: str = "C0EDGE0001", **more: object) -> Json:
    """A message as the search gives it, said n seconds after AT."""
    ts = f"{AT + n}.000100"
    return {
        "author_user_id": "U0BAO00001",
        "author_name": "bao",
        "channel_id": channel,
        "channel_name": "eng",
        "message_ts": ts,
        "content": text,
        "is_author_bot": False,
        "permalink": f"https://x.slack.com/archives/{channel}/p{ts.replace('.', '')}",
        **more,
    }


def file(ident: str, title: str, kind: str = "canvas", content: str = "an excerpt") -> Json:
    """A file as the search gives it."""
    return {
        "file_id": ident,
        "title": title,
        "file_type": kind,
        "date_updated": AT,
        "content": content,
        "permalink": f"https://x.slack.com/docs/T0X/{ident}",
    }


def found(messages: tuple[Json, ...] = (), files: tuple[Json, ...] = ()) -> httpx.Response:
    """An answer of the search."""
    return fine(results={"messages": list(messages), "files": list(files)})


class ReadSlack:
    """The tools of one turn against answers that a test gives."""

    def __init__(self, spares: tuple[str, ...] = (), searches: int = 2, **hints: str) -> None:
        self.access = FixedAccess(ASKER, "xoxp-first", ALL_SCOPES, list(spares))
        self.clock = FakeClock()
        self.budget = SearchBudget(searches)
        self.script: dict[str, list[httpx.Response]] = {}
        self.always: dict[str, httpx.Response] = {
            "assistant.search.info": fine(is_ai_search_enabled=False),
            "assistant.search.context": found(),
        }
        self.dead: set[str] = set()
        self.requests: list[httpx.Request] = []
        built = build_tools(
            self.access, BASE, self.clock, self.budget, hints, "xoxb-bot", self._connect
        )
        self.tools: dict[str, Tool] = {t.spec.name: t for kind in built.values() for t in kind}

    @property
    def counts(self) -> Counter[str]:
        """How often each method was called."""
        return Counter(_method(request) for request in self.requests)

    @property
    def tokens(self) -> list[str]:
        """The Authorization headers in order."""
        return [request.headers["authorization"] for request in self.requests]

    def forms(self, method: str) -> list[dict[str, str]]:
        """The arguments of a method's calls."""
        made = [r for r in self.requests if _method(r) == method]
        return [dict(parse_qsl(r.content.decode())) for r in made]

    async def call(self, name: str, query: str = "cache TTL", **more: Any) -> ToolResult:
        """Call a tool."""
        return await self.tools[name].call({"query": query, **more})

    def _connect(self, base_url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=base_url, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.headers["authorization"] in self.dead:
            return refused("token_expired")
        method = _method(request)
        if script := self.script.get(method):
            return script.pop(0)
        return self.always.get(method) or refused("unknown_method")


def _method(request: httpx.Request) -> str:
    return request.url.path.rpartition("/")[2]

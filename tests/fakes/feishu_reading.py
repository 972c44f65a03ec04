"""Feishu as a person reads it, answered from the recorded samples; every request is kept.

`script` holds answers that are given first, in order, to the calls whose name it is keyed by,
`always` one for all of them; an Authorization header in `dead` is refused.
"""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from agent.domain import Identity
from agent.ports import Tool
from connectors.access import SearchBudget
from connectors.feishu.personal import SCOPES, build_tools
from tests.fakes.access import FixedAccess
from tests.fakes.clock import FakeClock

Json = dict[str, Any]
SAMPLES = Path(__file__).parents[1] / "data" / "platforms" / "feishu_api"
ALL_SCOPES = frozenset(scope for scopes in SCOPES.values() for scope in scopes)
ASKER = Identity("org", "feishu", "cli_x", "tenant_x", "ou_a11ce00000000000000000000000000a1")
_NAMES = (
    ("message.search", r"im/v1/messages/search", "message_search"),
    ("message.mget", r"im/v1/messages/mget", ""),
    ("message.list", r"im/v1/messages", ""),
    ("chat.search", r"im/v1/chats/search", ""),
    ("chat.members", r"im/v1/chats/[^/]+/members", ""),
    ("chat.get", r"im/v1/chats/[^/]+", ""),
    ("docs.search", r"search/v2/doc_wiki/search", "doc_wiki_search"),
    ("docs.auth", r"drive/v1/permissions/[^/]+/members/auth", "drive_permission_auth"),
    ("docs.markdown", r"docs/v1/content", ""),
    ("docs.raw", r"docx/v1/documents/[^/]+/raw_content", "docx_raw_content"),
    ("wiki.node", r"wiki/v2/spaces/get_node", "wiki_get_node"),
    ("minutes.search", r"minutes/v1/minutes/search", "minutes_search"),
    ("minutes.artifacts", r"minutes/v1/minutes/[^/]+/artifacts", "minutes_artifacts"),
    ("minutes.transcript", r"minutes/v1/minutes/[^/]+/transcript", "minutes_transcript"),
    ("minutes.get", r"minutes/v1/minutes/[^/]+", ""),
)
CHAT = "oc_9f00000000000000000000000000cafe"
FOUND = "om_00000000000000000000000000child1"


def sample(name: str) -> httpx.Response:
    """The recorded answer api_NAME.json."""
    told = json.loads((SAMPLES / f"api_{name}.json").read_text("utf-8"))["response"]
    if "body_text" in told:
        return httpx.Response(told["status"], text=told["body_text"], headers=told["headers"])
    return httpx.Response(told["status"], json=told["body"], headers=told["headers"])


def fine(data: Json) -> httpx.Response:
    """A good answer with this data."""
    return httpx.Response(200, json={"code": 0, "msg": "success", "data": data})


def refused(code: int, status: int = 400) -> httpx.Response:
    """A refusal with this code."""
    return httpx.Response(status, json={"code": code, "msg": "sample text"})


def said(ident: str, text: str, at: float, **more: object) -> Json:
    """A message as mget and list give it."""
    return {
        "message_id": ident,
        "msg_type": "text",
        "create_time": str(int(at * 1000)),
        "chat_id": CHAT,
        "sender": {"id": "ou_b0b", "id_type": "open_id", "sender_type": "user"},
        "body": {"content": json.dumps({"text": text})},
        **more,
    }


class ReadFeishu:
    """Answers each call from its sample, or from `script`, or with empty data."""

    def __init__(self, searches: int = 3, spares: tuple[str, ...] = ()) -> None:
        self.clock = FakeClock(1_767_225_600.0)
        self.access = FixedAccess(ASKER, "u-first", ALL_SCOPES, list(spares))
        self.budget = SearchBudget(searches)
        self.requests: list[tuple[str, httpx.Request]] = []
        self.clients = 0
        self.script: dict[str, list[httpx.Response | Exception]] = {}
        self.dead: set[str] = set()
        self.always: dict[str, httpx.Response] = {}

    @property
    def tools(self) -> dict[str, Tool]:
        """Fresh tools by name, as a turn has them."""
        made = build_tools(self.access, "https://f.test", self.clock, self.budget, self.connect)
        return {t.spec.name: t for tools in made.values() for t in tools}

    @property
    def counts(self) -> Counter[str]:
        """How often each call was made."""
        return Counter(name for name, _ in self.requests)

    @property
    def tokens(self) -> list[str]:
        """The Authorization headers in order."""
        return [request.headers["authorization"] for _, request in self.requests]

    def bodies(self, name: str) -> list[Json]:
        """The bodies of the calls of one name."""
        return [json.loads(request.content) for called, request in self.requests if called == name]

    def queries(self, name: str) -> list[dict[str, str]]:
        """The query parameters of the calls of one name, several values joined by commas."""
        all_params = [r.url.params for called, r in self.requests if called == name]
        return [{key: ",".join(p.get_list(key)) for key in p} for p in all_params]

    def connect(self, base_url: str = "https://f.test") -> httpx.AsyncClient:
        """A client of this platform."""
        self.clients += 1
        return httpx.AsyncClient(
            transport=httpx.MockTransport(self._handle), base_url=base_url, trust_env=False
        )

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0)  # calls that are made at once are under way at once
        path = request.url.path.removeprefix("/open-apis/")
        name, recorded = next((n, s) for n, p, s in _NAMES if re.fullmatch(p, path))
        self.requests.append((name, request))
        if request.headers["authorization"] in self.dead:
            return sample("user_token_invalid")
        if self.script.get(name):
            answer = self.script[name].pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        if name in self.always:
            kept = self.always[name]
            return httpx.Response(kept.status_code, content=kept.content, headers=kept.headers)
        if recorded:
            return sample(recorded)
        if name == "message.mget":
            idents = request.url.params.get_list("message_ids")
            return fine({"items": [said(i, f"words of {i}", 1_767_225_000) for i in idents]})
        return fine({})

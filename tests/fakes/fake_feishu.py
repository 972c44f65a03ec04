"""A Feishu API in memory: tokens, replies and cards with their sequence, lifetime and limits.

`script` holds answers that are given instead, in order, to calls whose name it is keyed by.
"""

import json
import re
from typing import Any

import httpx

from connectors.feishu.api import FeishuApi
from tests.fakes.clock import FakeClock

Answer = tuple[int, dict[str, Any] | str]
_NAMES = (
    ("token", r"/open-apis/auth/v3/tenant_access_token/internal"),
    ("reply", r"/open-apis/im/v1/messages/[^/]+/reply"),
    ("react", r"/open-apis/im/v1/messages/[^/]+/reactions"),
    ("send", r"/open-apis/im/v1/messages"),
    ("create", r"/open-apis/cardkit/v1/cards"),
    ("element", r"/open-apis/cardkit/v1/cards/[^/]+/elements/[^/]+/content"),
    ("settings", r"/open-apis/cardkit/v1/cards/[^/]+/settings"),
    ("update", r"/open-apis/cardkit/v1/cards/[^/]+"),
)


class FakeFeishu:
    """State: cards by id, messages in order, all calls."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.calls: list[tuple[str, dict[str, Any], str]] = []
        self.script: dict[str, list[Answer]] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.messages: list[tuple[str, str, dict[str, Any]]] = []
        self.uuids: set[str] = set()
        self.tokens = 0
        self.refuses_updates_after_end = False
        transport = httpx.MockTransport(self.handle)
        client = httpx.AsyncClient(transport=transport, base_url="http://feishu.test")
        self.api = FeishuApi("cli_x", "secret-x", "http://feishu.test", clock, client=client)

    def named(self, name: str) -> list[dict[str, Any]]:
        return [body for called, body, _ in self.calls if called == name]

    @property
    def sequences(self) -> list[int]:
        return [body["sequence"] for _, body, _ in self.calls if "sequence" in body]

    def handle(self, request: httpx.Request) -> httpx.Response:
        body: dict[str, Any] = json.loads(request.content or b"{}")
        path = request.url.path
        name = next(n for n, pattern in _NAMES if re.fullmatch(pattern, path))
        self.calls.append((name, body, request.headers.get("authorization", "")))
        if self.script.get(name):
            status, content = self.script[name].pop(0)
            if isinstance(content, str):
                return httpx.Response(status, text=content, headers={"content-type": "text/html"})
            return httpx.Response(status, json=content)
        return httpx.Response(200, json=getattr(self, f"_{name}")(path, body))

    def _token(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.tokens += 1
        return {"code": 0, "tenant_access_token": f"t-{self.tokens}", "expire": 7200}

    def _react(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"code": 0}

    def _reply(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        content = json.loads(body["content"])
        by_value = body["msg_type"] == "interactive" and content.get("type") != "card"
        if by_value and (refusal := self._refusal(content)):
            return refusal
        if body["uuid"] not in self.uuids:
            self.uuids.add(body["uuid"])
            self.messages.append((path.split("/")[-2], body["msg_type"], content))
        return {"code": 0, "data": {"message_id": f"om_{len(self.messages)}"}}

    def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        content = json.loads(body["content"])
        self.messages.append((body["receive_id"], body["msg_type"], content))
        return {"code": 0, "data": {"message_id": f"om_{len(self.messages)}"}}

    def _create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        card = json.loads(body["data"])
        card_id = f"c{len(self.cards) + 1}"
        self.cards[card_id] = {"card": card, "sequence": 0, "opened": self.clock.now()}
        return {"code": 0, "data": {"card_id": card_id}}

    def _operation(self, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
        state = self.cards[path.split("/")[5]]
        if body["sequence"] <= state["sequence"]:
            return state, 300317
        state["sequence"] = body["sequence"]
        ended = self.clock.now() - state["opened"] >= 600
        return state, 300309 if ended else 0

    def _element(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        state, code = self._operation(path, body)
        if not code:
            for element in state["card"]["body"]["elements"]:
                if element["element_id"] == path.split("/")[7]:
                    element["content"] = body["content"]
        return {"code": code}

    def _settings(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        state, code = self._operation(path, body)
        if not code:
            state["card"]["config"] |= json.loads(body["settings"])["config"]
        return {"code": code}

    def _update(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        state, code = self._operation(path, body)
        if code == 300309 and not self.refuses_updates_after_end:
            code = 0
        card = json.loads(body["card"]["data"])
        if refusal := self._refusal(card):
            return refusal
        if not code:
            state["card"] = card
        return {"code": code}

    def _refusal(self, card: dict[str, Any]) -> dict[str, Any] | None:
        texts = [e.get("content", "") for e in card["body"]["elements"]]
        bare = re.sub(r"```.*?```", "", "\n".join(texts), flags=re.DOTALL)
        if len(re.findall(r"^\|[ :|\-]+\|$", bare, re.MULTILINE)) > 5:
            return {"code": 230099, "msg": "ErrCode: 11310; card table number over limit"}
        if len(json.dumps(card, ensure_ascii=False).encode()) > 30_000:
            return {"code": 230099, "msg": "card too large"}
        return None


def text_of(card: dict[str, Any]) -> str:
    """All words of a card."""
    return "\n".join(e.get("content", "") for e in card["body"]["elements"])

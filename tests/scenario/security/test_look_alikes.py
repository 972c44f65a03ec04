"""Both platforms as far as a leak check needs them: whose token it is decides what is found."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qs

import httpx

from agent.domain import ChatRef, Identity, Platform, Question
from agent.ports import Clock
from connectors.access import Access, SearchBudget, SignInNeeded
from connectors.directory import Standing
from connectors.holdings import Grant
from connectors.rooms import Roster
from connectors.signin import Holder
from connectors.tools import Build
from handlers.leakcheck.tenant import STARTED, Own, Person, Tenant

_AUTHOR: Final[Mapping[Platform, str]] = {"feishu": "ou_somebody_else", "slack": "U0SOMEBODY"}
_FEISHU: Final = "https://feishu.invalid"
_SLACK: Final = "https://slack.invalid/api/"

_Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    """What both platforms know of the invented organisation."""

    tenant: Tenant

    def visible(self, token: str) -> tuple[Own, ...]:
        """What the owner of a token may see; nothing for an unknown token."""
        owner = next((p for p in self.tenant.people.values() if p.token == token != ""), None)
        return () if owner is None else tuple(o for o in self.tenant.own if o.is_for(owner))

    def found(self, token: str, query: str) -> tuple[Own, ...]:
        """Those of them that have one of the words."""
        words = set(query.lower().split())
        return tuple(o for o in self.visible(token) if words & set(o.text.split()))[:10]

    async def answer(self, request: httpx.Request) -> httpx.Response:
        """One call of either platform."""
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        path = request.url.path
        if path.startswith("/open-apis/"):
            data = self._feishu(path.removeprefix("/open-apis/"), token, request)
            return httpx.Response(200, json={"code": 0, "msg": "success", "data": data})
        form = {k: v[0] for k, v in parse_qs(request.content.decode()).items()}
        return httpx.Response(200, json=self._slack(path.rsplit("/", 1)[-1], token, form))

    def _feishu(self, path: str, token: str, request: httpx.Request) -> _Reply:
        if path == "im/v1/messages/search":
            found = self.found(token, str(json.loads(request.content)["query"]))
            return {"items": [{"meta_data": {"message_id": _id(o)}} for o in found]}
        if path == "im/v1/messages/mget":
            wanted = request.url.params["message_ids"].split(",")
            there = [o for o in self.visible(token) if _id(o) in wanted]
            return {"items": [_message(o) for o in there]}
        return {}

    def _slack(self, method: str, token: str, form: Mapping[str, str]) -> _Reply:
        if method == "assistant.search.context":
            found = self.found(token, form["query"])
            if form["content_types"] == "messages":
                return {"ok": True, "results": {"messages": [_hit(o) for o in found]}}
            return {"ok": True, "results": {"files": [_canvas(o) for o in found if not o.chat]}}
        if method == "canvases.getContent":
            there = [o for o in self.visible(token) if _id(o) == form["canvas_id"]]
            if there:
                return {"ok": True, "content": there[0].text}
        return {"ok": False, "error": "not_found"}


def _id(own: Own) -> str:
    return own.source.replace("-", "_")


def _message(own: Own) -> _Reply:
    """A message as Feishu gives it."""
    return {
        "message_id": _id(own),
        "msg_type": "text",
        "create_time": str(int((STARTED - 90 * 86_400) * 1000)),
        "chat_id": own.chat or f"oc_of_{_id(own)}",
        "sender": {"id": _AUTHOR["feishu"], "id_type": "open_id", "sender_type": "user"},
        "body": {"content": json.dumps({"text": own.text})},
    }


def _hit(own: Own) -> _Reply:
    """A message as Slack's search gives it."""
    return {
        "author_user_id": _AUTHOR["slack"],
        "channel_id": own.chat or f"D0{_id(own)}"[:20],
        "message_ts": f"{STARTED - 90 * 86_400:.0f}.{zlib.crc32(own.canary.encode()) % 10**6:06}",
        "content": own.text,
        "permalink": f"https://slack.invalid/archives/{_id(own)}",
    }


def _canvas(own: Own) -> _Reply:
    return {
        "file_id": _id(own),
        "file_type": "canvas",
        "title": f"Notes {own.canary}",
        "content": own.text,
        "permalink": f"https://slack.invalid/docs/{_id(own)}",
    }


@dataclass(frozen=True, slots=True)
class OwnConnector:
    """The product's own connectors, on these platforms in place of the real ones."""

    platform: Platform
    world: World
    clock: Clock

    def scopes(self) -> Mapping[str, frozenset[str]]:
        """The scopes that each kind needs."""
        return {kind: frozenset(scopes) for kind, scopes in _scopes(self.platform).items()}

    def tools(self, access: Access, budget: SearchBudget, question: Question) -> Build:
        """The tools of each kind for one asker."""
        if self.platform == "feishu":
            from connectors.feishu.personal import build_tools as feishu_tools

            return feishu_tools(access, _FEISHU, self.clock, budget, self._connect)
        from connectors.slack.personal import build_tools as slack_tools

        hints = question.platform_hints
        return slack_tools(access, _SLACK, self.clock, budget, hints, connect=self._connect)

    def open(self, kind: str, question: Question) -> bool:
        """Nothing is found without a sign-in."""
        del kind, question
        return False

    def _connect(self, base_url: str) -> httpx.AsyncClient:
        transport = httpx.MockTransport(self.world.answer)
        return httpx.AsyncClient(transport=transport, base_url=base_url, trust_env=False)


def _scopes(platform: Platform) -> Mapping[str, tuple[str, ...]]:
    if platform == "feishu":
        from connectors.feishu.personal import SCOPES as FEISHU_SCOPES

        return FEISHU_SCOPES
    from connectors.slack.personal import SCOPES as SLACK_SCOPES

    return SLACK_SCOPES


def granted(person: Person) -> Grant:
    """What a person who connected everything has granted."""
    scopes = (s for kind in _scopes(person.identity.platform).values() for s in kind)
    return Grant(person.token, frozenset(scopes))


class NoAuthority:
    """A platform that signs nobody in anew and renews nothing."""

    def page(self, state: str, challenge: str, redirect: str, scopes: frozenset[str]) -> str:
        """An address that leads nowhere."""
        del state, challenge, redirect, scopes
        return "https://signin.invalid/"

    async def refresh(self, grant: Grant) -> Grant:
        """Nothing is renewed."""
        raise SignInNeeded("the leak check renews no token")

    async def revoke(self, grant: Grant) -> None:
        """There is nothing to end."""

    async def exchange(self, code: str, verifier: str, redirect: str) -> tuple[Grant, Holder]:
        """Nobody signs in."""
        raise SignInNeeded("the leak check signs nobody in")

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True, slots=True)
class ToldPeople:
    """A directory that tells the platform's own groups of the invented people."""

    people: Mapping[str, Person]

    @property
    def unknown(self) -> Standing:
        """Nobody is known who was not made up."""
        return Standing("gone")

    async def standing(self, person: Identity) -> Standing:
        """A member with their groups; a guest when they are external to the platform."""
        known = self.people[person.principal]
        return Standing("member", person.name, known.told)


async def _roster(tenant: Tenant, chat: ChatRef, asker: Identity) -> Roster:
    del asker
    members = [tenant.people[key].identity for key in tenant.rooms.get(chat.chat, ())]
    return Roster(tuple((m.user, m.tenant, m.external) for m in members), outsiders=False)


def roster_of(tenant: Tenant) -> partial[Any]:
    """Who is in the chats of the organisation."""
    return partial(_roster, tenant)

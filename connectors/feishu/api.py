"""A thin client of the Feishu and Lark HTTP API: the calls the product makes as the app.

HTTP 200 with another code than 0 is an error (FEISHU.md §1.3). No call is repeated by itself, but
for one case: a tenant token that the platform no longer takes is fetched anew and the call made
once more (99991663).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

import httpx

from agent.errors import Misconfigured, PlatformRefused, RateLimited, Unavailable
from agent.ports import Clock
from connectors.web import json_object, named_pause, new_client, part, send

_RATE: Final = frozenset((99991400, 11232, 11020, 11021, 230020))
_TOKEN_DEAD: Final = 99991663
_OPERATOR: Final = frozenset((99991543, 99991662, 99991672, 99991673))
_EARLY: Final = 600.0
"""A tenant token is renewed so many seconds before its end (FEISHU.md §1.2)."""
_PAUSE_HEADERS: Final = ("x-ogw-ratelimit-reset", "retry-after")

Body = dict[str, Any]
"""JSON of the platform; values become ours where they are read."""


class TokenStore(Protocol):
    """Keeps tenant tokens, best shared by all workers."""

    async def get(self, key: str) -> tuple[str, float] | None:
        """The token and the second since the epoch at which it ends; None when there is none."""
        ...

    async def put(self, key: str, token: str, ends: float) -> None:
        """Keep a token."""
        ...

    async def drop(self, key: str) -> None:
        """Forget the token."""
        ...


class ProcessTokens:
    """Tenant tokens kept in this process."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, float]] = {}

    async def get(self, key: str) -> tuple[str, float] | None:
        """The token and its end."""
        return self._tokens.get(key)

    async def put(self, key: str, token: str, ends: float) -> None:
        """Keep a token."""
        self._tokens[key] = (token, ends)

    async def drop(self, key: str) -> None:
        """Forget the token."""
        self._tokens.pop(key, None)


class FeishuApi:
    """Calls as the app.

    Every call raises RateLimited (with the pause the platform named), Unavailable (time-out, 5xx,
    no JSON), Misconfigured (secret, scope or installation) or PlatformRefused, whose reason is the
    platform's code as text.

    Args:
        app_id: the app's id.
        app_secret: the app's secret.
        base_url: origin of the API.
        clock: time.
        tokens: where the tenant token is kept; this process when None.
        client: another HTTP client than the usual one.
    """

    def __init__(
        self,
        app_id: str,
        app_secret: str,
        base_url: str,
        clock: Clock,
        tokens: TokenStore | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._app_id = app_id
        self._app_secret = app_secret
        self._clock = clock
        self._tokens: TokenStore = tokens or ProcessTokens()
        self._token_key = f"{base_url} {app_id}"
        self._client = client or new_client(base_url)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    # --- calls ---------------------------------------------------------------------------------

    async def bot_open_id(self) -> str:
        """The bot's own open_id; "" when the answer has none."""
        answer = await self._call("bot.info", "GET", "/open-apis/bot/v3/info")
        return str(part(answer, "bot").get("open_id", ""))

    async def message(self, message_id: str) -> list[Body]:
        """A message; for a merged forward, its children too as one flat list."""
        path = f"/open-apis/im/v1/messages/{message_id}"
        answer = await self._call("message.get", "GET", path)
        return list(part(answer, "data").get("items") or ())

    async def raw_card(self, message_id: str) -> list[Body]:
        """A message with its whole card in place of the degraded one."""
        path = f"/open-apis/im/v1/messages/{message_id}"
        wanted = {"card_msg_content_type": "raw_card_content"}
        answer = await self._call("message.get", "GET", path, params=wanted)
        return list(part(answer, "data").get("items") or ())

    async def newest_of_topic(self, thread_id: str) -> tuple[list[Body], bool]:
        """The last messages of a topic, newest first, and whether there are older ones."""
        wanted = {
            "container_id_type": "thread",
            "container_id": thread_id,
            "sort_type": "ByCreateTimeDesc",
            "page_size": "50",
        }
        answer = await self._call("message.list", "GET", "/open-apis/im/v1/messages", params=wanted)
        page = part(answer, "data")
        return list(page.get("items") or ()), bool(page.get("has_more"))

    async def person_name(self, open_id: str) -> str:
        """The name of a person; "" when the answer has none."""
        path = f"/open-apis/contact/v3/users/{open_id}"
        answer = await self._call("user.get", "GET", path, params={"user_id_type": "open_id"})
        return str(part(part(answer, "data"), "user").get("name", ""))

    async def address_book(self, path: str, wanted: Mapping[str, str]) -> Body:
        """The data of an answer about people, departments and user groups."""
        path = f"/open-apis/contact/v3/{path}"
        return part(await self._call("contact", "GET", path, params=wanted), "data")

    async def chat_info(self, chat_id: str) -> Body:
        """What a chat is: external, user_count, names."""
        return part(
            await self._call("chat.get", "GET", f"/open-apis/im/v1/chats/{chat_id}"), "data"
        )

    async def chat_members(self, chat_id: str, page_size: int, page_token: str) -> Body:
        """A page of a chat's people: items, has_more, page_token."""
        wanted = {"member_id_type": "open_id", "page_size": str(page_size)}
        wanted |= {"page_token": page_token} if page_token else {}
        path = f"/open-apis/im/v1/chats/{chat_id}/members"
        return part(await self._call("chat.members", "GET", path, params=wanted), "data")

    async def send(self, receive_id: str, kind: str, msg_type: str, content: str, uuid: str) -> str:
        """Send a message to a chat or person (`kind` is receive_id_type); returns its id."""
        body: Body = {"receive_id": receive_id, "msg_type": msg_type, "content": content}
        answer = await self._call(
            "message.send",
            "POST",
            "/open-apis/im/v1/messages",
            body | {"uuid": uuid},
            {"receive_id_type": kind},
        )
        return _message_id(answer)

    async def reply(
        self, message_id: str, msg_type: str, content: str, uuid: str, *, in_thread: bool
    ) -> str:
        """Reply to a message; a repeat with the same uuid within an hour does nothing."""
        body: Body = {
            "msg_type": msg_type,
            "content": content,
            "reply_in_thread": in_thread,
            "uuid": uuid,
        }
        path = f"/open-apis/im/v1/messages/{message_id}/reply"
        return _message_id(await self._call("message.reply", "POST", path, body))

    async def patch_card(self, message_id: str, content: str) -> None:
        """Change the card of a message that was sent as plain card JSON."""
        path = f"/open-apis/im/v1/messages/{message_id}"
        await self._call("message.patch", "PATCH", path, {"content": content})

    async def react(self, message_id: str, emoji: str) -> None:
        """Add a reaction."""
        body: Body = {"reaction_type": {"emoji_type": emoji}}
        path = f"/open-apis/im/v1/messages/{message_id}/reactions"
        await self._call("message.react", "POST", path, body)

    async def create_card(self, card: Body) -> str:
        """Make a card entity; returns its id."""
        body: Body = {"type": "card_json", "data": json.dumps(card, ensure_ascii=False)}
        answer = await self._call("card.create", "POST", "/open-apis/cardkit/v1/cards", body)
        return str(part(answer, "data").get("card_id", ""))

    async def card_element(
        self, card_id: str, element_id: str, content: str, sequence: int, uuid: str
    ) -> None:
        """Set the whole text of one element of a streaming card."""
        path = f"/open-apis/cardkit/v1/cards/{card_id}/elements/{element_id}/content"
        body: Body = {"content": content, "sequence": sequence, "uuid": uuid}
        await self._call("card.element", "PUT", path, body)

    async def card_settings(self, card_id: str, settings: Body, sequence: int, uuid: str) -> None:
        """Change a card's settings (streaming mode, summary)."""
        text = json.dumps(settings, ensure_ascii=False)
        body: Body = {"settings": text, "sequence": sequence, "uuid": uuid}
        path = f"/open-apis/cardkit/v1/cards/{card_id}/settings"
        await self._call("card.settings", "PATCH", path, body)

    async def update_card(self, card_id: str, card: Body, sequence: int, uuid: str) -> None:
        """Put another whole card in place."""
        data = json.dumps(card, ensure_ascii=False)
        body: Body = {"card": {"type": "card_json", "data": data}}
        path = f"/open-apis/cardkit/v1/cards/{card_id}"
        await self._call("card.update", "PUT", path, body | {"sequence": sequence, "uuid": uuid})

    # --- the wire ------------------------------------------------------------------------------

    async def _call(
        self,
        name: str,
        method: str,
        path: str,
        body: Body | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Body:
        code, answer = await self._once(name, method, path, body, params)
        if code == _TOKEN_DEAD:
            await self._tokens.drop(self._token_key)
            code, answer = await self._once(name, method, path, body, params)
        if code:
            raise PlatformRefused(f"Feishu refused {name} with code {code}", reason=str(code))
        return answer

    async def _once(
        self,
        name: str,
        method: str,
        path: str,
        body: Body | None,
        params: Mapping[str, str] | None,
    ) -> tuple[int, Body]:
        headers = {"Authorization": f"Bearer {await self._tenant_token()}"}
        request = self._client.build_request(
            method, path, json=body, params=params, headers=headers
        )
        return self._read(name, await send(self._client, request, f"Feishu {name}"))

    def _read(self, name: str, response: httpx.Response) -> tuple[int, Body]:
        label = f"Feishu {name}"
        code, answer = 0, {}
        if response.status_code != 429:
            answer = json_object(response, label)
            code = answer.get("code", 0)
            code = code if isinstance(code, int) else -1
        if response.status_code == 429 or code in _RATE:
            pause = named_pause(response.headers, _PAUSE_HEADERS, self._clock.now(), 1.0)
            raise RateLimited(f"{label}: too many calls", pause)
        if response.status_code >= 500:
            raise Unavailable(f"{label}: HTTP {response.status_code}")
        if code in _OPERATOR:
            raise Misconfigured(f"{label}: code {code}")
        if not code and response.status_code >= 400:
            code = response.status_code
        return code, answer

    async def _tenant_token(self) -> str:
        known = await self._tokens.get(self._token_key)
        if known and known[1] - _EARLY > self._clock.now():
            return known[0]
        name = "tenant_access_token"
        request = self._client.build_request(
            "POST",
            "/open-apis/auth/v3/tenant_access_token/internal",
            json={"app_id": self._app_id, "app_secret": self._app_secret},
        )
        code, answer = self._read(name, await send(self._client, request, f"Feishu {name}"))
        token = str(answer.get("tenant_access_token", ""))
        if code or not token:
            raise Misconfigured(f"Feishu gave no tenant token: code {code}")
        ends = self._clock.now() + float(answer.get("expire", 0))
        await self._tokens.put(self._token_key, token, ends)
        return token


def _message_id(answer: Body) -> str:
    return str(part(answer, "data").get("message_id", ""))

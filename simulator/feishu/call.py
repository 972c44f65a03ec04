"""One call of the Feishu API: who calls, with what; how answers and refusals are written."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from simulator.faults.scopes import scope_of
from simulator.feishu.errors import (
    FeishuError,
    bad_field,
    not_found,
    not_in_chat,
    token_invalid,
    too_fast,
    user_token_invalid,
)
from simulator.feishu.side import SEARCH_LIMIT, TEXT_LIMIT, USER_SCOPES, FeishuSide
from simulator.state.workspace import BOT, Message
from simulator.wire import Incoming, read

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call; caller is a login or BOT, empty for the token endpoints."""

    side: FeishuSide
    caller: str
    incoming: Incoming
    path: dict[str, str]

    @property
    def now(self) -> float:
        """Simulated unix seconds."""
        return self.side.world.clock.now()

    @property
    def body(self) -> Json:
        """The parsed body."""
        return self.incoming.body

    @property
    def query(self) -> dict[str, str]:
        """The query parameters, the last of each name."""
        return self.incoming.query

    def text(self, name: str) -> str:
        """Return a string field of the body.

        Raises:
            FeishuError: 99992402 when it is missing or no string.
        """
        value = self.body.get(name)
        if not isinstance(value, str) or not value:
            raise bad_field(f"{name} is required")
        return value

    def message(self, message_id: str) -> Message:
        """Return a message the caller may see.

        Raises:
            FeishuError: 231003 for an unknown one, 230002 when the caller is not in its chat.
        """
        message = self.side.space.find(message_id)
        if message is None:
            raise not_found("message")
        if not self.side.space.may_see(self.caller, message.chat):
            raise not_in_chat()
        return message

    def limit_searches(self, api: str) -> None:
        """Count a search.

        Raises:
            FeishuError: 99991400 for too many in a minute.
        """
        if wait := self.side.search_limit.take(api, self.now):
            raise too_fast(wait, SEARCH_LIMIT)

    def limit_texts(self, api: str) -> None:
        """Count the reading of a document's text.

        Raises:
            FeishuError: 99991400 for too many in a second.
        """
        if wait := self.side.text_limit.take(api, self.now):
            raise too_fast(wait, TEXT_LIMIT)

    def page(self, items: list[Any], most: int, default: int) -> tuple[list[Any], str]:
        """Cut one page by page_size and page_token (query or body); return (items, next token).

        Raises:
            FeishuError: 99992402 for a page size out of range or a bad token.
        """
        asked = self.query.get("page_size") or self.body.get("page_size") or default
        token = str(self.query.get("page_token") or self.body.get("page_token") or "0")
        if not str(asked).isdigit() or not 0 < int(asked) <= most:
            raise bad_field(f"page_size is out of 1 to {most}")
        if not token.isdigit():
            raise bad_field("page_token is unknown")
        start, end = int(token), int(token) + int(asked)
        return items[start:end], str(end) if end < len(items) else ""


Handler = Callable[[Call], Json | Response]


@dataclass(frozen=True, slots=True)
class Route:
    """One endpoint; who says which tokens it takes: app, user, both or none.

    flat endpoints answer their fields at the top instead of under data.
    """

    method: str
    path: str
    handler: Handler
    who: str = "both"
    flat: bool = False

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """Return the path parameters when a request is for this endpoint."""
        if method != self.method:
            return None
        pattern = re.sub(r":(\w+)", r"(?P<\1>[^/]+)", self.path)
        found = re.fullmatch(pattern, path)
        return found.groupdict() if found else None


def _caller(side: FeishuSide, incoming: Incoming, who: str) -> str:
    if who == "none":
        return ""
    token = incoming.bearer
    if not token:
        raise FeishuError(99991661, "Missing access token for authorization.", 400)
    login = side.login_of(token)
    if login is None:
        raise user_token_invalid() if token.startswith("u-") else token_invalid()
    if (who == "app" and login != BOT) or (who == "user" and login == BOT):
        raise FeishuError(99991668 if who == "user" else 99991663, "token type not supported", 400)
    return login


def _check_scope(side: FeishuSide, incoming: Incoming) -> None:
    """Refuse what the person did not agree to."""
    issued = side.grants.live(incoming.bearer, side.world.clock.now())
    needed = _scope_of_person(incoming)
    if issued is None or needed in issued.scopes or needed not in USER_SCOPES:
        return
    missing = {"type": "action_scope_required", "subject": needed, "description": needed}
    raise FeishuError(
        99991679,
        f"Unauthorized. The user has not granted: [{needed}].",
        400,
        extra={"error": {"permission_violations": [missing]}},
    )


def _scope_of_person(incoming: Incoming) -> str:
    """The scope that a person's token needs; reading messages has others than for an app."""
    path = incoming.path
    if incoming.method == "GET" and re.fullmatch(r"/open-apis/im/v1/messages(/[^/]+)?", path):
        return "im:message.group_msg:get_as_user"
    if re.fullmatch(r"/open-apis/im/v1/chats/[^/]+/members", path):
        return "im:chat.members:read"
    return scope_of("feishu", incoming.method, path)


def _log_id() -> dict[str, str]:
    return {"X-Tt-Logid": secrets.token_hex(16)}


class FeishuApi:
    """Answers everything below /open-apis and /oauth from a table of routes."""

    def __init__(self, side: FeishuSide, routes: list[Route]) -> None:
        self._side = side
        self._routes = routes

    async def __call__(self, request: Request) -> Response:
        """Answer one request and note it in the records."""
        incoming = await read(request)
        caller = ""
        code: int = 0
        try:
            route, parameters = self._route(incoming)
            caller = _caller(self._side, incoming, route.who)
            _check_scope(self._side, incoming)
            response = self._run(route, Call(self._side, caller, incoming, parameters))
        except FeishuError as refusal:
            code = refusal.code
            response = JSONResponse(
                {"code": refusal.code, "msg": refusal.msg, **refusal.extra},
                refusal.status,
                {**refusal.headers, **_log_id()},
            )
        self._side.world.record(
            "feishu",
            incoming.method,
            incoming.path,
            _shown_body(incoming),
            (response.status_code, code),
            caller,
        )
        return response

    def _route(self, incoming: Incoming) -> tuple[Route, dict[str, str]]:
        for route in self._routes:
            parameters = route.match(incoming.method, incoming.path)
            if parameters is not None:
                return route, parameters
        raise FeishuError(99991404, f"no such API: {incoming.method} {incoming.path}", 404)

    def _run(self, route: Route, call: Call) -> Response:
        if call.body.get("_malformed"):
            raise bad_field("the body is no JSON object")
        answer = route.handler(call)
        if isinstance(answer, Response):
            return answer
        body = {"code": 0, "msg": "success", **(answer if route.flat else {"data": answer})}
        return JSONResponse(body, headers=_log_id())


def _shown_body(incoming: Incoming) -> Json:
    shown = dict(incoming.body)
    for name, upload in incoming.uploads.items():
        shown[name] = {"name": upload.name, "size": len(upload.data)}
    if incoming.query:
        shown = {**shown, "_query": incoming.query}
    return shown

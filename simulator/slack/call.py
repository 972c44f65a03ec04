"""One call of the Slack Web API: who calls, with what; how answers are written."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from simulator.faults.scopes import scope_of
from simulator.slack.errors import SlackError, invalid
from simulator.slack.side import APP_TOKEN, BOT_SCOPES, USER_SCOPES, SlackSide
from simulator.state.workspace import BOT, Chat, Message
from simulator.wire import Incoming, Upload, read

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call; caller is a login or BOT, arguments come from body and query."""

    side: SlackSide
    method: str
    caller: str
    arguments: Json
    uploads: dict[str, Upload]
    token: str = ""

    @property
    def now(self) -> float:
        """Simulated unix seconds."""
        return self.side.world.clock.now()

    def text(self, name: str) -> str:
        """Return a string argument, empty when it is missing."""
        value = self.arguments.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean argument, however it is written."""
        value = self.arguments.get(name, default)
        return value in (True, "true", "True", "1", 1)

    def number(self, name: str, default: int) -> int:
        """Return a number.

        Raises:
            SlackError: invalid_arguments when it is none.
        """
        value = self.text(name)
        if not value:
            return default
        if not value.isdigit():
            raise invalid(f"{name} is no number")
        return int(value)

    def need(self, name: str, error: str = "") -> str:
        """Return a string argument that must be there.

        Raises:
            SlackError: the given error, else invalid_arguments.
        """
        value = self.text(name)
        if not value:
            raise SlackError(error) if error else invalid(f"missing required field: {name}")
        return value

    def json(self, name: str) -> object:
        """Return an argument that is JSON, as a value or as a string; None when missing.

        Raises:
            SlackError: invalid_arguments for a broken string.
        """
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except ValueError as broken:
            raise invalid(f"{name} is no JSON") from broken

    def require(self, *scopes: str) -> None:
        """Check that the person of an issued token agreed to all these scopes.

        Raises:
            SlackError: missing_scope with the first one missing.
        """
        issued = self.side.grants.live(self.token, self.now)
        given = scopes if issued is None else issued.scopes
        for scope in scopes:
            if scope not in given:
                provided = ",".join(sorted(given))
                raise SlackError("missing_scope", extra={"needed": scope, "provided": provided})

    def channel(self, name: str = "channel") -> Chat:
        """Return the chat of an argument; a user id means the bot's direct chat with the person.

        Raises:
            SlackError: channel_not_found, or not_in_channel for one the caller is not in.
        """
        given = self.need(name, "channel_not_found")
        chat = self.side.space.chats.get(given)
        if chat is None:
            login = self.side.login_of_user(given)
            if login in (None, BOT) or self.caller != BOT:
                raise SlackError("channel_not_found")
            return self.side.space.direct_chat(str(login))
        if not self.side.space.may_see(self.caller, chat.id):
            raise SlackError("channel_not_found" if chat.kind == "direct" else "not_in_channel")
        return chat

    def message(self, chat: Chat, ts: str) -> Message:
        """Return a standing message of a chat.

        Raises:
            SlackError: message_not_found.
        """
        return self.message_or(chat, ts, "message_not_found")

    def message_or(self, chat: Chat, ts: str, error: str) -> Message:
        """Return a standing message of a chat.

        Raises:
            SlackError: the given error when there is none.
        """
        message = self.side.space.find(ts)
        if message is None or message.chat != chat.id or message.deleted:
            raise SlackError(error)
        return message

    def page(self, items: list[Any], most: int, default: int) -> tuple[list[Any], str]:
        """Cut one page by limit and cursor; return (items, next cursor).

        Raises:
            SlackError: invalid_cursor.
        """
        size = min(self.number("limit", default), most)
        cursor = self.text("cursor") or "c0"
        if not cursor[1:].isdigit():
            raise SlackError("invalid_cursor")
        start, end = int(cursor[1:]), int(cursor[1:]) + size
        return items[start:end], f"c{end}" if end < len(items) else ""


Handler = Callable[[Call], Json]


@dataclass(frozen=True, slots=True)
class Method:
    """One Web API method.

    who is bot, user, both, app (the app-level token) or none; scope what a user token needs.
    """

    handler: Handler
    who: str = "both"
    scope: str = ""


class SlackApi:
    """Answers /api/METHOD from a table of methods."""

    def __init__(self, side: SlackSide, methods: dict[str, Method]) -> None:
        self._side = side
        self._methods = methods

    async def __call__(self, request: Request) -> Response:
        """Answer one request and note it in the records."""
        incoming = await read(request)
        name = incoming.path.removeprefix("/api/")
        arguments: Json = {**incoming.query, **incoming.body}
        token = incoming.bearer or str(arguments.pop("token", ""))
        caller = self._side.login_of(token) or ""
        code = "ok"
        try:
            answer = self._answer(name, caller, token, arguments, incoming)
            response = JSONResponse({"ok": True, **answer})
        except SlackError as refusal:
            code = refusal.error
            response = JSONResponse(
                {"ok": False, "error": refusal.error, **refusal.extra},
                refusal.status,
                refusal.headers,
            )
        if caller:
            response.headers["X-OAuth-Scopes"] = _scopes(self._side, caller, token)
        self._side.world.record(
            "slack",
            incoming.method,
            incoming.path,
            _readable(arguments),
            (response.status_code, code),
            caller,
        )
        return response

    def _answer(
        self, name: str, caller: str, token: str, arguments: Json, incoming: Incoming
    ) -> Json:
        method = self._methods.get(name)
        if method is None:
            raise SlackError("unknown_method", extra={"req_method": name})
        if arguments.pop("_malformed", None):
            raise SlackError("invalid_json")
        if method.who != "none":
            _check_token(method, caller, token)
            self._check_scope(incoming, caller, token, arguments)
        return method.handler(Call(self._side, name, caller, arguments, incoming.uploads, token))

    def _check_scope(self, incoming: Incoming, caller: str, token: str, arguments: Json) -> None:
        """Refuse what the person did not agree to."""
        if self._side.grants.live(token, self._side.world.clock.now()) is None:
            return
        given = _granted(self._side, caller, token)
        path, channel = incoming.path, str(arguments.get("channel", ""))
        needed = scope_of("slack", incoming.method, path, channel)
        if needed in USER_SCOPES.split(",") and needed not in given:
            raise SlackError("missing_scope", extra={"needed": needed, "provided": ",".join(given)})


def _granted(side: SlackSide, caller: str, token: str) -> tuple[str, ...]:
    """The scopes of a token: what its person agreed to, or all that the kind of token has."""
    issued = side.grants.live(token, side.world.clock.now())
    if issued is not None:
        return tuple(sorted(issued.scopes))
    return tuple((BOT_SCOPES if caller == BOT else USER_SCOPES).split(","))


def _scopes(side: SlackSide, caller: str, token: str) -> str:
    """The scopes of the caller's token, as Slack names them on each answer."""
    withheld = side.world.faults.withheld("slack")
    scopes = _granted(side, caller, token)
    return ",".join(scope for scope in scopes if scope not in withheld)


def _check_token(method: Method, caller: str, token: str) -> None:
    if not token:
        raise SlackError("not_authed")
    if method.who == "app":
        if token != APP_TOKEN:
            raise SlackError("not_allowed_token_type" if caller else "invalid_auth")
        return
    if not caller:
        raise SlackError("token_expired" if "issued" in token else "invalid_auth")
    if (method.who == "bot" and caller != BOT) or (method.who == "user" and caller == BOT):
        if method.scope:
            given = BOT_SCOPES if caller == BOT else USER_SCOPES
            raise SlackError("missing_scope", extra={"needed": method.scope, "provided": given})
        raise SlackError("not_allowed_token_type")


def _readable(arguments: Json) -> Json:
    """Parse the JSON strings of a form so that tests read values."""
    shown: Json = {}
    for name, value in arguments.items():
        shown[name] = value
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                shown[name] = cast("object", json.loads(value))
            except ValueError:
                continue
    return shown

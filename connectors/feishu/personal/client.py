"""Calls of the Feishu API with the asker's own token, and with no other one.

Each try is a request of its own (FEISHU.md §1.2: a request that is used again keeps its token).
HTTP 200 with another code than 0 is an error. A client lives for one tool call, so that neither a
connection nor a cookie of one person is there when the next one asks.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

import httpx

from agent.domain import Json
from agent.errors import RateLimited, Retryable, ToolFailed, Unavailable
from agent.ports import Clock
from connectors import wire
from connectors.access import Access, ScopeMissing, SignInNeeded
from connectors.web import named_pause

log = logging.getLogger(__name__)

MOST_BYTES: Final = 4_000_000
"""The longest answer that is read."""
_RATE: Final = frozenset((99991400, 11232, 11020, 11021, 230020))
_TOKEN_REFUSED: Final = frozenset((99991663, 99991668, 99991677))
_NOT_GRANTED: Final = frozenset((99991676, 99991679))
_NOT_SIGNED_IN: Final = frozenset((230027,))
_OPERATOR: Final = frozenset((99991543, 99991662, 99991672, 99991673))
_PAUSE_HEADERS: Final = ("x-ogw-ratelimit-reset", "retry-after")
_TRIES: Final = 2
"""How often a call is made: reading again after a passing fault does no harm."""
_TRIES_AT_LIMIT: Final = 5
"""How often when the platform named a pause each time: its limits count for the whole company."""
_PART: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OF_APP: Final = ("t-", "a-")
"""How tokens of an app begin; no such token may come here."""

Data = Mapping[str, Json]
Params = Mapping[str, str | Sequence[str]]
"""Query parameters; one of several values is sent once for each."""
Connect = Callable[[], httpx.AsyncClient]
"""Makes the HTTP client of one tool call."""


class Denied(ToolFailed):
    """The platform refused this one thing for good; `reason` is its code as text."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Reply:
    """One answer: the platform's code (0 when fine), its JSON, its bytes, the named pause."""

    status: int
    code: int
    body: dict[str, Json]
    raw: bytes
    pause: float


def path_part(ident: Json) -> str:
    """An id that may stand in a path; "" for what could lead to another one."""
    return ident if isinstance(ident, str) and _PART.fullmatch(ident) else ""


class UserCalls:
    """Reads as the asker until a deadline.

    Every call raises SignInNeeded, ScopeMissing, RateLimited or Unavailable (after a second try
    within the time that is left), or Denied.

    Args:
        access: The asker's own access.
        token: The asker's token, which holds for longer than a tool call lasts.
        client: The HTTP client of this tool call.
        clock: Time.
        deadline: The monotonic second until which waiting makes sense.
    """

    def __init__(
        self,
        access: Access,
        token: str,
        client: httpx.AsyncClient,
        clock: Clock,
        deadline: float,
    ) -> None:
        self._access = access
        self._token = token
        self._client = client
        self._clock = clock
        self._deadline = deadline

    @property
    def asker(self) -> str:
        """The asker's open_id."""
        return self._access.asker.user

    async def get(self, name: str, path: str, params: Params | None = None) -> Data:
        """The `data` of a reading call; `name` is for the log."""
        return wire.members((await self._call(name, "GET", path, None, params)).body.get("data"))

    async def post(self, name: str, path: str, body: Data, params: Params | None = None) -> Data:
        """The `data` of a search."""
        return wire.members((await self._call(name, "POST", path, body, params)).body.get("data"))

    async def text(self, name: str, path: str, params: Params) -> str:
        """A text file, cut after MOST_BYTES."""
        reply = await self._call(name, "GET", path, None, params, file=True)
        return reply.raw.decode("utf-8", "replace")

    # --- one call ------------------------------------------------------------------------------

    async def _call(
        self,
        name: str,
        method: Literal["GET", "POST"],
        path: str,
        body: Data | None,
        params: Params | None,
        *,
        file: bool = False,
    ) -> _Reply:
        token = self._token
        renewed = False
        tries = 0
        while True:
            request = self._client.build_request(
                method,
                f"/open-apis/{path}",
                json=body,
                params=params,
                headers={"Authorization": f"Bearer {_of_person(token)}"},
            )
            tries += 1
            try:
                reply = await self._once(name, request, file=file)
                if reply.code not in _TOKEN_REFUSED:
                    return _checked(name, reply)
            except Retryable as fault:
                await self._wait(fault, tries)
                continue
            if renewed:
                raise SignInNeeded(f"Feishu {name}: the new token is refused too")
            token, renewed, tries = await self._renewed(token), True, 0

    async def _renewed(self, refused: str) -> str:
        """Another token, which all calls of this tool call go on with."""
        if self._token == refused:
            self._token = await self._access.renewed(refused)
        return self._token

    async def _wait(self, fault: Retryable, tries: int) -> None:
        """Wait before the next try; raise the fault when there is none in the time that is left."""
        limited = isinstance(fault, RateLimited)
        pause = fault.retry_after if limited else 0.2
        most = _TRIES_AT_LIMIT if limited else _TRIES
        if tries >= most or self._clock.monotonic() + pause > self._deadline:
            raise fault
        await self._clock.sleep(pause)

    async def _once(self, name: str, request: httpx.Request, *, file: bool) -> _Reply:
        try:
            response = await self._client.send(request, stream=True)
            try:
                raw = await _bounded(name, response, cut=file)
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            raise Unavailable(f"Feishu {name}: {type(error).__name__}") from None
        reply = self._read(name, response, raw, file=file)
        log_id = wire.identifier(response.headers.get("x-tt-logid", "")) or "-"
        level = logging.INFO if reply.code else logging.DEBUG
        log.log(level, "feishu %s: %d, code %d, %s", name, reply.status, reply.code, log_id)
        if reply.status == 429 or reply.code in _RATE:
            raise RateLimited(f"Feishu {name}: too many calls", reply.pause)
        if reply.status >= 500:
            raise Unavailable(f"Feishu {name}: HTTP {reply.status}")
        return reply

    def _read(self, name: str, response: httpx.Response, raw: bytes, *, file: bool) -> _Reply:
        status = response.status_code
        json_like = "json" in response.headers.get("content-type", "")
        body: dict[str, Json] = {}
        if json_like or not file or status >= 400:
            parsed = wire.parse(raw)
            if parsed is None and status < 400:
                raise Unavailable(f"Feishu {name}: HTTP {status} without a JSON object")
            body = parsed or {}
        code = body.get("code", 0)
        code = code if isinstance(code, int) else -1
        pause = named_pause(response.headers, _PAUSE_HEADERS, self._clock.now(), 1.0)
        return _Reply(status, code or (status if status >= 400 else 0), body, raw, pause)


@asynccontextmanager
async def user_calls(
    access: Access, connect: Connect, clock: Clock, seconds: float
) -> AsyncGenerator[UserCalls, None]:
    """The calls of one tool call, which has so many seconds.

    Raises:
        SignInNeeded: the asker has not connected Feishu; nothing is sent.
    """
    token = await access.token()
    async with connect() as client:
        yield UserCalls(access, token, client, clock, clock.monotonic() + seconds)


def _of_person(token: str) -> str:
    if not token or token.startswith(_OF_APP):
        raise SignInNeeded("there is no token of the asker's own")
    return token


async def _bounded(name: str, response: httpx.Response, *, cut: bool) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MOST_BYTES:
            if not cut:
                raise Denied(f"Feishu {name}: the answer is too long", "too long")
            parts.append(chunk[: len(chunk) - (size - MOST_BYTES)])
            break
        parts.append(chunk)
    return b"".join(parts)


def _checked(name: str, reply: _Reply) -> _Reply:
    code = reply.code
    if not code:
        return reply
    if code in _NOT_GRANTED:
        scopes = _named_scopes(reply.body)
        names = ", ".join(sorted(scopes)) or "one more permission"
        raise ScopeMissing(f"The person has not granted {names} to this bot.", scopes)
    if code in _NOT_SIGNED_IN:
        raise SignInNeeded(f"Feishu {name}: code {code}")
    if code in _OPERATOR:
        names = ", ".join(sorted(_named_scopes(reply.body)))
        log.warning("feishu %s: code %d, an operator has to act %s", name, code, names)
        raise ToolFailed(
            "The bot's app is not allowed to do this; its operator has to change that."
        ) from Denied(f"Feishu {name}: code {code}", str(code))
    raise Denied(f"Feishu refused {name} with code {code}", str(code))


def _named_scopes(body: Mapping[str, Json]) -> frozenset[str]:
    violations = wire.objects(wire.members(body.get("error")).get("permission_violations"))
    return frozenset(filter(None, (wire.identifier(v.get("subject")) for v in violations[:20])))

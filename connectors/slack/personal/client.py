"""Calls of the Slack Web API with the asker's own token, and with no other one.

Slack tells most refusals with HTTP 200 and `ok` false. A client lives for one tool call, so that
neither a connection nor a cookie of one person is there when the next one asks.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import httpx

from agent.domain import Json
from agent.errors import RateLimited, Retryable, ToolFailed, Unavailable
from agent.ports import Clock
from connectors import fetcher, wire
from connectors.access import Access, ScopeMissing, SignInNeeded
from connectors.web import named_pause

log = logging.getLogger(__name__)

MOST_BYTES: Final = 4_000_000
"""The longest answer that is read."""
TOKEN_REFUSED: Final = frozenset(
    ("token_expired", "token_revoked", "invalid_auth", "account_inactive", "not_authed")
)
_PASSING: Final = frozenset(
    ("fatal_error", "internal_error", "service_unavailable", "request_timeout")
)
_LIMITED: Final = frozenset(("ratelimited", "rate_limited"))
_TRIES: Final = 2
"""How often a call is made: reading again after a passing fault does no harm."""
_OF_APP: Final = ("xoxb-", "xapp-", "xoxe.xoxb-")
"""How tokens of an app begin; no such token may come here (the last one is a bot's rotated one)."""
_HTML: Final = (b"<!doctype html", b"<html")

Data = Mapping[str, Json]
Connect = Callable[[], httpx.AsyncClient]
"""Makes the HTTP client of one tool call."""


class Denied(ToolFailed):
    """The platform refused this one thing for good; `reason` is its own name of it."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class TokenRefused(ToolFailed):
    """The platform does not take the token."""


@dataclass(frozen=True, slots=True)
class Wire:
    """An HTTP client with the clock by which named pauses are read."""

    client: httpx.AsyncClient
    clock: Clock

    async def call(self, method: str, form: Mapping[str, str], token: str) -> Data:
        """One try of a call.

        Raises:
            TokenRefused, ScopeMissing, RateLimited, Unavailable, Denied: what the answer says.
        """
        request = self.client.build_request(
            "POST", method, data=dict(form), headers={"Authorization": f"Bearer {token}"}
        )
        response, raw = await self._answer(method, request)
        answer = wire.parse(raw)
        if answer is None:
            raise Unavailable(f"Slack {method}: HTTP {response.status_code} without a JSON object")
        if answer.get("ok") is True:
            return answer
        raise self._fault(
            method, wire.identifier(answer.get("error")) or "unknown", answer, response
        )

    async def download(self, url: str, token: str) -> tuple[bytes, str]:
        """A file's bytes and media type, from Slack's own hosts or the configured API alone.

        Raises:
            Denied: a foreign address, a sign-in page instead of the file, a file that is too long.
            RateLimited, Unavailable: what the answer says.
        """
        guarded = fetcher.Fetcher(self.client, _is_slack, MOST_BYTES, fetcher.look_up)
        try:
            file = await guarded.fetch(url, {"Authorization": f"Bearer {token}"})
        except fetcher.AddressRefused:
            raise Denied("The file lies outside of Slack", "foreign_host") from None
        except ToolFailed as fault:
            raise Denied(f"Slack download: {fault}", "too_long") from None
        log.debug("slack download as the asker: %d", file.status)
        if file.status == 429:
            raise self._limited("download", file.headers)
        if file.status >= 500:
            raise Unavailable(f"Slack download: HTTP {file.status}")
        if file.status != 200:
            raise Denied(f"Slack gave no file: HTTP {file.status}", "download")
        if "html" in file.media or file.data[:256].lstrip().lower().startswith(_HTML):
            raise Denied("Slack gave a sign-in page instead of the file", "sign_in_page")
        return file.data, file.media

    async def _answer(self, method: str, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        try:
            response = await self.client.send(request, stream=True, follow_redirects=False)
            try:
                raw = await _bounded(method, response)
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            raise Unavailable(f"Slack {method}: {type(error).__name__}") from None
        status = response.status_code
        log.debug("slack %s as the asker: %d", method, status)
        if status == 429:
            raise self._limited(method, response.headers)
        if status >= 500:
            raise Unavailable(f"Slack {method}: HTTP {status}")
        return response, raw

    def _fault(
        self, method: str, name: str, answer: Data, response: httpx.Response
    ) -> ToolFailed | Retryable | ScopeMissing:
        log.info("slack %s as the asker: %s", method, name)
        if name in _LIMITED:
            return self._limited(method, response.headers)
        if name in _PASSING:
            return Unavailable(f"Slack {method}: {name}")
        if name in TOKEN_REFUSED:
            return TokenRefused(f"Slack {method}: {name}")
        if name == "missing_scope":
            needed = wire.name(answer.get("needed"))
            scopes = frozenset(filter(None, (wire.identifier(s) for s in needed.split(","))))
            names = ", ".join(sorted(scopes)) or "one more permission"
            return ScopeMissing(f"The person has not granted {names} to this bot.", scopes)
        return Denied(f"Slack refused {method}: {name}", name)

    def _limited(self, method: str, headers: Mapping[str, str]) -> RateLimited:
        pause = named_pause(headers, ("retry-after",), self.clock.now(), 1.0)
        return RateLimited(f"Slack {method}: too many calls", pause)


def _is_slack(host: str) -> bool:
    """Whether a host is Slack's own, where a person's token may go."""
    return host == "slack.com" or host.endswith(".slack.com")


class UserCalls:
    """Reads as the asker until a deadline.

    Every call raises SignInNeeded, ScopeMissing, RateLimited or Unavailable (after a second try
    within the time that is left), or Denied.

    Args:
        access: The asker's own access.
        http: The client of this tool call.
        deadline: The monotonic second until which waiting makes sense.
    """

    def __init__(self, access: Access, http: Wire, deadline: float) -> None:
        self._access = access
        self._http = http
        self._deadline = deadline

    @property
    def asker(self) -> str:
        """The asker's user id."""
        return self._access.asker.user

    async def call(self, method: str, form: Mapping[str, str], tries: int = _TRIES) -> Data:
        """The answer of a reading method; with 1 try a passing fault is raised at once."""
        token = of_person(await self._access.token())
        renewed, left = False, tries
        while True:
            left -= 1
            try:
                return await self._http.call(method, form, token)
            except TokenRefused as fault:
                if renewed:
                    raise SignInNeeded(f"{fault}; the new token too") from fault
                token = of_person(await self._access.renewed(token))
                renewed, left = True, tries
            except Retryable as fault:
                await self._wait(fault, left)

    async def download(self, url: str) -> tuple[bytes, str]:
        """A file's bytes and media type. A fault is not tried again."""
        return await self._http.download(url, of_person(await self._access.token()))

    async def _wait(self, fault: Retryable, left: int) -> None:
        """Wait before the next try; raise the fault when there is none in the time that is left."""
        clock = self._http.clock
        pause = fault.retry_after if isinstance(fault, RateLimited) else 0.2
        if not left or clock.monotonic() + pause > self._deadline:
            raise fault
        await clock.sleep(pause)


@asynccontextmanager
async def http_of(connect: Connect, clock: Clock) -> AsyncGenerator[Wire, None]:
    """The HTTP client of one tool call."""
    async with connect() as client:
        yield Wire(client, clock)


def of_person(token: str) -> str:
    """The token, if it can be a person's.

    Raises:
        SignInNeeded: it is none, or an app's.
    """
    if not token or token.startswith(_OF_APP):
        raise SignInNeeded("there is no token of the asker's own")
    return token


async def _bounded(method: str, response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > MOST_BYTES:
            raise Denied(f"Slack {method}: the answer is too long", "too_long")
        parts.append(chunk)
    return b"".join(parts)

"""Signing in with Slack: authorize page, codes, rotation, whose token it is (SLACK.md 6).

A person agrees to user scopes only, so no bot token comes back. PKCE is left out: Slack wants it
from apps without a secret alone. Codes and names that are not known end no connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import httpx

from agent.errors import Misconfigured, PlumblineError, RateLimited, Unavailable
from agent.ports import Clock
from connectors import wire
from connectors.access import SignInNeeded
from connectors.holdings import Grant
from connectors.signin import Holder
from connectors.web import json_object, named_pause, part, send

_TIMEOUT: Final = httpx.Timeout(12.0, connect=5.0)
_ENDED: Final = frozenset(
    (
        "invalid_refresh_token",
        "token_revoked",
        "token_expired",
        "invalid_auth",
        "account_inactive",
        "invalid_grant",
        "not_authed",
    )
)
_CODE_DEAD: Final = frozenset(("invalid_code", "code_already_used", "code_expired"))
_OPERATOR: Final = frozenset(
    ("bad_client_secret", "invalid_client_id", "bad_redirect_uri", "invalid_app_id")
)


class SlackOAuth:
    """The sign-in of people with Slack.

    Args:
        client_id: the app's client id.
        client_secret: the app's client secret.
        base_url: address of the Web API, ending in /api/.
        authorize_url: address of the page where people agree.
        clock: time.
    """

    def __init__(
        self, client_id: str, client_secret: str, base_url: str, authorize_url: str, clock: Clock
    ) -> None:
        self._own = {"client_id": client_id, "client_secret": client_secret}
        self._authorize = authorize_url
        self._clock = clock
        self._client = httpx.AsyncClient(base_url=base_url, timeout=_TIMEOUT, trust_env=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def page(self, state: str, challenge: str, redirect: str, scopes: frozenset[str]) -> str:
        """The address where the person agrees; the challenge is not used."""
        del challenge
        query = {
            "client_id": self._own["client_id"],
            "scope": "",
            "user_scope": ",".join(sorted(scopes)),
            "state": state,
            "redirect_uri": redirect,
        }
        return f"{self._authorize}?{urlencode(query)}"

    async def exchange(self, code: str, verifier: str, redirect: str) -> tuple[Grant, Holder]:
        """The tokens for a code, and whose they are; the secret of PKCE is not used."""
        del verifier
        form = {**self._own, "code": code, "redirect_uri": redirect}
        answer = await self._called("oauth.v2.access", form, _CODE_DEAD)
        person = part(answer, "authed_user")
        tenants = (part(answer, name).get("id") for name in ("team", "enterprise"))
        holder = Holder(
            wire.identifier(person.get("id")),
            frozenset(found for tenant in tenants if (found := wire.identifier(tenant))),
            wire.identifier(answer.get("app_id")),
        )
        return self._grant(person), holder

    async def refresh(self, grant: Grant) -> Grant:
        """A new pair; Slack ends the old refresh token soon after its use."""
        form = {**self._own, "grant_type": "refresh_token", "refresh_token": grant.refresh}
        answer = await self._called("oauth.v2.access", form, _ENDED)
        person = part(answer, "authed_user")
        return self._grant(person if person.get("access_token") else answer)

    async def revoke(self, grant: Grant) -> None:
        """End the token at Slack; one that ended by itself is as good."""
        headers = {"Authorization": f"Bearer {grant.access}"}
        try:
            await self._called("auth.revoke", {}, _ENDED, headers)
        except SignInNeeded:
            return

    async def _called(
        self,
        method: str,
        form: Mapping[str, str],
        ended: frozenset[str],
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, object]:
        label = f"Slack {method}"
        request = self._client.build_request("POST", method, data=dict(form), headers=headers)
        try:
            async with asyncio.timeout(15.0):
                response = await send(self._client, request, label)
        except TimeoutError as error:
            raise Unavailable(f"{label}: no answer in time") from error
        if response.status_code >= 500:
            raise Unavailable(f"{label}: HTTP {response.status_code}")
        answer: dict[str, object] = json_object(response, label)
        name = wire.text(answer.get("error"))
        if response.status_code == 429 or name in ("ratelimited", "rate_limited"):
            pause = named_pause(response.headers, ("retry-after",), self._clock.now(), 1.0)
            raise RateLimited(f"{label}: too many calls", pause)
        if answer.get("ok") is not True:
            raise _refused(label, name, ended)
        return answer

    def _grant(self, found: Mapping[str, object]) -> Grant:
        access = wire.text(found.get("access_token"))
        if not access:
            raise Unavailable("Slack answered without a person's token")
        life = wire.whole(found.get("expires_in"))
        return Grant(
            access,
            frozenset(wire.text(found.get("scope")).replace(",", " ").split()),
            self._clock.now() + life if life else 0.0,
            wire.text(found.get("refresh_token")),
        )


def _refused(label: str, name: str, ended: frozenset[str]) -> PlumblineError:
    if name in ended:
        return SignInNeeded(f"{label}: {name}")
    if name in _OPERATOR:
        return Misconfigured(f"{label}: {name}")
    return Unavailable(f"{label}: {name or 'refused'}")

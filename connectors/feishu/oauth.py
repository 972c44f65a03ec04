"""Signing in with Feishu or Lark: authorize page, codes, refresh, whose token it is (FEISHU.md 7).

Addresses are settings: the platform has moved its token endpoint before and announces to do so
again. Codes without a [doc] mark in the contract are from memory; a code that is not known ends no
connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import httpx

from agent.errors import Misconfigured, PlumblineError, RateLimited, Unavailable
from agent.ports import Clock
from connectors import wire
from connectors.access import SignInNeeded
from connectors.holdings import Grant
from connectors.signin import Device, Holder
from connectors.web import json_object, named_pause, part, send

OFFLINE: Final = "offline_access"
"""The scope without which there is no refresh token."""
_TIMEOUT: Final = httpx.Timeout(12.0, connect=5.0)
_ENDED: Final = frozenset((20008, 20010, 20024, 20026, 20037, 20064, 20066, 20073, 20074))
"""The refresh token counts no more: expired, used, revoked, or its person may not use the app."""
_CODE_DEAD: Final = frozenset((20003, 20004, 20010, 20024, 20049, 20065))
_OPERATOR: Final = frozenset((20002, 20009, 20048, 20063, 20068, 20069, 20070, 20071))
_RATE: Final = frozenset((99991400,))
_DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True, slots=True)
class FeishuAddresses:
    """Where to sign in. `api` is the origin of the API."""

    api: str
    authorize: str
    token: str
    device: str
    revoke: str

    @classmethod
    def of(cls, api: str, accounts: str = "", token: str = "") -> FeishuAddresses:
        """The usual addresses of an API origin.

        Args:
            api: Such as https://open.feishu.cn; the account host follows from it.
            accounts: Another account host's origin.
            token: Another token endpoint, such as …/oauth/v3/token on the account host.
        """
        accounts = accounts or api.replace("://open.", "://accounts.", 1)
        return cls(
            api,
            f"{accounts}/open-apis/authen/v1/authorize",
            token or f"{api}/open-apis/authen/v2/oauth/token",
            f"{api}/open-apis/authen/v2/oauth/device_authorization",
            f"{accounts}/oauth/v1/revoke",
        )


class FeishuOAuth:
    """The sign-in of people with Feishu.

    Args:
        client_id: the app's id.
        client_secret: the app's secret.
        addresses: where to sign in.
        clock: time.
    """

    def __init__(
        self, client_id: str, client_secret: str, addresses: FeishuAddresses, clock: Clock
    ) -> None:
        self._own = {"client_id": client_id, "client_secret": client_secret}
        self._addresses = addresses
        self._clock = clock
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, trust_env=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def page(self, state: str, challenge: str, redirect: str, scopes: frozenset[str]) -> str:
        """The address where the person agrees."""
        query = {
            "client_id": self._own["client_id"],
            "redirect_uri": redirect,
            "response_type": "code",
            "scope": " ".join(sorted(scopes | {OFFLINE})),
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._addresses.authorize}?{urlencode(query)}"

    async def exchange(self, code: str, verifier: str, redirect: str) -> tuple[Grant, Holder]:
        """The tokens for a code, and whose they are."""
        asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect}
        refusal, answer = await self._token(asked | {"code_verifier": verifier})
        if refusal:
            raise self._refused("code", refusal, _CODE_DEAD)
        return await self._with_holder(self._grant(answer))

    async def refresh(self, grant: Grant) -> Grant:
        """A new pair; the old refresh token is dead from now on."""
        asked = {"grant_type": "refresh_token", "refresh_token": grant.refresh}
        refusal, answer = await self._token(asked)
        if refusal:
            raise self._refused("refresh", refusal, _ENDED)
        return self._grant(answer)

    async def revoke(self, grant: Grant) -> None:
        """End the tokens at the platform (the endpoint is known from field reports only)."""
        form = {**self._own, "token": grant.refresh or grant.access}
        request = self._client.build_request("POST", self._addresses.revoke, data=form)
        response = await send(self._client, request, "Feishu revoke")
        if response.status_code >= 400:
            raise Unavailable(f"Feishu revoke: HTTP {response.status_code}")

    async def start_device(self, scopes: frozenset[str]) -> Device:
        """Begin a sign-in that needs no way back to us: the person opens the address anywhere."""
        body = {"client_id": self._own["client_id"], "scope": " ".join(sorted(scopes | {OFFLINE}))}
        refusal, answer = await self._posted("device", self._addresses.device, body)
        if refusal:
            raise self._refused("device", refusal, frozenset())
        found = part(answer, "data") or answer
        whole = wire.text(found.get("verification_uri_complete"))
        return Device(
            whole or wire.text(found.get("verification_uri")),
            wire.text(found.get("user_code")),
            wire.text(found.get("device_code")),
            float(wire.whole(found.get("interval")) or 5),
            self._clock.now() + (wire.whole(found.get("expires_in")) or 600),
        )

    async def finish_device(self, device: Device) -> tuple[Grant, Holder]:
        """Wait until the person has agreed: the tokens, and whose they are.

        Raises:
            SignInNeeded: the person declined, or the time is over.
        """
        while self._clock.now() < device.ends:
            if found := await self.ask_device(device.secret):
                return found
            await self._clock.sleep(device.interval)
        raise SignInNeeded("the device sign-in was not finished in time")

    async def ask_device(self, secret: str) -> tuple[Grant, Holder] | None:
        """Ask once whether the person has agreed; None as long as nothing was decided.

        Raises:
            SignInNeeded: the person declined, or the time is over.
        """
        asked = {"grant_type": _DEVICE_GRANT, "device_code": secret}
        refusal, answer = await self._token(asked)
        if not refusal:
            return await self._with_holder(self._grant(answer))
        if answer.get("error") in ("authorization_pending", "slow_down"):
            return None
        raise SignInNeeded(f"the device sign-in was refused with code {refusal}")

    # --- the wire ------------------------------------------------------------------------------

    async def _token(self, asked: Mapping[str, str]) -> tuple[int, dict[str, object]]:
        return await self._posted("token", self._addresses.token, {**self._own, **asked})

    async def _posted(
        self, name: str, url: str, body: Mapping[str, str]
    ) -> tuple[int, dict[str, object]]:
        """The code (0 for good) and the flat answer."""
        request = self._client.build_request("POST", url, json=dict(body))
        return await self._answered(f"Feishu {name}", request)

    async def _answered(self, label: str, request: httpx.Request) -> tuple[int, dict[str, object]]:
        try:
            async with asyncio.timeout(15.0):
                response = await send(self._client, request, label)
        except TimeoutError as error:
            raise Unavailable(f"{label}: no answer in time") from error
        if response.status_code == 429:
            raise self._limited(label, response)
        if response.status_code >= 500:
            raise Unavailable(f"{label}: HTTP {response.status_code}")
        answer: dict[str, object] = json_object(response, label)
        code = answer.get("code", 0)
        code = code if isinstance(code, int) else -1
        if code in _RATE:
            raise self._limited(label, response)
        if not code and (response.status_code >= 400 or "error" in answer):
            code = -1
        return code, answer

    def _limited(self, label: str, response: httpx.Response) -> RateLimited:
        names = ("x-ogw-ratelimit-reset", "retry-after")
        pause = named_pause(response.headers, names, self._clock.now(), 1.0)
        return RateLimited(f"{label}: too many calls", pause)

    def _refused(self, name: str, code: int, ended: frozenset[int]) -> PlumblineError:
        if code in ended:
            return SignInNeeded(f"Feishu refused the {name} with code {code}")
        if code in _OPERATOR:
            return Misconfigured(f"Feishu refused our {name} call with code {code}")
        return Unavailable(f"Feishu refused the {name} with code {code}")

    def _grant(self, answer: Mapping[str, object]) -> Grant:
        access = wire.text(answer.get("access_token"))
        if not access:
            raise Unavailable("Feishu answered without a token")
        now = self._clock.now()
        life, longer = (
            wire.whole(answer.get(name)) for name in ("expires_in", "refresh_token_expires_in")
        )
        return Grant(
            access,
            frozenset(wire.text(answer.get("scope")).split()),
            now + life if life else 0.0,
            wire.text(answer.get("refresh_token")),
            now + longer if longer else 0.0,
        )

    async def _with_holder(self, grant: Grant) -> tuple[Grant, Holder]:
        url = f"{self._addresses.api}/open-apis/authen/v1/user_info"
        headers = {"Authorization": f"Bearer {grant.access}"}
        request = self._client.build_request("GET", url, headers=headers)
        code, answer = await self._answered("Feishu user_info", request)
        if code:
            raise Unavailable(f"Feishu does not say whose token it is: code {code}")
        found = part(answer, "data")
        tenant = wire.identifier(found.get("tenant_key"))
        return grant, Holder(wire.identifier(found.get("open_id")), frozenset((tenant,)))

"""Installing the Slack app in further workspaces: Bolt's flow on our own stores (SLACK.md 6).

Bolt checks the browser's cookie and the state and fetches the bot's token; the vault keeps it
sealed, and the workspace is mapped to our organisation. Only workspaces that the operator named may
do that: whoever installs becomes part of the organisation that reads the knowledge base.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from slack_bolt import BoltRequest, BoltResponse
from slack_bolt.error import BoltError
from slack_bolt.oauth import OAuthFlow
from slack_bolt.oauth.callback_options import CallbackOptions, FailureArgs, SuccessArgs
from slack_bolt.oauth.oauth_settings import OAuthSettings
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.oauth.installation_store import Bot, Installation, InstallationStore
from slack_sdk.oauth.state_store import OAuthStateStore

from agent.durable import keys
from agent.durable.records import new_item
from agent.errors import ConditionFailed
from agent.ports import Clock, Exists, Ids, Table
from connectors.slack.installations import Installations

T = TypeVar("T")

BOT_SCOPES: Final = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "groups:history",
    "groups:read",
    "im:history",
    "im:write",
    "reactions:read",
    "reactions:write",
    "search:read.public",
    "usergroups:read",
    "users:read",
)
"""The same as in docs/slack-manifest.yaml."""
STATE_LIFE: Final = 600
"""Seconds that an installation may take."""
_WAIT: Final = 10.0
"""Seconds that a store may take."""
_QUIET: Final = logging.getLogger("plumbline.slack_bolt")


@dataclass(frozen=True, slots=True)
class Bridge:
    """Runs our stores' work on their own loop while Bolt waits in another thread."""

    loop: asyncio.AbstractEventLoop

    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(_WAIT)


class VaultInstallations(InstallationStore):
    """Bolt's view of our installations. People's tokens are none of its business."""

    def __init__(
        self,
        stored: Installations,
        allowed: frozenset[str],
        app: str,
        bridge: Bridge,
        client: WebClient,
    ) -> None:
        self._stored = stored
        self._allowed = allowed
        self._app = app
        self._bridge = bridge
        self._client = client

    @property
    def logger(self) -> logging.Logger:
        """Where Bolt writes."""
        return _QUIET

    def save(self, installation: Installation) -> None:
        """Keep the bot of a workspace that may install it; any other's token is ended at once.

        Raises:
            BoltError: the workspace is not on the operator's list, or it is another app.
        """
        tenant = _tenant(
            installation.enterprise_id,
            installation.team_id,
            enterprise=bool(installation.is_enterprise_install),
        )
        app, token = installation.app_id or "", installation.bot_token or ""
        if tenant not in self._allowed or not token or (self._app and app != self._app):
            self._end(token)
            raise BoltError("this workspace may not install the app")
        self._bridge(self._stored.keep(app, tenant, token, installation.bot_user_id or ""))

    def _end(self, token: str) -> None:
        try:
            self._client.auth_revoke(token=token)  # pyright: ignore[reportUnknownMemberType] - untyped by the vendor
        except SlackClientError as fault:
            _QUIET.warning("a refused bot token was not revoked: %s", type(fault).__name__)

    def find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """The bot of a workspace; None where it is not installed."""
        tenant = _tenant(enterprise_id, team_id, enterprise=bool(is_enterprise_install))
        found = self._bridge(self._stored.find(self._app, tenant))
        if found is None:
            return None
        return Bot(
            app_id=self._app,
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=found[0],
            bot_id="",
            bot_user_id=found[1],
            is_enterprise_install=is_enterprise_install,
            installed_at=0.0,
        )

    def delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the bot of a workspace."""
        tenant = _tenant(enterprise_id, team_id, enterprise=not team_id)
        self._bridge(self._stored.forget(self._app, tenant))


class VaultStates(OAuthStateStore):
    """States of installations: stored as hashes, good once."""

    def __init__(self, table: Table, clock: Clock, ids: Ids, org: str, bridge: Bridge) -> None:
        self._table = table
        self._clock = clock
        self._ids = ids
        self._org = org
        self._bridge = bridge

    @property
    def logger(self) -> logging.Logger:
        """Where Bolt writes."""
        return _QUIET

    def issue(self, *args: object, **kwargs: object) -> str:
        """A fresh state."""
        del args, kwargs
        state = self._ids.new() + self._ids.new()
        now = self._clock.now()
        item = new_item(keys.sign_in(keys.short(f"install {state}")), "sign_in", self._org, now)
        item["exp"] = int(now) + STATE_LIFE
        self._bridge(self._table.put(item))
        return state

    def consume(self, state: str) -> bool:
        """Whether the state is ours, fresh and unused."""
        return self._bridge(self._consumed(state))

    async def _consumed(self, state: str) -> bool:
        key = keys.sign_in(keys.short(f"install {state}"))
        item = await self._table.get(key)
        if item is None:
            return False
        try:
            await self._table.delete_if(key, (Exists(),))
        except ConditionFailed:
            return False
        return cast(int, item["exp"]) > self._clock.now()


@dataclass(frozen=True, slots=True)
class Done:
    """How a step of the installation ended: where to go, the cookie to set, a reason."""

    location: str = ""
    cookie: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class App:
    """Our Slack app: id and secret of the client, addresses, and who may install it.

    `redirect` is our own page on the way back; `allowed` are ids of teams and enterprises.
    """

    app: str
    client_id: str
    client_secret: str = field(repr=False)
    base_url: str
    authorize_url: str
    redirect: str
    allowed: frozenset[str]


def flow(app: App, stored: Installations, ids: Ids, bridge: Bridge) -> OAuthFlow:
    """Bolt's flow on our stores, which calls Slack and repeats nothing by itself."""
    client = WebClient(base_url=app.base_url, retry_handlers=[], timeout=10)
    store = VaultInstallations(stored, app.allowed, app.app, bridge, client)
    settings = OAuthSettings(
        client_id=app.client_id,
        client_secret=app.client_secret,
        scopes=BOT_SCOPES,
        user_scopes=(),
        redirect_uri=app.redirect,
        install_page_rendering_enabled=False,
        authorization_url=app.authorize_url,
        installation_store=store,
        installation_store_bot_only=True,
        state_store=VaultStates(stored.table, stored.clock, ids, stored.org, bridge),
        state_expiration_seconds=STATE_LIFE,
        callback_options=CallbackOptions(success=_succeeded, failure=_failed),
        logger=_QUIET,
    )
    return OAuthFlow(client=client, logger=_QUIET, settings=settings)


def begin(flow_: OAuthFlow) -> Done:
    """The address of Slack's page and the cookie that comes along."""
    answer = flow_.handle_installation(BoltRequest(body="", query={}, headers={}))
    return Done(_first(answer, "location"), _first(answer, "set-cookie"))


def finish(flow_: OAuthFlow, query: Mapping[str, str], cookie: str) -> Done:
    """Take the browser back; a reason says why nothing was installed."""
    request = BoltRequest(
        body="",
        query={name: [value] for name, value in query.items()},
        headers={"cookie": [cookie]},
    )
    answer = flow_.handle_callback(request)
    return Done(cookie=_first(answer, "set-cookie"), reason=answer.body)


def _succeeded(args: SuccessArgs) -> BoltResponse:
    cookie = args.settings.state_utils.build_set_cookie_for_deletion()
    return BoltResponse(status=200, body="", headers={"set-cookie": cookie})


def _failed(args: FailureArgs) -> BoltResponse:
    cookie = args.settings.state_utils.build_set_cookie_for_deletion()
    return BoltResponse(status=400, body=args.reason, headers={"set-cookie": cookie})


def _first(answer: BoltResponse, name: str) -> str:
    return next(iter(answer.headers.get(name, ())), "")


def _tenant(enterprise_id: str | None, team_id: str | None, *, enterprise: bool) -> str:
    """The key of an installation: the enterprise for an organisation-wide one, else the team."""
    return (enterprise_id if enterprise or not team_id else team_id) or ""

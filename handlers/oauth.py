"""Signs people in: GET /oauth/{platform}/start, /callback, and Slack's /install, /installed.

A ticket names who asked; a state, stored as a hash, used once and for ten minutes, brings that
person through the platform and back. A token is kept only when the platform says that it is that
very person's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from agent.domain import Language, Platform
from agent.durable import keys, preferences
from agent.durable.intake import take
from agent.errors import Misconfigured, Retryable
from agent.stores.local_key_cipher import LocalKeyCipher
from agent.stores.system_clock import RandomIds
from connectors.access import SignInNeeded
from connectors.holdings import Grant
from connectors.signin import Authority, Holder, SignIn
from connectors.tools import Connector, asked_scopes, kinds_without
from handlers import gateway, loop, personal, wiring
from handlers.gateway import Request
from handlers.settings import Settings
from handlers.surface import connect, pages
from handlers.surface.pages import PageName
from handlers.wiring import Receiving

if TYPE_CHECKING:
    from slack_bolt.oauth import OAuthFlow

log = logging.getLogger(__name__)

DEADLINE: Final = 25.0
"""Seconds for a request: a gateway gives up after 29."""
_HEADERS: Final = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}
_STATUS: Final[Mapping[PageName, int]] = {
    "done": 200,
    "installed": 200,
    "declined": 200,
    "other_person": 403,
    "not_installed": 403,
    "not_set_up": 404,
    "operator": 502,
    "no_answer": 503,
    "fault": 503,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a browser gets: a page, or another address."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: _HEADERS)

    def as_event(self) -> dict[str, object]:
        """The answer as API Gateway takes it."""
        return {
            "statusCode": self.status,
            "headers": dict(self.headers),
            "body": self.body,
            "isBase64Encoded": False,
        }


def shown(
    name: PageName,
    platform: Platform,
    language: Language | None = None,
    more: tuple[str, ...] = (),
) -> Answer:
    """A page with its status."""
    return Answer(_STATUS.get(name, 400), pages.html(name, platform, language, more))


def sent_on(address: str, cookie: str = "") -> Answer:
    """The way to another page."""
    kept = {"set-cookie": cookie} if cookie else {}
    return Answer(302, headers={**_HEADERS, "location": address, **kept})


@dataclass(frozen=True, slots=True)
class Desk:
    """What a sign-in on one platform works with."""

    platform: Platform
    settings: Settings
    store: Receiving
    safe: personal.Safe
    connector: Connector

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that people may connect here."""
        return personal.offered(self.settings, self.platform)

    @property
    def back(self) -> str:
        """Where the platform sends people back to."""
        return personal.page(self.settings, self.platform, "callback")


def desk(platform: Platform, settings: Settings) -> Desk:
    """The desk of a platform under these settings."""
    store = wiring.receiving(settings)
    cipher = LocalKeyCipher(wiring.state_folder(settings) / "key")
    safe = personal.safe(store.table, cipher, store.clock, RandomIds())
    return Desk(
        platform, settings, store, safe, personal.connector(settings, platform, store.clock)
    )


def receive(event: Mapping[str, object], context: object, settings: Settings) -> dict[str, object]:
    """Answer an API Gateway event under the given settings."""
    del context
    return loop.run(respond(event, settings)).as_event()


def handler(event: Mapping[str, object], context: object) -> dict[str, object]:
    """The Lambda entry point."""
    del context
    try:
        settings = Settings.from_environment()
    except Misconfigured as fault:
        log.error("outcome=misconfigured fault=%s", fault)  # noqa: TRY400 - the sentence says it all
        return shown("not_set_up", "feishu").as_event()
    return receive(event, None, settings)


async def respond(event: object, settings: Settings) -> Answer:
    """The page for a request; nothing of a fault reaches the browser."""
    request = gateway.read(event)
    route = None if request is None or request.method != "GET" else _route(request.path)
    if request is None or route is None:
        return shown("stale_ticket", "feishu")
    platform, name = route
    try:
        async with asyncio.timeout(DEADLINE):
            answer = await _PAGES[name](request, desk(platform, settings))
    except Retryable as fault:
        log.warning("platform=%s page=%s outcome=%s", platform, name, fault.code)
        answer = shown("no_answer", platform)
    except Exception as fault:  # noqa: BLE001 - the edge: texts must not leak
        log.error("platform=%s page=%s outcome=fault type=%s", platform, name, type(fault).__name__)  # noqa: TRY400 - a traceback could hold texts
        answer = shown("fault", platform)
    log.info("platform=%s page=%s status=%d", platform, name, answer.status)
    return answer


def _route(path: str) -> tuple[Platform, str] | None:
    """The platform and page of a path."""
    parts = path.strip("/").split("/")
    if len(parts) != 3 or parts[0] != "oauth" or parts[2] not in _PAGES:
        return None
    if parts[1] == "slack":
        return "slack", parts[2]
    if parts[1] == "feishu" and not parts[2].startswith("install"):
        return "feishu", parts[2]
    return None


async def start(request: Request, at: Desk) -> Answer:
    """Send the holder of a ticket to the platform's page."""
    question = await at.safe.signins.of_ticket(request.query.get("ticket", ""))
    if question is None or question.asker.platform != at.platform:
        return shown("stale_ticket", at.platform)
    if not at.kinds:
        return shown("not_set_up", at.platform, question.language)
    off = (await preferences.load(at.store.table, question.asker.principal)).off
    wanted = tuple(kind for kind in at.kinds if kind not in off) or at.kinds
    scopes = asked_scopes(at.connector.scopes(), wanted)
    state, sign_in = await at.safe.signins.begin(question, scopes)
    authority = personal.authority(at.settings, at.platform, at.store.clock)
    try:
        return sent_on(authority.page(state, sign_in.challenge, at.back, scopes))
    finally:
        await authority.close()


async def callback(request: Request, at: Desk) -> Answer:
    """Take a person back from the platform's page."""
    sign_in = await at.safe.signins.finish(request.query.get("state", ""))
    if sign_in is None or sign_in.question.asker.platform != at.platform:
        return shown("stale_state", at.platform)
    language = sign_in.question.language
    code = request.query.get("code", "")
    if not code:
        declined = request.query.get("error") == "access_denied"
        return shown("declined" if declined else "dead_code", at.platform, language)
    authority = personal.authority(at.settings, at.platform, at.store.clock)
    try:
        return await _exchanged(at, sign_in, code, authority)
    except SignInNeeded:
        return shown("dead_code", at.platform, language)
    except Misconfigured as fault:
        log.error("platform=%s outcome=misconfigured fault=%s", at.platform, fault)  # noqa: TRY400 - the sentence says it all
        return shown("operator", at.platform, language)
    except Retryable as fault:
        log.warning("platform=%s outcome=%s", at.platform, fault.code)
        return shown("no_answer", at.platform, language)
    finally:
        await authority.close()


async def _exchanged(at: Desk, sign_in: SignIn, code: str, authority: Authority) -> Answer:
    grant, holder = await authority.exchange(code, sign_in.verifier, at.back)
    if not holder.is_person(sign_in.question.asker):
        return await _refused(at, grant, holder, authority)
    return await _kept(at, sign_in, grant)


async def _refused(at: Desk, grant: Grant, holder: Holder, authority: Authority) -> Answer:
    """Somebody else signed in: nothing is stored, and the tokens end at once."""
    log.warning("platform=%s outcome=other_person known=%s", at.platform, bool(holder.user))
    try:
        await authority.revoke(grant)
    except Retryable as fault:
        log.warning("platform=%s a refused token was not revoked: %s", at.platform, fault.code)
    return shown("other_person", at.platform)


async def _kept(at: Desk, sign_in: SignIn, grant: Grant) -> Answer:
    """Store the grant and let the worker tell the person in the chat."""
    question, clock = sign_in.question, at.store.clock
    await at.safe.vault.keep(question.asker, grant, sign_in.asked)
    told = replace(question, act=connect.CONNECTED, asked_at=clock.now())
    turn = keys.action_turn_id(connect.CONNECTED, question.asker.user, str(clock.now()))
    await take(told, turn, at.store, turn)
    needed = at.connector.scopes()
    asked = tuple(kind for kind in at.kinds if needed[kind] <= sign_in.asked)
    missing = kinds_without(needed, asked, grant.scopes)
    lines = connect.lacking(question.language, missing)
    return shown("done", at.platform, question.language, tuple(lines))


async def install(request: Request, at: Desk) -> Answer:
    """Send an administrator to Slack's page that installs the app."""
    del request
    if not _installable(at.settings):
        return shown("not_set_up", "slack")
    from connectors.slack.install import begin

    done = await asyncio.to_thread(begin, _flow(at))
    return sent_on(done.location, done.cookie)


async def installed(request: Request, at: Desk) -> Answer:
    """Take an administrator back: the workspace gets its bot when it is on the list."""
    if not _installable(at.settings):
        return shown("not_set_up", "slack")
    from connectors.slack.install import finish

    cookie = request.headers.get("cookie", "")
    done = await asyncio.to_thread(finish, _flow(at), request.query, cookie)
    if done.reason:
        log.warning("platform=slack outcome=not_installed reason=%s", done.reason[:40])
    answer = shown("not_installed" if done.reason else "installed", "slack")
    return replace(answer, headers={**answer.headers, "set-cookie": done.cookie})


def _installable(settings: Settings) -> bool:
    if not personal.allowed_teams(settings) or not settings.slack_client_id:
        return False
    if find_spec("slack_bolt") is None:
        log.error("platform=slack outcome=misconfigured fault=slack-bolt is not installed")
        return False
    return True


def _flow(at: Desk) -> OAuthFlow:
    from connectors.slack.install import App, Bridge, flow
    from connectors.slack.installations import Installations

    settings, vault = at.settings, at.safe.vault
    app = App(
        settings.slack_app_id,
        settings.slack_client_id,
        settings.slack_client_secret,
        settings.slack_base_url,
        settings.slack_authorize_url,
        personal.page(settings, "slack", "installed"),
        personal.allowed_teams(settings),
    )
    stored = Installations(vault.table, vault.cipher, vault.clock, settings.org)
    return flow(app, stored, vault.ids, Bridge(asyncio.get_running_loop()))


_PAGES: Final[Mapping[str, Callable[[Request, Desk], Awaitable[Answer]]]] = {
    "start": start,
    "callback": callback,
    "install": install,
    "installed": installed,
}

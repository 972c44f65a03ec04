"""Who is who: auth.test, users.info and OAuth (SLACK.md section 6)."""

import math
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from simulator import consent
from simulator.faults.board import LIFETIME
from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError
from simulator.slack.show import bot_item, person_item
from simulator.slack.side import (
    APP,
    BOT_ID,
    BOT_NAME,
    BOT_SCOPES,
    BOT_TOKEN,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    TEAM_NAME,
    USER_SCOPES,
    SlackSide,
)
from simulator.state.grants import Asked, Issued
from simulator.state.workspace import BOT

Json = dict[str, Any]
TOKEN_LIFE_S = 43_200
CODE_LIFE_S = 600.0
_TEAM = {"id": TEAM, "name": TEAM_NAME}


def auth_test(call: Call) -> Json:
    """auth.test."""
    who: Json = {"user": call.caller, "user_id": call.side.user_id(call.caller)}
    if call.caller == BOT:
        who = {"user": BOT_NAME, "user_id": BOT_USER, "bot_id": BOT_ID}
    return {
        "url": f"https://{TEAM_DOMAIN}.slack.com/",
        "team": TEAM_NAME,
        "team_id": TEAM,
        **who,
        "is_enterprise_install": False,
    }


def users_info(call: Call) -> Json:
    """users.info."""
    user_id = call.need("user", "user_not_found")
    if user_id == BOT_USER:
        return {"user": bot_item()}
    person = call.side.world.company.by_id(user_id)
    if person is None:
        raise SlackError("user_not_found")
    return {"user": person_item(person)}


def access(call: Call) -> Json:
    """oauth.v2.access: a person's consent, an installation, or a refresh token; each good once."""
    grants = call.side.grants
    if call.text("grant_type") == "refresh_token":
        issued, _ = grants.spend(call.text("refresh_token"), call.now)
        if issued is None:
            raise SlackError("invalid_refresh_token")
        return {"app_id": APP, "team": _TEAM, **_pair(call, issued.login, issued.scopes, issued)}
    asked = grants.take(call.text("code"), "", call.now)
    if asked is None:
        raise SlackError("invalid_code")
    if call.text("redirect_uri") not in ("", asked.redirect):
        raise SlackError("bad_redirect_uri")
    person: Json = {"id": call.side.user_id(asked.login)}
    if asked.scopes:
        person |= _pair(call, asked.login, asked.scopes, None)
    bot: Json = {}
    if asked.install:
        bot = {
            "access_token": BOT_TOKEN,
            "token_type": "bot",
            "bot_user_id": BOT_USER,
            "scope": BOT_SCOPES,
        }
    return {
        "app_id": APP,
        **bot,
        "authed_user": person,
        "team": _TEAM,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _pair(call: Call, login: str, scopes: frozenset[str], of: Issued | None) -> Json:
    """A pair of tokens, as the switch token_life has them; 0 seconds: no rotation, no end."""
    fault = call.side.world.faults.take((LIFETIME,), "slack", "token")
    life = TOKEN_LIFE_S if fault is None else float(fault.options.get("seconds", TOKEN_LIFE_S))
    end = call.now + life if life else math.inf
    family = "" if of is None else of.family
    token, refresh = call.side.grants.issue(login, scopes, (end, math.inf), family)
    rotating: Json = {"refresh_token": refresh, "expires_in": int(life)} if life else {}
    shown = ",".join(sorted(scopes))
    return {"scope": shown, "access_token": token, "token_type": "user", **rotating}


def revoke(call: Call) -> Json:
    """auth.revoke: end the token that the call is made with."""
    return {"revoked": call.side.grants.end(call.token)}


def authorize(side: SlackSide, request: Request) -> Response:
    """GET /oauth/v2/authorize: a person signs in and agrees; &as=LOGIN agrees to all at once."""
    query = dict(request.query_params)
    target = query.get("redirect_uri", "")
    if not target:
        return HTMLResponse("redirect_uri is missing", 400)
    install = bool(query.get("scope"))
    wanted = query.get("user_scope", "" if install else USER_SCOPES)
    scopes = tuple(dict.fromkeys(scope for scope in wanted.split(",") if scope))
    said = consent.ask(side.world.company, "Slack", query, scopes)
    if isinstance(said, Response):
        return said
    end = side.world.clock.now() + CODE_LIFE_S
    code = side.grants.code(Asked(said.login, said.scopes, target, "", end, install=install))
    return consent.back(target, code=code, state=query.get("state", ""))


def connections_open(call: Call) -> Json:
    """apps.connections.open: the address of a Socket Mode connection, for the app-level token."""
    return {"url": f"ws://{urlsplit(call.side.world.origin).netloc}/slack-line?ticket=demo"}


METHODS = {
    "apps.connections.open": Method(connections_open, "app"),
    "auth.test": Method(auth_test),
    "auth.revoke": Method(revoke),
    "users.info": Method(users_info),
    "oauth.v2.access": Method(access, "none"),
}

"""Who is who: auth.test, users.info and OAuth (SLACK.md section 6)."""

import secrets
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError
from simulator.slack.show import bot_item, person_item
from simulator.slack.side import (
    APP,
    BOT_ID,
    BOT_NAME,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    TEAM_NAME,
    USER_SCOPES,
    SlackSide,
)
from simulator.state.workspace import BOT

Json = dict[str, Any]
TOKEN_LIFE_S = 43_200
CODE_LIFE_S = 600.0


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
    """oauth.v2.access for a person's consent: code or refresh token, each good once."""
    side = call.side
    if call.text("grant_type") == "refresh_token":
        login = side.refresh_tokens.pop(call.text("refresh_token"), "")
        if not login:
            raise SlackError("invalid_refresh_token")
    else:
        login, end = side.codes.pop(call.text("code"), ("", 0.0))
        if end <= call.now:
            raise SlackError("invalid_code")
    token, refresh = (f"xoxe.xoxp-issued-{secrets.token_hex(8)}", f"xoxe-1-{secrets.token_hex(8)}")
    side.user_tokens[token] = (login, call.now + TOKEN_LIFE_S)
    side.refresh_tokens[refresh] = login
    return {
        "app_id": APP,
        "authed_user": {
            "id": side.user_id(login),
            "scope": USER_SCOPES,
            "access_token": token,
            "token_type": "user",
            "refresh_token": refresh,
            "expires_in": TOKEN_LIFE_S,
        },
        "team": {"id": TEAM, "name": TEAM_NAME},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def authorize(side: SlackSide, request: Request) -> Response:
    """GET /oauth/v2/authorize: who signs in? With &as=LOGIN that person, at once."""
    query = dict(request.query_params)
    target, login = query.get("redirect_uri", ""), query.get("as", "")
    if not target:
        return HTMLResponse("redirect_uri is missing", 400)
    if side.world.company.person(login):
        code = secrets.token_hex(12)
        side.codes[code] = (login, side.world.clock.now() + CODE_LIFE_S)
        joint = "&" if "?" in target else "?"
        back = urlencode({"code": code, "state": query.get("state", "")})
        return RedirectResponse(f"{target}{joint}{back}", 302)
    rows = "".join(
        f'<li><a href="?{urlencode({**query, "as": person.login})}">{person.shown}</a></li>'
        for person in side.world.company.people
    )
    return HTMLResponse(f"<!DOCTYPE html><title>Sign in to Slack</title><ul>{rows}</ul>")


def connections_open(call: Call) -> Json:
    """apps.connections.open: the address of a Socket Mode connection, for the app-level token."""
    return {"url": f"ws://{urlsplit(call.side.world.origin).netloc}/slack-line?ticket=demo"}


METHODS = {
    "apps.connections.open": Method(connections_open, "app"),
    "auth.test": Method(auth_test),
    "users.info": Method(users_info),
    "oauth.v2.access": Method(access, "none"),
}

"""Tokens of the app and of people, and who they belong to (FEISHU.md section 7)."""

import secrets
from typing import Any
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from simulator.feishu.call import Call, Route
from simulator.feishu.errors import FeishuError, bad_field
from simulator.feishu.side import (
    APP_ID,
    APP_SECRET,
    BOT_NAME,
    BOT_OPEN_ID,
    TENANT,
    TOKEN_LIFE_S,
)

Json = dict[str, Any]
CODE_LIFE_S = 300.0
REFRESH_LIFE_S = 7 * 86400
SCOPES = (
    "auth:user.id:read offline_access search:message search:docs:read docx:document:readonly "
    "wiki:node:read minutes:minutes.search:read minutes:minutes:readonly "
    "minutes:minutes.artifacts:read minutes:minutes.transcript:export im:chat:read"
)


def tenant_token(call: Call) -> Json:
    """Give an app token for id and secret."""
    if call.body.get("app_id") != APP_ID or call.body.get("app_secret") != APP_SECRET:
        raise FeishuError(99991543, "app id or app secret is wrong", 400)
    return {"tenant_access_token": call.side.issue_tenant_token(), "expire": TOKEN_LIFE_S}


def bot_info(_call: Call) -> Json:
    """Tell the app which bot it is; bot stands at the top of the answer."""
    return {
        "bot": {
            "activate_status": 2,
            "app_name": BOT_NAME,
            "avatar_url": "",
            "ip_white_list": [],
            "open_id": BOT_OPEN_ID,
        }
    }


def user_info(call: Call) -> Json:
    """Tell whose token it is."""
    person = call.side.world.known(call.caller)
    return {
        "name": person.shown,
        "en_name": person.name,
        "open_id": person.open_id,
        "union_id": person.union_id,
        "user_id": person.user_id,
        "tenant_key": TENANT,
    }


def _oauth_refusal(code: int, why: str) -> Response:
    return JSONResponse({"code": code, "error": "invalid_grant", "error_description": why}, 400)


def _pair(call: Call, login: str) -> Json:
    side = call.side
    access = f"u-issued-{login}-{secrets.token_hex(8)}"
    refresh = f"ur-issued-{login}-{secrets.token_hex(8)}"
    side.user_tokens[access] = (login, call.now + TOKEN_LIFE_S)
    side.refresh_tokens[refresh] = (login, call.now + REFRESH_LIFE_S)
    return {
        "code": 0,
        "access_token": access,
        "expires_in": TOKEN_LIFE_S,
        "refresh_token": refresh,
        "refresh_token_expires_in": REFRESH_LIFE_S,
        "token_type": "Bearer",
        "scope": SCOPES,
    }


def exchange(call: Call) -> Response:
    """Exchange a code or a refresh token; each works once and the answer is flat."""
    side, body = call.side, call.body
    if body.get("client_id") != APP_ID or body.get("client_secret") != APP_SECRET:
        return _oauth_refusal(20002, "client id or secret is wrong")
    if body.get("grant_type") == "authorization_code":
        login, end = side.codes.pop(str(body.get("code")), ("", 0.0))
        missing = (20003, "the code is unknown, used or too old")
    else:
        login, end = side.refresh_tokens.pop(str(body.get("refresh_token")), ("", 0.0))
        missing = (20037, "the refresh token is unknown, used or too old")
    if not login or end <= call.now:
        return _oauth_refusal(*missing)
    return JSONResponse(_pair(call, login))


def authorize(call: Call) -> Response:
    """Show who could sign in; with &as=LOGIN sign that person in at once.

    Raises:
        FeishuError: 99992402 for another app id or without redirect_uri.
    """
    query = call.query
    target = query.get("redirect_uri")
    if query.get("client_id") != APP_ID or not target:
        raise bad_field("client_id or redirect_uri")
    login = query.get("as")
    if login and call.side.world.company.person(login):
        code = f"code-{secrets.token_hex(8)}"
        call.side.codes[code] = (login, call.now + CODE_LIFE_S)
        joint = "&" if "?" in target else "?"
        back = urlencode({"code": code, "state": query.get("state", "")})
        return RedirectResponse(f"{target}{joint}{back}", 302)
    rows = "".join(
        f'<li><a href="?{urlencode({**query, "as": person.login})}">{person.shown}</a></li>'
        for person in call.side.world.company.people
    )
    return HTMLResponse(f"<!DOCTYPE html><title>Sign in</title><ul>{rows}</ul>")


ROUTES = [
    Route(
        "POST", "/open-apis/auth/v3/tenant_access_token/internal", tenant_token, "none", flat=True
    ),
    Route("GET", "/open-apis/bot/v3/info", bot_info, "app", flat=True),
    Route("GET", "/open-apis/authen/v1/user_info", user_info, "user"),
    Route("GET", "/open-apis/authen/v1/authorize", authorize, "none"),
    Route("POST", "/open-apis/authen/v2/oauth/token", exchange, "none"),
    Route("POST", "/oauth/v3/token", exchange, "none"),
]

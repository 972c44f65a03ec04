"""Tokens of the app and of people, and who they belong to (FEISHU.md section 7)."""

import secrets
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, Response

from simulator import consent
from simulator.faults.board import LIFETIME
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
from simulator.state.grants import CODE_LIFE_S, Asked, Waiting

Json = dict[str, Any]
DEVICE_LIFE_S = 600.0
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
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


def _oauth_refusal(code: int, why: str, error: str = "invalid_grant") -> Response:
    return JSONResponse({"code": code, "error": error, "error_description": why}, 400)


def _pair(call: Call, login: str, scopes: frozenset[str], family: str = "") -> Response:
    """A pair of tokens, as the switch token_life has them live."""
    fault = call.side.world.faults.take((LIFETIME,), "feishu", "token")
    options = {} if fault is None else fault.options
    life = float(options.get("seconds", TOKEN_LIFE_S))
    longer = float(options.get("refresh_seconds", REFRESH_LIFE_S))
    ends = (call.now + life, call.now + longer)
    access, refresh = call.side.grants.issue(login, scopes, ends, family)
    answer: Json = {
        "code": 0,
        "access_token": access,
        "expires_in": int(life),
        "token_type": "Bearer",
        "scope": " ".join(sorted(scopes)),
    }
    if "offline_access" in scopes:
        answer |= {"refresh_token": refresh, "refresh_token_expires_in": int(longer)}
    return JSONResponse(answer)


def exchange(call: Call) -> Response:
    """Exchange a code, a refresh token or a device code; each works once, the answer is flat."""
    body = call.body
    if body.get("client_id") != APP_ID or body.get("client_secret") != APP_SECRET:
        return _oauth_refusal(20002, "client id or secret is wrong", "invalid_client")
    kind = body.get("grant_type")
    if kind == "authorization_code":
        return _by_code(call)
    return _by_device(call) if kind == DEVICE_GRANT else _by_refresh(call)


def _by_code(call: Call) -> Response:
    body = call.body
    code, verifier = str(body.get("code")), str(body.get("code_verifier") or "")
    asked = call.side.grants.take(code, verifier, call.now)
    if asked is None or body.get("redirect_uri", asked.redirect) != asked.redirect:
        return _oauth_refusal(20003, "the code is unknown, used, too old or of another page")
    return _pair(call, asked.login, asked.scopes)


def _by_refresh(call: Call) -> Response:
    issued, reused = call.side.grants.spend(str(call.body.get("refresh_token")), call.now)
    if reused:
        return _oauth_refusal(20064, "the refresh token was used before")
    if issued is None:
        return _oauth_refusal(20037, "the refresh token is unknown or too old")
    return _pair(call, issued.login, issued.scopes, issued.family)


def _by_device(call: Call) -> Response:
    waiting = call.side.grants.devices.get(str(call.body.get("device_code")))
    if waiting is None or waiting.end <= call.now:
        return _oauth_refusal(20004, "the device code is unknown or too old", "expired_token")
    if waiting.declined:
        return _oauth_refusal(20003, "the person declined", "access_denied")
    if not waiting.login:
        return _oauth_refusal(20003, "nobody has agreed yet", "authorization_pending")
    del call.side.grants.devices[str(call.body.get("device_code"))]
    return _pair(call, waiting.login, waiting.scopes)


def _scopes(text: object) -> tuple[str, ...]:
    """The scopes that are asked for; all that the app has when none is named."""
    return tuple(dict.fromkeys(str(text or SCOPES).split()))


def authorize(call: Call) -> Response:
    """Let a person sign in and agree; with &as=LOGIN that person agrees to everything at once.

    Raises:
        FeishuError: 99992402 for another app id or without redirect_uri.
    """
    query = call.query
    target = query.get("redirect_uri")
    if query.get("client_id") != APP_ID or not target:
        raise bad_field("client_id or redirect_uri")
    said = consent.ask(call.side.world.company, "Feishu", query, _scopes(query.get("scope")))
    if isinstance(said, Response):
        return said
    challenge = query.get("code_challenge", "")
    asked = Asked(said.login, said.scopes, target, challenge, call.now + CODE_LIFE_S)
    code = call.side.grants.code(asked)
    return consent.back(target, code=code, state=query.get("state", ""))


def device(call: Call) -> Json:
    """Begin a device sign-in; the person goes to the address that the answer names."""
    if call.body.get("client_id") != APP_ID:
        raise bad_field("client_id")
    secret, shown = secrets.token_hex(12), secrets.token_hex(3).upper()
    scopes = frozenset(_scopes(call.body.get("scope")))
    call.side.grants.devices[secret] = Waiting(scopes, call.now + DEVICE_LIFE_S)
    page = f"{call.side.world.origin}/open-apis/authen/v2/oauth/device"
    return {
        "device_code": secret,
        "user_code": shown,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?device={secret}",
        "expires_in": int(DEVICE_LIFE_S),
        "interval": 1,
    }


def device_page(call: Call) -> Response:
    """Let a person agree to a device sign-in."""
    waiting = call.side.grants.devices.get(call.query.get("device", ""))
    if waiting is None:
        raise bad_field("device")
    if "no" in call.query:
        waiting.declined = True
        return HTMLResponse("<!DOCTYPE html><title>Declined</title><p>Declined. 已拒绝。")
    said = consent.ask(call.side.world.company, "Feishu", call.query, tuple(sorted(waiting.scopes)))
    if isinstance(said, Response):
        return said
    waiting.login, waiting.scopes = said.login, said.scopes
    return HTMLResponse("<!DOCTYPE html><title>Done</title><p>Done. 已完成。")


def revoke(call: Call) -> Response:
    """End a sign-in by one of its tokens; one that is unknown is none any more."""
    if call.body.get("client_id") != APP_ID or call.body.get("client_secret") != APP_SECRET:
        return _oauth_refusal(20002, "client id or secret is wrong", "invalid_client")
    call.side.grants.end(str(call.body.get("token")))
    return JSONResponse({"code": 0})


ROUTES = [
    Route(
        "POST", "/open-apis/auth/v3/tenant_access_token/internal", tenant_token, "none", flat=True
    ),
    Route("GET", "/open-apis/bot/v3/info", bot_info, "app", flat=True),
    Route("GET", "/open-apis/authen/v1/user_info", user_info, "user"),
    Route("GET", "/open-apis/authen/v1/authorize", authorize, "none"),
    Route("POST", "/open-apis/authen/v2/oauth/token", exchange, "none"),
    Route("POST", "/oauth/v3/token", exchange, "none"),
    Route("POST", "/open-apis/authen/v2/oauth/device_authorization", device, "none", flat=True),
    Route("GET", "/open-apis/authen/v2/oauth/device", device_page, "none"),
    Route("POST", "/oauth/v1/revoke", revoke, "none"),
]

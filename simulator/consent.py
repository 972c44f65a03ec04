"""The page on which a person signs in and agrees to scopes, each of which can be un-ticked."""

from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, RedirectResponse, Response

from simulator.company import Company

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;"
    "color:#1f2329}li{margin:.35rem 0}button{font:inherit;padding:.4rem 1.2rem;margin-right:.6rem}"
    "small{color:#646a73}"
)


@dataclass(frozen=True, slots=True)
class Agreed:
    """Who agreed, to which of the scopes."""

    login: str
    scopes: frozenset[str]


def ask(
    company: Company, platform: str, query: dict[str, str], scopes: tuple[str, ...]
) -> Agreed | Response:
    """What a person agreed to, or the next page on the way there.

    Without `as` the page asks who signs in; with `who` it shows the scopes; with `as` (and `picked`
    from the form) the person has agreed; `no` says that the person declined.
    """
    login = query.get("as", "")
    if company.person(login):
        picked = frozenset(scope for scope in scopes if f"grant.{scope}" in query)
        return Agreed(login, picked if "picked" in query else frozenset(scopes))
    if "no" in query:
        return back(query["redirect_uri"], error="access_denied", state=query.get("state", ""))
    person = company.person(query.get("who", ""))
    if person is None:
        rows = "".join(
            f'<li><a href="?{escape(urlencode({**query, "who": one.login}))}">{escape(one.shown)}'
            "</a></li>"
            for one in company.people
        )
        return _page(f"<h1>{platform}: sign in · 登录</h1><ul>{rows}</ul>")
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in query.items()
        if name != "who"
    )
    boxes = "".join(
        f'<li><label><input type="checkbox" name="grant.{escape(scope)}" checked> '
        f"<code>{escape(scope)}</code></label></li>"
        for scope in scopes
    )
    return _page(
        f"<h1>{escape(person.shown)} · {platform}</h1>"
        "<p>Plumbline asks for these permissions. Plumbline 申请以下权限：</p>"
        f'<form>{hidden}<input type="hidden" name="picked" value="1"><ul>{boxes}</ul>'
        f'<button name="as" value="{person.login}">Allow · 允许</button>'
        '<button name="no" value="1">Decline · 拒绝</button></form>'
    )


def back(target: str, **query: str) -> Response:
    """The way back to the app."""
    joint = "&" if "?" in target else "?"
    return RedirectResponse(f"{target}{joint}{urlencode(query)}", 302)


def _page(body: str) -> HTMLResponse:
    return HTMLResponse(
        f"<!DOCTYPE html><meta charset=utf-8><title>Sign in</title><style>{_STYLE}</style>"
        f"<main>{body}<p><small>Simulator</small></p></main>"
    )

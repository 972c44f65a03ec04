"""What a faulty call is answered with: limits, pages, broken JSON, lost connections, codes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from simulator.faults.board import CALL_KINDS, Fault
from simulator.faults.scopes import scope_of
from simulator.state.world import World
from simulator.wire import Incoming, read

Json = dict[str, Any]
Answer = Callable[[], Awaitable[Response]]
Forget = Callable[[str], None]
"""Makes an app token invalid."""
_PAGE = "<html><head><title>{0}</title></head><body><h1>{0} Bad Gateway</h1></body></html>"
_BROKEN = {"broken": b'{"code": 0, "data": {', "list": b"[]", "empty": b"", "null": b"null"}


class LostResponse(Response):
    """An answer that never arrives: the connection is closed after the header."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Promise a body and close; the server drops the connection then."""
        del scope, receive
        head = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": head})


@dataclass(frozen=True, slots=True)
class Faulty:
    """The way of one platform's calls through the switches."""

    world: World
    platform: str
    forget: Forget

    async def __call__(self, request: Request, answer: Answer) -> Response:
        """Answer a request, with the fault that strikes it if one does."""
        incoming = await read(request)
        fault = self._struck(incoming)
        if fault is None:
            return await answer()
        if fault.kind == "slow":
            await asyncio.sleep(float(fault.options.get("seconds", 5.0)))
            return await answer()
        if fault.kind == "drop":
            if fault.options.get("done", True):
                await answer()
            else:
                self._note(incoming, 0, "dropped")
            return LostResponse()
        response, code = self._refusal(fault, incoming)
        self._note(incoming, response.status_code, code)
        return response

    def _struck(self, incoming: Incoming) -> Fault | None:
        others = CALL_KINDS - {"missing_scope"}
        board = self.world.faults
        channel = str(incoming.body.get("channel") or incoming.query.get("channel") or "")
        needed = scope_of(self.platform, incoming.method, incoming.path, channel)
        for fault in board.faults:
            if (
                fault.kind == "missing_scope"
                and needed
                and fault.options.get("scope") == needed
                and fault.fits(self.platform, incoming.method, incoming.path)
                and fault.strike()
            ):
                return fault
        return board.take(others, self.platform, incoming.path, incoming.method)

    def _note(self, incoming: Incoming, status: int, code: int | str) -> None:
        body = {name: value for name, value in incoming.body.items() if name != "token"}
        self.world.record(
            self.platform, incoming.method, incoming.path, body, (status, code), "bot"
        )

    def _refusal(self, fault: Fault, incoming: Incoming) -> tuple[Response, int | str]:
        options = fault.options
        match fault.kind:
            case "rate_limit":
                return self._limited(options)
            case "status":
                status = int(options.get("status", 503))
                return Response(str(options.get("body", "")), status), "status"
            case "html":
                status = int(options.get("status", 502))
                return HTMLResponse(_PAGE.format(status), status), "html"
            case "bad_json":
                shape = str(options.get("shape", "broken"))
                broken = _BROKEN.get(shape, _BROKEN["broken"])
                return Response(broken, media_type="application/json"), "bad_json"
            case "token_invalid":
                self.forget(incoming.bearer)
                return self._coded(options.get("code") or self._either(99991663, "invalid_auth"))
            case "card_sequence":
                return self._coded(300317)
            case "missing_scope":
                return self._without(str(options.get("scope")))
            case _:
                return self._coded(options.get("code") or self._either(99991400, "internal_error"))

    def _either(self, feishu: int, slack: str) -> int | str:
        return feishu if self.platform == "feishu" else slack

    def _coded(self, code: int | str, status: int = 200) -> tuple[Response, int | str]:
        """A refusal in the body of a good status, as both platforms do it."""
        if self.platform == "feishu":
            number = int(code) if str(code).isdigit() else 1
            return JSONResponse({"code": number, "msg": f"simulated {number}"}, status), number
        return JSONResponse({"ok": False, "error": str(code)}, status), str(code)

    def _without(self, scope: str) -> tuple[Response, int | str]:
        if self.platform == "slack":
            body = {"ok": False, "error": "missing_scope", "needed": scope, "provided": "identify"}
            return JSONResponse(body), "missing_scope"
        missing = {"type": "action_scope_required", "subject": scope, "description": scope}
        body = {
            "code": 99991672,
            "msg": f"Access denied. One of the following scopes is required: [{scope}].",
            "error": {"permission_violations": [missing]},
        }
        return JSONResponse(body, 400), 99991672

    def _limited(self, options: Json) -> tuple[Response, int | str]:
        """429 with the pause in one of its forms; Feishu's old endpoints use 400."""
        pause = float(options.get("retry_after", 2))
        texts = {
            "seconds": str(int(pause)),
            "decimal": f"{pause:.2f}",
            "date": formatdate(self.world.clock.wall() + pause, usegmt=True),
            "epoch": str(int(self.world.clock.wall() + pause)),
            "nonsense": "soon",
        }
        form = str(options.get("form", "seconds"))
        usual = "x-ogw-ratelimit-reset" if self.platform == "feishu" else "Retry-After"
        header = str(options.get("header", usual))
        headers = {header: texts[form]} if form in texts else {}
        code = self._either(99991400, "ratelimited")
        body: Json = {"ok": False, "error": code}
        if self.platform == "feishu":
            body = {"code": code, "msg": "request trigger frequency limit"}
        return JSONResponse(body, int(options.get("status", 429)), headers), code

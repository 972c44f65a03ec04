"""Feishu's long connection: the address a client asks for, and events as frames."""

import base64
import binascii
import json
import secrets
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket

from simulator.feishu.side import APP_ID, APP_SECRET
from simulator.lines import frames
from simulator.lines.frames import WireFrame
from simulator.lines.line import Heard, Line
from simulator.wire import read

Json = dict[str, Any]
ENDPOINT = "/callback/ws/endpoint"
SOCKET = "/feishu-line"
# What a client is told: reconnect for ever, at once, ping rarely. The platform names longer pauses.
CONFIG = {"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 120}


async def endpoint(request: Request, origin: str) -> Response:
    """POST /callback/ws/endpoint: give the app the address of its connection."""
    body = (await read(request)).body
    if body.get("AppID") != APP_ID or body.get("AppSecret") != APP_SECRET:
        return JSONResponse({"code": 514, "msg": "app id or secret is wrong", "data": {}})
    address = f"ws://{urlsplit(origin).netloc}{SOCKET}"
    url = f"{address}?device_id={secrets.randbelow(10**9)}&service_id=1"
    return JSONResponse({"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": CONFIG}})


class FeishuLine(Line):
    """Frames of the kind event; card callbacks come as events too."""

    async def greet(self, socket: WebSocket) -> None:
        """Feishu says nothing first."""
        del socket

    async def hear(self, socket: WebSocket, message: bytes | str) -> None:
        """Take an answer, or a ping."""
        frame = frames.read(message if isinstance(message, bytes) else message.encode())
        if frame.method == frames.CONTROL:
            pong = WireFrame(frames.CONTROL, {"type": "pong"}, json.dumps(CONFIG).encode())
            await socket.send_bytes(frames.write(pong))
            return
        answer: Json = json.loads(frame.payload or b"{}")
        try:
            body = base64.b64decode(answer.get("data") or "")
        except (binascii.Error, ValueError):
            body = b""
        self.settle(frame.headers["message_id"], Heard(answer.get("code") == 200, body))

    async def send(
        self, socket: WebSocket, key: str, line_type: str, payload: Json, number: int
    ) -> None:
        """Send an event."""
        del line_type, number
        headers = {
            "type": "event",
            "message_id": key,
            "trace_id": secrets.token_hex(8),
            "sum": "1",
            "seq": "0",
        }
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        await socket.send_bytes(frames.write(WireFrame(frames.DATA, headers, body)))

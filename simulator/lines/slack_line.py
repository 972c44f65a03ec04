"""Slack's Socket Mode: JSON envelopes that are acknowledged by their id."""

import json
from typing import Any

from starlette.websockets import WebSocket

from simulator.lines.line import Heard, Line

Json = dict[str, Any]


class SlackLine(Line):
    """Envelopes events_api, slash_commands and interactive."""

    async def greet(self, socket: WebSocket) -> None:
        """Say hello."""
        hello = {
            "type": "hello",
            "num_connections": 1,
            "debug_info": {"host": "simulator", "approximate_connection_time": 18060},
            "connection_info": {"app_id": "A0DEMO0001"},
        }
        await socket.send_text(json.dumps(hello))

    async def hear(self, socket: WebSocket, message: bytes | str) -> None:
        """Take an acknowledgement; its payload is what a command or a press is answered with."""
        del socket
        answer: Json = json.loads(message)
        body = json.dumps(answer.get("payload") or {}, ensure_ascii=False).encode()
        self.settle(str(answer.get("envelope_id")), Heard(True, body))

    async def part(self, socket: WebSocket) -> None:
        """Ask the bot to connect anew, as Slack does every few hours."""
        await socket.send_text(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))

    async def send(
        self, socket: WebSocket, key: str, line_type: str, payload: Json, number: int
    ) -> None:
        """Send an envelope."""
        envelope: Json = {
            "envelope_id": key,
            "type": line_type,
            "payload": payload,
            "accepts_response_payload": line_type != "events_api",
        }
        if line_type == "events_api":
            envelope |= {"retry_attempt": number, "retry_reason": "timeout" if number else ""}
        await socket.send_text(json.dumps(envelope, ensure_ascii=False))

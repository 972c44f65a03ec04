"""The simulator on a free loopback port, in a thread, with a bot that only listens."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import uvicorn

from simulator.__main__ import listen, make_server

Json = dict[str, Any]


@dataclass(frozen=True)
class Delivered:
    """One request the simulator sent to the bot, as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ListeningBot:
    """Keeps what is delivered; answers with `status` and `answer`."""

    url: str = ""
    delivered: list[Delivered] = field(default_factory=list[Delivered])
    status: int = 200
    answer: bytes = b"{}"

    def forget(self) -> None:
        self.delivered.clear()
        self.status, self.answer = 200, b"{}"


@dataclass
class RunningSimulator:
    """A client of the control API and of both platforms, beside the bot's ear."""

    origin: str
    client: httpx.Client
    bot: ListeningBot

    def get(self, path: str, **query: object) -> Any:
        answer = self.client.get(f"/sim/{path}", params={k: str(v) for k, v in query.items()})
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: Json) -> Json:
        answer = self.client.post(f"/sim/{path}", json=body)
        answer.raise_for_status()
        return answer.json()

    def say(self, platform: str, login: str, chat: str, text: str, **more: object) -> str:
        body = {"platform": platform, "as": login, "chat": chat, "text": text, **more}
        return str(self.post("say", body)["message"])

    def messages(self, platform: str, login: str, chat: str, **more: object) -> list[Json]:
        return self.get("messages", platform=platform, chat=chat, **{"as": login}, **more)

    def message(self, platform: str, login: str, chat: str, message_id: str) -> Json:
        return next(m for m in self.messages(platform, login, chat) if m["id"] == message_id)

    def advance(self, seconds: float) -> None:
        self.post("clock", {"advance": seconds})

    def wait_for(self, count: int) -> list[Delivered]:
        """Wait until the bot has got so many deliveries."""
        until(lambda: len(self.bot.delivered) >= count)
        return list(self.bot.delivered)

    def reset(self) -> None:
        self.post("reset", {})
        self.bot.forget()


def until(true: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until something holds; fails loudly after some seconds."""
    for _ in range(int(seconds / 0.01)):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


@contextmanager
def listening_bot() -> Generator[ListeningBot, None, None]:
    bot = ListeningBot()

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = bot.status, bot.answer
            bot.delivered.append(Delivered(self.path, dict(self.headers), body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Ear) as server:
        bot.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield bot
        finally:
            server.shutdown()
            thread.join()


def _serve(server: uvicorn.Server, gate: socket.socket) -> None:
    asyncio.run(server.serve(sockets=[gate]))


@contextmanager
def running_simulator() -> Generator[RunningSimulator, None, None]:
    """Run the simulator until the block ends."""
    with listening_bot() as bot:
        gate, origin = listen(0)
        server = make_server(origin, bot.url)
        thread = threading.Thread(target=_serve, args=(server, gate))
        with gate, httpx.Client(base_url=origin, trust_env=False, timeout=10) as client:
            thread.start()
            try:
                yield RunningSimulator(origin, client, bot)
            finally:
                server.should_exit = True
                thread.join()

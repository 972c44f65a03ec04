"""A model server on loopback that plays written HTTP answers and remembers the requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import responses
from pathlib import Path
from typing import Literal, cast

from agent.domain import Json

Ending = Literal["whole", "abort", "hang"]

OK = 200
CASES = Path(__file__).parents[1] / "data" / "cases"
MODELS = Path(__file__).parents[1] / "data" / "models"


@dataclass(frozen=True, slots=True)
class Played:
    """One answer. `{n}` in the body becomes the request's number, from 1. `ending`: whole; abort
    closes the connection before the body's end; hang keeps it open until the client goes."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    ending: Ending = "whole"


@dataclass(frozen=True, slots=True)
class Seen:
    """One request: path, headers in lower case, and its JSON body."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Json]


def sse_case(name: str, ending: Ending = "whole") -> Played:
    """The handed stream `agent/NAME.sse`."""
    body = (CASES / "agent" / f"{name}.sse").read_text(encoding="utf-8")
    return Played(body, ending=ending)


def model_stream(name: str, ending: Ending = "whole") -> Played:
    """Our own recorded stream `tests/data/models/NAME.sse`."""
    return Played((MODELS / f"{name}.sse").read_text(encoding="utf-8"), ending=ending)


def fault(status: int, kind: str, message: str = "", **headers: str) -> Played:
    """An error answer in the Messages API's form; `_` in header names stands for a dash."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return Played(body, status, {k.replace("_", "-"): v for k, v in headers.items()})


@dataclass(slots=True)
class SseServer:
    """Plays `answers` in order, the last one again and again. `gone` is set when the client
    closed a hung connection."""

    answers: list[Played]
    address: str = ""
    seen: list[Seen] = field(default_factory=list[Seen])
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _request(reader)) is not None:
                self.seen.append(request)
                answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
                writer.write(_answer(answer, len(self.seen)))
                await writer.drain()
                if answer.ending == "hang":
                    await reader.read()
                    self.gone.set()
                if answer.ending != "whole":
                    break
        except ConnectionError:
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def sse_server(answers: Iterable[Played]) -> AsyncGenerator[SseServer, None]:
    """A server on a free port of 127.0.0.1; `address` is its origin."""
    server = SseServer(list(answers))
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(begin, "127.0.0.1", 0)
    server.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in tuple(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tuple(tasks))
        await listening.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    """The next request on the connection; None when the client is gone."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    body = cast("dict[str, Json]", json.loads(raw or b"{}"))
    return Seen(first.split(" ")[1], headers, body)


def _answer(answer: Played, n: int) -> bytes:
    """Head and chunked body as bytes; an event of a stream is a chunk of its own."""
    streamed = answer.status == OK
    media = "text/event-stream" if streamed else "application/json"
    headers = {"content-type": media, "transfer-encoding": "chunked", **answer.headers}
    head = f"HTTP/1.1 {answer.status} {responses.get(answer.status, 'Busy')}\r\n"
    head += "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    events = [e.encode() for e in answer.body.replace("{n}", str(n)).split("\n\n") if e.strip()]
    chunks = [e + b"\n\n" for e in events] if streamed else events
    body = b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks)
    return head.encode("latin-1") + body + (b"0\r\n\r\n" if answer.ending == "whole" else b"")

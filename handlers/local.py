"""One machine: the same handlers over HTTP, and a worker beside them.

Requests are handed to the handlers as API Gateway events; rings are taken from the embedded queue
and drained by the worker's own code. There is no second code path for a turn.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import cast

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agent.errors import Misconfigured, PlumblineError
from agent.ports import Ring
from handlers import feishu, oauth, slack, wiring
from handlers.gateway import MAX_BODY
from handlers.settings import Settings
from handlers.wiring import Workplace
from handlers.worker import drain

log = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""Sessions that are answered at the same time."""
BODY_LIMIT = 10.0
"""Seconds that a request's body may take."""
LISTEN_PAUSE = 0.05
"""Seconds between two looks at an empty queue."""

Receive = Callable[[Mapping[str, object], object, Settings], dict[str, object]]


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens: its address, and the worker's side of it."""

    url: str
    workplace: Workplace


def listen(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Open a port; 0 takes a free one.

    Raises:
        Misconfigured: somebody else has it, or it can not be had.
    """
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise Misconfigured(
            f"Can not listen on {host}:{port} ({error}): stop what uses it or choose another port."
        ) from error


@asynccontextmanager
async def serving(
    settings: Settings,
    port: int,
    host: str = "127.0.0.1",
    workplace: Workplace | None = None,
) -> AsyncGenerator[Running]:
    """Serve the handlers and work through the queue until the block ends.

    Args:
        settings: What the operator decided.
        port: Where to listen; 0 takes a free one.
        host: The address to listen on.
        workplace: What the worker works with; without one, that of the settings.

    Raises:
        Misconfigured: the port can not be had.
    """
    listening = listen(port, host)
    server = uvicorn.Server(
        uvicorn.Config(application(settings), log_level="warning", lifespan="off", access_log=False)
    )
    workplace = workplace or await wiring.worker(settings)
    serve = asyncio.create_task(server.serve(sockets=[listening]))
    work = asyncio.create_task(_work(workplace))
    try:
        while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
        yield Running(f"http://{host}:{listening.getsockname()[1]}", workplace)
    finally:
        server.should_exit = True
        work.cancel()
        await asyncio.wait((serve, work))
        await workplace.aclose()


def application(settings: Settings) -> Starlette:
    """The HTTP side: /feishu/… and /slack/… are one function each, as behind the gateway.

    What a request is for is read from its content, so an operator may name the last part freely
    (events, commands, interactivity). /oauth/… are the pages around a sign-in.
    """

    def route(path: str, receive: Receive, method: str = "POST") -> Route:
        async def endpoint(request: Request) -> Response:
            event = await _event(request)
            answer = await run_in_threadpool(receive, event, None, settings)
            return Response(
                str(answer["body"]),
                status_code=cast(int, answer["statusCode"]),
                headers=cast(dict[str, str], answer["headers"]),
            )

        return Route(path, endpoint, methods=[method])

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok")

    return Starlette(
        routes=[
            Route("/health", health),
            route("/feishu/{purpose}", feishu.receive),
            route("/slack/{purpose}", slack.receive),
            route("/oauth/{platform}/{page}", oauth.receive, "GET"),
        ]
    )


async def _event(request: Request) -> dict[str, object]:
    """The request as an API Gateway event of payload format 2.0."""
    body = await _body(request)
    return {
        "version": "2.0",
        "rawPath": request.url.path,
        "rawQueryString": request.url.query,
        "headers": dict(request.headers),
        "requestContext": {"http": {"method": request.method, "path": request.url.path}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


async def _body(request: Request) -> bytes:
    """The body; of one that is too large or too slow only a part, which proves nothing."""
    parts: list[bytes] = []
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_LIMIT):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > MAX_BODY:
                    break
    return b"".join(parts)


async def _work(workplace: Workplace) -> None:
    """Answer rings for ever, several sessions at a time."""
    free = asyncio.Semaphore(MOST_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        while True:
            await free.acquire()
            rings = await _rings(workplace)
            if not rings:
                free.release()
                await workplace.clock.sleep(LISTEN_PAUSE)
            for ring in rings:
                task = group.create_task(_answer(workplace, ring))
                task.add_done_callback(lambda _: free.release())


async def _rings(workplace: Workplace) -> tuple[Ring, ...]:
    """The next ring, if any; a queue that gives no answer is asked again."""
    try:
        return await workplace.queue.receive()
    except PlumblineError:
        log.exception("the queue gave no answer")
        return ()


async def _answer(workplace: Workplace, ring: Ring) -> None:
    """Drain the session; what fails or is left to another rings again, should its holder die."""
    try:
        if await drain(workplace, ring.session):
            await workplace.queue.ack(ring.receipt)
    except PlumblineError:
        log.exception("session %s is left for the next ring", ring.session)
    except Exception:  # the server outlives a fault in one session; the ring comes again
        log.exception("a fault in session %s", ring.session)

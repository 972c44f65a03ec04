"""Receives a request of a chat platform: read it, take the question in, ring, answer.

Nothing that fails here says why to the caller: a refusal, an acceptance and a fault of ours differ
in their status alone. A fault is a 503, so that the platform delivers again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agent.domain import Platform
from agent.durable.intake import take
from agent.errors import Misconfigured
from connectors.incoming import (
    Action,
    Challenge,
    Command,
    Edited,
    Incoming,
    Lifecycle,
    Message,
    Overheard,
    Recalled,
    Refused,
)
from handlers import gateway, loop, wiring
from handlers.gateway import Request, Response
from handlers.ordering import notice, order
from handlers.pressing import Handled, press
from handlers.second_thoughts import edit, overhear, recall
from handlers.settings import Settings, variable_of
from handlers.wiring import Receiving

log = logging.getLogger(__name__)

DEADLINE = 2.5
"""Seconds for the store: both platforms wait 3 s for an answer."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What differs between the platforms.

    `read` verifies a request and says what it means at the given time. `secrets` are the settings
    without which nothing is accepted. `body` answers everything that has no answer of its own.
    """

    platform: Platform
    read: Callable[[Request, Settings, float], Incoming]
    secrets: tuple[str, ...]
    body: str


def run(event: object, edge: Edge, settings: Settings | None = None) -> dict[str, object]:
    """Answer an API Gateway event, synchronously. Without `settings` the environment's are used."""
    try:
        known = settings or Settings.from_environment()
    except Misconfigured as fault:
        log.error(  # noqa: TRY400 - the sentence says it all
            "platform=%s outcome=misconfigured fault=%s", edge.platform, fault
        )
        return Response(503, edge.body).as_event()
    return loop.run(respond(event, edge, known, wiring.receiving)).as_event()


async def respond(
    event: object, edge: Edge, settings: Settings, wired: Callable[[Settings], Receiving]
) -> Response:
    """Answer an API Gateway event: 200 taken or nothing to do, 4xx refused, 503 come again."""
    try:
        async with asyncio.timeout(DEADLINE):
            return await _respond(event, edge, settings, wired)
    except Exception as fault:  # noqa: BLE001 - the edge: texts must not leak, the event must return
        log.error("platform=%s outcome=fault type=%s", edge.platform, type(fault).__name__)  # noqa: TRY400 - a traceback could hold texts
        return Response(503, edge.body)


async def _respond(
    event: object, edge: Edge, settings: Settings, wired: Callable[[Settings], Receiving]
) -> Response:
    request = gateway.read(event)
    if request is None or request.method != "POST":
        log.info("platform=%s outcome=unreadable", edge.platform)
        return Response(400 if request is None else 405, edge.body)
    if missing := tuple(name for name in edge.secrets if not getattr(settings, name)):
        _complain(edge.platform, missing)
        return Response(401, edge.body)
    store = wired(settings)
    return await answer(edge.read(request, settings, store.clock.now()), edge, store)


async def answer(incoming: Incoming, edge: Edge, store: Receiving) -> Response:
    """Take in what a request or an envelope means; what goes back to the platform.

    Raises:
        Unavailable: table or queue gave no answer; the platform has to deliver again.
    """
    handled = await _take(incoming, edge, store)
    kind = type(incoming).__name__.lower()
    ids = _ids(incoming)
    log.info("platform=%s kind=%s outcome=%s %s", edge.platform, kind, handled.outcome, ids)
    if isinstance(incoming, Refused):
        return Response(401, edge.body)
    return Response(200, handled.body or _body(incoming, edge))


async def _take(incoming: Incoming, edge: Edge, store: Receiving) -> Handled:
    if isinstance(incoming, Message):
        return Handled(await take(incoming.question, incoming.event, store))
    if isinstance(incoming, Overheard):
        return Handled(await overhear(incoming, store))
    if isinstance(incoming, Recalled):
        return Handled(await recall(incoming, edge.platform, store))
    if isinstance(incoming, Edited):
        return Handled(await edit(incoming, store))
    if isinstance(incoming, Action):
        return await press(incoming, edge.platform, store)
    if isinstance(incoming, Command):
        return await order(incoming, store)
    if isinstance(incoming, Lifecycle):
        return await notice(incoming, edge.platform, store)
    return Handled(getattr(incoming, "reason", "") or getattr(incoming, "kind", "") or "noted")


def _body(incoming: Incoming, edge: Edge) -> str:
    if isinstance(incoming, Challenge):
        return json.dumps({"challenge": incoming.answer})
    return edge.body


def _ids(incoming: Incoming) -> str:
    """The ids a log line may show, as hashes: enough to find one again, not to learn it."""
    if isinstance(incoming, Message | Overheard | Edited):
        chat = incoming.question.chat
        place = f"chat={_hashed(chat.chat)} message={_hashed(chat.message)}"
        return f"event={_hashed(incoming.event)} {place}"
    if isinstance(incoming, Recalled):
        return f"event={_hashed(incoming.event)} message={_hashed(incoming.message)}"
    return ""


def _hashed(value: str) -> str:
    return hashlib.blake2b(value.encode(), digest_size=6, person=b"plumbline-log").hexdigest()


@cache
def _complain(platform: str, missing: tuple[str, ...]) -> None:
    """Say once what an operator has to set."""
    names = ", ".join(variable_of(name) for name in missing)
    log.error("platform=%s outcome=refusing_everything missing=%s", platform, names)

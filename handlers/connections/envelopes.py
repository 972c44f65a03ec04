"""Takes in what came over a long connection, through the same code as what came over HTTP."""

from __future__ import annotations

import asyncio
import logging

from agent.domain import Json
from agent.errors import PlumblineError, Unavailable
from connectors import wire
from connectors.incoming import Incoming
from handlers import loop, receiving, wiring
from handlers.receiving import Edge
from handlers.settings import Settings

log = logging.getLogger(__name__)


def take_in(incoming: Incoming, edge: Edge, settings: Settings) -> dict[str, Json]:
    """Write the inbox and ring; the body to acknowledge with, empty for a bare acknowledgement.

    May be called from any thread but the process-wide loop's own. What proves the sender is the
    connection, which was opened with the app's own secret.

    Raises:
        Unavailable: nothing was written for certain; the envelope must not be acknowledged. The
            text holds nothing of the message.
    """
    try:
        return loop.run(_take_in(incoming, edge, settings))
    except (PlumblineError, TimeoutError, OSError, ValueError) as fault:
        kind = type(fault).__name__
        log.error("platform=%s connection=long outcome=fault type=%s", edge.platform, kind)  # noqa: TRY400 - a traceback could hold texts
        raise Unavailable(f"an envelope was not taken in: {kind}") from None


async def _take_in(incoming: Incoming, edge: Edge, settings: Settings) -> dict[str, Json]:
    async with asyncio.timeout(receiving.DEADLINE):
        answer = await receiving.answer(incoming, edge, wiring.receiving(settings))
    return wire.parse(answer.body) or {}

"""Feishu's long connection, in a process of its own: it writes the inbox, rings, and nothing else.

lark-oapi takes seconds and over 160 MB to import (FEISHU.md 1.1), so the serving process never
loads it. Started as `python -m handlers.connections.feishu_long` with the settings as one line of
JSON on its input; it ends when its input ends, so that it never outlives the server.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from typing import Any, TextIO, cast

from agent.domain import Json
from agent.stores.system_clock import SystemClock
from connectors import wire
from connectors.feishu import events
from handlers import feishu
from handlers.connections.envelopes import take_in
from handlers.settings import Settings

log = logging.getLogger(__name__)


class Envelopes:
    """What lark-oapi's client hands each event to, in place of its own dispatcher.

    That one refuses event types that nobody registered and card values that are plain text
    (FEISHU.md 1.3, 2.3). An exception makes the client answer 500, and Feishu delivers again.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clock = SystemClock()

    def _do_without_validation(self, payload: bytes) -> dict[str, Json] | None:
        """Take one envelope in; the answer to a card callback, None when there is nothing to say.

        The name is the one that the client calls.
        """
        envelope = wire.parse(payload)
        if envelope is None:
            log.warning("platform=feishu connection=long outcome=unreadable")
            return None
        incoming = events.interpret(envelope, feishu.home(self._settings), self._clock.now())
        return take_in(incoming, feishu.EDGE, self._settings) or None


def connect(settings: Settings) -> None:
    """Keep the connection for ever; the client reconnects by itself.

    Raises what the client raises when Feishu refuses the app for good.
    """
    from lark_oapi.core.enum import LogLevel
    from lark_oapi.ws import Client

    client = Client(
        settings.feishu_app_id,
        settings.feishu_app_secret,
        # Its log lines hold addresses with tickets and, at debug level, whole messages.
        log_level=LogLevel.CRITICAL,
        event_handler=cast(Any, Envelopes(settings)),
        domain=settings.feishu_base_url.rstrip("/"),
    )
    client.on_reconnecting = lambda: log.warning("platform=feishu connection=long state=lost")
    client.on_reconnected = lambda: log.warning("platform=feishu connection=long state=back")
    client.start()


def main() -> int:
    """Read the settings, connect, and say in one line why it ended."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    settings = Settings(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    try:
        connect(settings)
    except Exception as fault:  # noqa: BLE001 - the process ends here; texts and tickets must not leak
        code = getattr(fault, "code", "")
        log.error(  # noqa: TRY400 - as above
            "platform=feishu connection=long outcome=ended type=%s code=%s",
            type(fault).__name__,
            code,
        )
    return 1


def _end_with(parent: TextIO) -> None:
    """End the process when its input ends: the server is gone."""
    parent.read()
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())

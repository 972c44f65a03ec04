"""A call's arguments out of words that are no JSON, by the four steps of the reader."""

from __future__ import annotations

import logging
from typing import Any

from agent.domain import Json
from agent.errors import PlumblineError
from agent.models.structured import Reader
from agent.models.wire import mend
from agent.ports import Model

log = logging.getLogger(__name__)


async def mended_arguments(text: str, light: Model) -> dict[str, Json] | None:
    """What the words of a finished call say; `light` is asked once where the rules find nothing.

    None when nobody knows, so that the call is not run: also when the light model fails.
    """
    try:
        read = await Reader(dict[str, Any]).read_or_ask(text, light)
    except PlumblineError as error:
        log.info("arguments that are no JSON stay unread: %s", error.code)
        return None
    return {name: mend(value) for name, value in read.items()}

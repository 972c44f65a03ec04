"""The HTTP side of one machine: what it takes in of a body."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx

from handlers.gateway import MAX_BODY
from handlers.local import application
from handlers.settings import Settings

PART = bytes(64 * 1024)


async def test_a_body_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    drawn = 0

    async def endless() -> AsyncGenerator[bytes]:
        nonlocal drawn
        while True:
            drawn += len(PART)
            yield PART

    settings = Settings(home=str(tmp_path), slack_signing_secret="s")
    transport = httpx.ASGITransport(application(settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://bot") as http:
        answer = await http.post("/slack/events", content=endless())
    assert answer.status_code == 400
    assert drawn <= MAX_BODY + 2 * len(PART)

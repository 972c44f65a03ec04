"""Calls a platform for the doctor: waits when asked to, keeps a redacted sample of each answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx

from agent.errors import Misconfigured
from agent.ports import Clock
from connectors.web import named_pause, new_client, send
from handlers.doctor.redaction import Redactor

_PATIENCE = 4
_PAUSES = ("x-ogw-ratelimit-reset", "retry-after")

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; body is {} when it was no JSON object."""

    status: int
    headers: Mapping[str, str]
    body: Body = field(repr=False)
    media_type: str = ""


class Samples:
    """Writes redacted request and answer pairs into a folder.

    Args:
        folder: where the files go; made when it is not there.
        redactor: what takes people out of them.

    Raises:
        Misconfigured: the folder can not be made.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Misconfigured(f"{folder} can not be made: {error.strerror}.") from error
        self._folder = folder
        self._redactor = redactor
        self._count = 0

    def keep(self, name: str, request: httpx.Request, sent: Body, answer: Answer) -> None:
        """Write one pair."""
        self._count += 1
        hide = self._redactor
        sample = {
            "probe": name,
            "request": {
                "method": request.method,
                "path": hide.ids(request.url.path),
                "query": hide.value(dict(request.url.params)),
                "body": hide.value(sent),
            },
            "answer": {
                "status": answer.status,
                "headers": hide.headers(answer.headers),
                "body": hide.value(answer.body),
            },
        }
        file = self._folder / f"{self._count:02d}_{name.replace(' ', '_').replace('/', '_')}.json"
        file.write_text(json.dumps(sample, ensure_ascii=False, indent=2) + "\n", "utf-8")


class Caller:
    """One platform's HTTP side.

    Args:
        label: the platform's name, for errors.
        base_url: where its API is.
        clock: time, also for the pauses the platform asks for.
        samples: where answers are kept, None for nowhere.
    """

    def __init__(self, label: str, base_url: str, clock: Clock, samples: Samples | None) -> None:
        self._label = label
        self._client = new_client(base_url)
        self._clock = clock
        self._samples = samples

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def call(
        self,
        name: str,
        method: str,
        path: str,
        token: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        *,
        as_form: bool = False,
    ) -> Answer:
        """Call once, again after each pause the platform names; `token` "" for none.

        Raises:
            Unavailable: no answer.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = self._client.build_request(
            method,
            path,
            json=None if as_form else body,
            data=body if as_form else None,
            params=query,
            headers=headers,
        )
        response = await send(self._client, request, f"{self._label} {name}")
        for _ in range(_PATIENCE):
            if response.status_code != 429:
                break
            pause = named_pause(response.headers, _PAUSES, self._clock.now(), 1.0)
            await self._clock.sleep(min(pause, 60.0))
            response = await send(self._client, request, f"{self._label} {name}")
        answer = _read(response)
        if self._samples:
            self._samples.keep(name, request, body or {}, answer)
        return answer


def _read(response: httpx.Response) -> Answer:
    media = response.headers.get("content-type", "")
    try:
        body: object = response.json()
    except ValueError:
        body = {}
    known = cast("Body", body) if isinstance(body, dict) else {}
    return Answer(response.status_code, response.headers, known, media)

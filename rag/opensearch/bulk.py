"""Many writes at once: in requests of a bounded size, what was put off tried again."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from agent.errors import Unavailable
from agent.ports import Clock
from rag.opensearch.server import IndexRefused, Server, passing

log = logging.getLogger(__name__)

_MOST_BYTES = 4_000_000
_MOST_WRITES = 500
_TRIES = 5
_FIRST_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Write:
    """One write. "" as the id lets the server choose one; `entry` is None for a delete."""

    verb: Literal["index", "update", "delete"]
    id: str
    entry: Mapping[str, Any] | None = None

    def lines(self) -> str:
        """The write as the bulk format has it."""
        head = {self.verb: {"_id": self.id} if self.id else {}}
        if self.entry is None:
            return json.dumps(head) + "\n"
        body = {"doc": self.entry} if self.verb == "update" else self.entry
        return f"{json.dumps(head)}\n{json.dumps(body, ensure_ascii=False)}\n"


@dataclass(frozen=True, slots=True)
class _Failure:
    write: Write
    status: int
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.write.verb} {self.write.id}: {self.status} {self.kind}: {self.reason[:200]}"


async def send(server: Server, index: str, writes: Iterable[Write], clock: Clock) -> None:
    """Carry out all writes; none is visible before a refresh. A delete of what is gone is done.

    What the server could not take now is sent again, with growing pauses, without the rest.

    Raises:
        Unavailable: after all tries some writes were still put off; the text says how many.
        IndexRefused: some were refused for good, the others are carried out; likewise.
    """
    for part in _parts(writes):
        await _send(server, index, part, clock)


async def _send(server: Server, index: str, writes: Sequence[Write], clock: Clock) -> None:
    refused: list[_Failure] = []
    waiting, put_off = list(writes), list[_Failure]()
    for attempt in range(_TRIES):
        if attempt:
            log.warning("OpenSearch put off %d of %d writes", len(waiting), len(writes))
            await clock.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
        failures = await _attempt(server, index, waiting)
        put_off = [f for f in failures if passing(f.status, f.kind)]
        refused += [f for f in failures if not passing(f.status, f.kind)]
        waiting = [f.write for f in put_off]
        if not waiting:
            break
    if refused:
        raise IndexRefused(f"OpenSearch refused {len(refused)} of {len(writes)}, {refused[0]}")
    if put_off:
        raise Unavailable(f"OpenSearch put off {len(put_off)} of {len(writes)}, {put_off[0]}")


async def _attempt(server: Server, index: str, writes: Sequence[Write]) -> list[_Failure]:
    text = "".join(write.lines() for write in writes)
    answer = await server.call("POST", f"/{index}/_bulk", text)
    failures: list[_Failure] = []
    for write, told in zip(writes, cast("list[dict[str, Any]]", answer["items"]), strict=True):
        result = cast("dict[str, Any]", told[write.verb])
        status = int(result["status"])
        gone = write.verb == "delete" and status == 404
        if status >= 300 and not gone:
            error = cast("dict[str, Any]", result.get("error", {}))
            cause = cast("dict[str, Any]", error.get("caused_by", error))
            reason = str(cause.get("reason", ""))
            failures.append(_Failure(write, status, str(error.get("type", "")), reason))
    return failures


def _parts(writes: Iterable[Write]) -> Generator[list[Write]]:
    part: list[Write] = []
    size = 0
    for write in writes:
        own = len(write.lines().encode())
        if part and (size + own > _MOST_BYTES or len(part) >= _MOST_WRITES):
            yield part
            part, size = [], 0
        part.append(write)
        size += own
    if part:
        yield part

"""A turn's answer with its citations and readers, sealed under the asker's context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, cast

from agent.domain import Answer, AnswerStatus, Citation, DocumentStatus, Json, Source
from agent.durable import keys
from agent.durable.records import TurnRecord, check_format, new_item, packed, unpacked
from agent.ports import Cipher, Clock, Put, Table


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer and the labels of those who may read all of it."""

    answer: Answer
    readers: frozenset[str]


async def seal(
    cipher: Cipher, clock: Clock, record: TurnRecord, answer: Answer, readers: frozenset[str]
) -> Put:
    """The write that stores the answer, for the transaction at the end of the turn."""
    item = new_item(keys.answer(record.turn), "answer", record.org, clock.now(), record.owner)
    item["status"] = answer.status
    plain = packed(_to_json(StoredAnswer(answer, readers))).encode()
    item["box"] = await cipher.seal(plain, _context(record.turn, record.owner))
    return Put(item)


async def load(table: Table, cipher: Cipher, turn: str, asker: str) -> StoredAnswer | None:
    """What `seal` stored for this turn of the principal `asker`; None when there is nothing.

    Raises:
        UnknownFormat: it was written in a format that is not read any more.
        Misconfigured: the turn belongs to somebody else, or the key is another one.
    """
    item = await table.get(keys.answer(turn))
    if item is None:
        return None
    box = cast(bytes, check_format(item, "answer")["box"])
    return _from_json(unpacked((await cipher.open(box, _context(turn, asker))).decode()))


def _context(turn: str, asker: str) -> dict[str, str]:
    return {"purpose": "answer", "turn": turn, "principal": asker}


class _Stored(TypedDict):
    """What `_to_json` writes, as its reader sees it."""

    text: str
    citations: list[tuple[int, str, str, str, str, str, DocumentStatus, list[str], bool]]
    status: AnswerStatus
    model: str
    steps: int
    timings: dict[str, float]
    readers: list[str]


def _to_json(stored: StoredAnswer) -> Json:
    answer = stored.answer
    return {
        "text": answer.text,
        "citations": [
            [
                c.n,
                c.source.source,
                c.source.title,
                c.source.url,
                c.source.kind,
                c.source.updated,
                c.source.status,
                [*sorted(c.source.readers)],
                c.source.private,
            ]
            for c in answer.citations
        ],
        "status": answer.status,
        "model": answer.model,
        "steps": answer.steps,
        "timings": dict(answer.timings),
        "readers": [*sorted(stored.readers)],
    }


def _from_json(plain: Json) -> StoredAnswer:
    stored = cast(_Stored, plain)
    citations = tuple(
        Citation(n, Source(source, title, url, kind, updated, status, frozenset(readers), private))
        for n, source, title, url, kind, updated, status, readers, private in stored["citations"]
    )
    answer = Answer(
        stored["text"],
        citations,
        stored["status"],
        stored["model"],
        stored["steps"],
        stored["timings"],
    )
    return StoredAnswer(answer, frozenset(stored["readers"]))

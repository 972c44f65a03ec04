"""A turn's answer with its citations and readers, sealed under the asker's context."""

from __future__ import annotations

from typing import NotRequired, TypedDict, cast

from agent.domain import (
    Answer,
    AnswerStatus,
    Citation,
    DocumentStatus,
    Json,
    Passage,
    Source,
)
from agent.durable import keys
from agent.durable.records import TurnRecord, check_format, new_item, text_of
from agent.jsontext import packed, unpacked
from agent.ports import Cipher, Clock, Put, Table
from agent.values import value


@value
class StoredAnswer:
    """An answer and the labels of those who may read all of it.

    `passages` are those of the cited sources, in the order of the numbers; `searched` are the ids
    of all sources that were shown to the model. Both are empty in answers of older versions.
    """

    answer: Answer
    readers: frozenset[str]
    passages: tuple[Passage, ...] = ()
    searched: tuple[str, ...] = ()


@value
class Evidence:
    """What an answer rests on, as StoredAnswer keeps it."""

    passages: tuple[Passage, ...] = ()
    searched: tuple[str, ...] = ()


async def seal(
    cipher: Cipher,
    clock: Clock,
    record: TurnRecord,
    answer: Answer,
    readers: frozenset[str],
    evidence: Evidence = Evidence(),  # noqa: B008  a frozen value
) -> Put:
    """The write that stores the answer, for the transaction at the end of the turn."""
    item = new_item(keys.answer(record.turn), "answer", record.org, clock.now(), record.owner)
    item["status"] = answer.status
    item["session"], item["order"] = record.session, record.order
    stored = StoredAnswer(answer, readers, evidence.passages, evidence.searched)
    plain = packed(_to_json(stored)).encode()
    item["box"] = await cipher.seal(plain, _context(record.turn, record.owner))
    return Put(item)


async def question_of(table: Table, turn: str) -> TurnRecord | None:
    """The record of a turn that has ended, found by its id alone; None when it is gone.

    Raises:
        UnknownFormat: it was written in a format that is not read any more.
    """
    item = await table.get(keys.answer(turn))
    session, order = (text_of(item or {}, name) for name in ("session", "order"))
    if not session or not order:
        return None
    record = await table.get(keys.turn(session, order, turn))
    return None if record is None else TurnRecord.from_item(record)


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
    passages: NotRequired[list[tuple[str, str, str, str, str, str]]]
    searched: NotRequired[list[str]]


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
        "passages": [[p.source, p.title, p.text, p.url, p.kind, p.place] for p in stored.passages],
        "searched": [*stored.searched],
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
    passages = tuple(Passage(*row) for row in stored.get("passages", ()))
    return StoredAnswer(
        answer, frozenset(stored["readers"]), passages, tuple(stored.get("searched", ()))
    )

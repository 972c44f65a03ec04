"""One turn, from the question to the saved answer: its steps on one screen."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Protocol

from agent import phrases, session
from agent.audience import ORGANISATION
from agent.citations import SourceCollector
from agent.delivery import Delivery
from agent.desk import Desk
from agent.domain import Answer, AnswerStatus, Question, Source
from agent.durable import answers, inbox, private_context, snapshot
from agent.durable.answers import Evidence
from agent.durable.journal import Journal
from agent.durable.lock import Lease
from agent.durable.outbox import Outbox
from agent.durable.private_context import Context
from agent.durable.records import TurnRecord
from agent.durable.snapshot import Exchange, Snapshot
from agent.errors import ModelFailed, PlumblineError
from agent.loop import Loop, LoopEnd
from agent.markers import is_refusal, without_refusal
from agent.material import has_words
from agent.ports import Cipher, Clock, Table
from agent.stopwatch import Stopwatch
from agent.toolbox import Toolbox
from agent.values import value

log = logging.getLogger(__name__)

ANSWER = "answer"
"""The outbox part of the one message that a turn posts."""
OFFLINE = "offline"
"""The name of the model that needs no network; its answers say so."""


class Drawers(Protocol):
    """Where the end of a turn is stored."""

    @property
    def table(self) -> Table:
        """The items."""
        ...

    @property
    def cipher(self) -> Cipher:
        """Seals what is private."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


@value
class Outcome:
    """An answer as it goes out, and what the thread remembers of it.

    `sources` is what the text's markers may mean, `notice` our own closing line. `memory` is None
    when the thread's memory stays as it was; `own` is what only the asker's follow-ups build on,
    None for nothing new. `evidence` is what the sources button shows, `readers` the answer's label.
    """

    answer: Answer
    sources: Mapping[str, Source] = field(default_factory=dict[str, Source])
    evidence: Evidence = Evidence()
    notice: str = ""
    memory: Snapshot | None = None
    own: Context | None = None
    readers: frozenset[str] = ORGANISATION


async def run_turn(desk: Desk, record: TurnRecord, watch: Stopwatch) -> Outcome:
    """Answer one question in one message.

    A fault of the model or of a source is told to the person in that message. Raises what the chat
    platform or the table raise when they can not be reached at all.
    """
    question = desk.manners.question(desk.preferences.applied(record.question))
    if question is not record.question:
        record = replace(record, question=question)
    outbox = Outbox(desk.table, desk.clock, record)
    earlier = await outbox.intend(ANSWER)
    key, handle = record.turn, (earlier and earlier.handle) or ""
    if earlier is not None and not handle:
        # What an attempt that died has posted is not known; under its key the platform would take
        # the new message for a repetition and show neither it nor its answer.
        key = f"{record.turn}-{record.attempt}"
    async with Delivery(desk, record, key, partial(outbox.sent, ANSWER), handle) as delivery:
        thread = await session.recall(desk.table, record)
        outcome = await _without_model(desk, record, thread)
        if outcome is None:
            delivery.room.progress(phrases.progress(question.language, "thinking"))
            try:
                outcome = await _think(desk, record, delivery, thread, watch)
            except PlumblineError as error:
                log.warning("turn %s ends with %s", record.turn, error.code)
                outcome = told(question, error)
            except Exception as fault:  # told as well: never silence, never a traceback
                log.exception("turn %s ends with a fault", record.turn)
                outcome = told(question, fault)
        await delivery.finish(outcome.answer, outcome.notice, outcome.sources)
        await outbox.sent(ANSWER, delivery.room.handle)
    watch.once("total")
    return replace(outcome, answer=replace(outcome.answer, timings=watch.times))


async def save_turn(desk: Drawers, record: TurnRecord, lease: Lease, outcome: Outcome) -> None:
    """End the turn: answer, memory, state and lock in one transaction.

    The stored text of a turn that failed or was stopped holds the closing line that says so.

    Raises ConditionFailed when another worker has taken the session over.
    """
    answer, memory = outcome.answer, outcome.memory
    if answer.status in ("failed", "stopped"):
        text = "\n\n".join(part for part in (answer.text, outcome.notice) if part)
        answer = replace(answer, text=text)
    await inbox.finish(
        desk.table,
        desk.clock,
        record,
        lease,
        "FAILED" if answer.status == "failed" else "DONE",
        answer=await answers.seal(
            desk.cipher,
            desk.clock,
            record,
            answer,
            outcome.readers,
            outcome.evidence,
        ),
        snapshot=memory
        and snapshot.save(memory, record.session, record.org, lease.fence, desk.clock.now()),
        private=None
        if outcome.own is None
        else await private_context.seal(desk.cipher, desk.clock, record, outcome.own),
    )


def told(question: Question, fault: Exception) -> Outcome:
    """What the person hears of a fault: one sentence with its code and a next step."""
    code = fault.code if isinstance(fault, PlumblineError) else PlumblineError.code
    return Outcome(_own_words("", "failed"), notice=phrases.error(question.language, code))


def said(text: str, memory: Snapshot | None) -> Outcome:
    """What is saved of an act that told a person something in our own words."""
    return Outcome(_own_words(text, "answered"), memory=memory)


def lost_turn() -> Outcome:
    """What is saved of a turn whose answer could not be delivered in any form."""
    return Outcome(_own_words("", "failed"))


async def _without_model(desk: Desk, record: TurnRecord, thread: Snapshot) -> Outcome | None:
    """What needs no model: people of another company, commands, nothing that can be read."""
    question = record.question
    language = question.language
    if question.asker.external:
        return Outcome(_own_words(phrases.external(language), "refused"))
    reply = await desk.manners.obey(desk, record)
    if reply is not None:
        answer = _own_words(reply.text, "answered")
        if not reply.clear:
            return Outcome(answer)
        own: Context | None = {} if question.chat.kind == "group" else None
        return Outcome(answer, memory=thread.cleared(), own=own)
    if question.unsupported:
        return Outcome(_own_words(phrases.unsupported(language, question.unsupported), "refused"))
    if not any(map(str.isalnum, question.text)) and not has_words(question.material):
        kind = "image" if question.attachments else ""
        text = phrases.unsupported(language, kind) if kind else phrases.empty_question(language)
        return Outcome(_own_words(text, "refused"))
    return None


async def _think(
    desk: Desk, record: TurnRecord, delivery: Delivery, thread: Snapshot, watch: Stopwatch
) -> Outcome:
    question = session.unheard(record.question, thread)
    asked = session.with_context(question, desk.time_zone)
    own: Context = {}
    if thread.exchanges and question.chat.kind == "group":
        own = await private_context.load(desk.table, desk.cipher, desk.clock, record)
    history = session.heard(thread, own)
    journal = Journal(desk.table, desk.clock, record)
    if record.attempt > 1:
        await journal.start_over()
    toolbox = Toolbox(desk.tools, SourceCollector(), journal)
    delivery.rests_on(session.labels(question, history), toolbox.sources.table)
    loop = Loop(
        delivery.model,
        toolbox,
        journal,
        delivery.voice,
        desk.clock,
        watch,
        question.language,
        desk.limits,
    )
    end = await loop.run(desk.policy, session.conversation(history, asked))
    outcome = replace(_concluded(desk, question, toolbox, end), readers=delivery.label)
    await delivery.aim()
    if outcome.answer.status not in ("answered", "refused"):
        return outcome
    return _remembered(outcome, question, asked, thread, own, private=delivery.private)


def _remembered(
    outcome: Outcome,
    question: Question,
    asked: str,
    thread: Snapshot,
    own: Context,
    *,
    private: bool,
) -> Outcome:
    """What the thread keeps is what was posted there; a private answer is kept for the asker."""
    chat, at, readers = question.chat, question.asked_at, outcome.readers
    text = without_refusal(outcome.answer.text)
    if private:
        own = {**own, chat.message: (text, readers, at)}
        text, readers = phrases.kept_private(question.language), ORGANISATION
    exchange = Exchange(chat.message, question.asker.principal, asked, text, at, readers)
    return replace(outcome, memory=thread.after(exchange), own=own if private else None)


def _concluded(desk: Desk, question: Question, toolbox: Toolbox, end: LoopEnd) -> Outcome:
    """The answer of a loop that ended, with the closing lines it needs."""
    language, sources = question.language, toolbox.sources
    if end.end == "empty":
        raise ModelFailed("the model said nothing, twice")
    text = end.text
    if end.end == "step_limit" and not text.strip():
        text = "\n".join(f"- {s.title} [src:{s.source}]" for s in sources.table.values())
    clean, citations = sources.resolve(text)
    status: AnswerStatus = "answered"
    notices: list[str] = []
    if end.end == "step_limit":
        status = "stopped"
        notices.append(phrases.step_limit(language, end.steps))
    elif end.end == "broken_off":
        status = "failed"
        notices.append(phrases.incomplete(language))
    elif end.end == "too_long":
        notices.append(phrases.incomplete(language))
    elif is_refusal(clean) or (toolbox.searched and not toolbox.passages):
        status = "refused"
        if not without_refusal(clean).strip():
            notices.append(phrases.refusal_steps(language))
    if shut := desk.manners.unsearched(desk, question, refused=status == "refused"):
        notices.append(shut)
    name = desk.model.capability().name
    notices += _remarks(question, toolbox, end, name)
    answer = Answer(clean, citations, status, end.model or name, end.steps)
    evidence = Evidence(sources.evidence(citations), tuple(sources.table))
    return Outcome(answer, sources.table, evidence, "\n".join(notices))


def _remarks(question: Question, toolbox: Toolbox, end: LoopEnd, model: str) -> Iterator[str]:
    """What a person should know of how the answer was made."""
    if toolbox.unsearched:
        topics = dict.fromkeys(t.topic[question.language] for t in toolbox.unsearched.values())
        yield phrases.unsearched(question.language, tuple(topics))
    if question.attachments:
        yield phrases.files_unread(question.language, question.attachments)
    if end.shortened:
        yield phrases.shortened(question.language)
    if model == OFFLINE:
        yield phrases.offline_model(question.language)


def _own_words(text: str, status: AnswerStatus) -> Answer:
    return Answer(text, (), status, "", 0)

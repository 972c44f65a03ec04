"""Pressed buttons: what a press asks for, who is obeyed, and what is left for the worker to do.

Anyone may press. An opinion of an answer is taken from everybody, everything else by the rules of
`decide`; whoever is not obeyed is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, get_args

from agent.domain import Answer, ChatRef, Identity, Json, Language, Question
from agent.durable import answers, inbox, keys, preferences
from agent.durable.records import TurnRecord, text_of, time_of
from agent.ports import Clock, Control, Table
from connectors import wire
from handlers.surface import feedback, replies, share
from handlers.surface.replies import ButtonName, Note, ReasonName

REASON: Final = "reason-"
"""Stands before the name of a reason in a control's action."""
SHOWN_AGAIN_AFTER: Final = 5.0
"""Seconds after which the sources button shows the passages to the same person again."""
UNTAKEN_AFTER: Final = 3.0
"""Seconds after which a press whose work never came to the inbox has failed: its request takes 2.5
at most."""
_NAMES: Final = (
    frozenset(get_args(ButtonName)) | {REASON + name for name in get_args(ReasonName)} | share.ACTS
)
_OF_A_QUESTION: Final = share.ACTS | {"retry", "human"}
"""What needs the question, and ends when its message is recalled."""
_MICROSECONDS: Final = 1e14
_MILLISECONDS: Final = 1e11


class Desk(Protocol):
    """Where presses are looked up."""

    @property
    def table(self) -> Table:
        """The items."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


@dataclass(frozen=True, slots=True)
class Press:
    """One press: the action of the control, the turn it is about, the platform's time as text."""

    action: str
    turn: str
    at: str = ""

    @property
    def subject(self) -> str:
        """Action and turn in one text, the first part of the press's own identity."""
        return f"{self.action} {self.turn}"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is said of a press at once, and the work that is left, under its own turn id.

    `chat` is where the answer stands, None when nothing is known of its turn.
    """

    note: str
    outcome: str
    turn: str = ""
    work: Question | None = None
    chat: ChatRef | None = None


def read(value: Json, at: str) -> Press | None:
    """What a control of ours carries: {a, t} (also as text), or "action turn"; None for others'."""
    if isinstance(value, str) and value.startswith("{"):
        value = wire.parse(value)
    if isinstance(value, Mapping):
        action, turn = value.get("a"), value.get("t")
    else:
        action, _, turn = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if not isinstance(action, str) or not isinstance(turn, str) or action not in _NAMES:
        return None
    return Press(action, turn, at) if turn.isalnum() and len(turn) <= 64 else None


def buttons(turn: str, language: Language, answer: Answer) -> tuple[Control, ...]:
    """The controls under a finished answer; none under a text of our own."""
    if not answer.steps and answer.status != "failed":
        return ()
    sources: tuple[ButtonName, ...] = ("sources",) if answer.citations else ()
    opinion: tuple[ButtonName, ...] = ("helpful", "unhelpful") if answer.steps else ()
    names: tuple[ButtonName, ...] = (*sources, *opinion, "retry", "human")
    return tuple(Control(name, turn, replies.BUTTONS[name][language]) for name in names)


def reasons(turn: str, language: Language) -> tuple[Control, ...]:
    """The controls that ask what was wrong with an answer."""
    return tuple(
        Control(REASON + name, turn, words[language]) for name, words in replies.REASONS.items()
    )


async def decide(desk: Desk, press: Press, person: Identity) -> Ruling:
    """Judge a press of `person`, whose app and tenant are as the platform named them.

    The turn is found by its own id, so that a workspace that presses under another team id reaches
    it (case C-SL-10); the asker is known by the user id.
    """
    record = await answers.question_of(desk.table, press.turn)
    if record is None or not _ours(record, person):
        running = record is None and await desk.table.get(keys.model_step(press.turn, 1))
        language: Language = "zh" if person.platform == "feishu" else "en"
        return _told(language, "not_yet" if running else "gone")
    asker = record.question.asker
    person = (
        asker if person.user == asker.user else replace(person, app=asker.app, tenant=asker.tenant)
    )
    chosen = await preferences.load(desk.table, person.principal)
    case = _Case(desk, press, person, record, chosen.language_or(record.question.language))
    if press.action.startswith(REASON):
        return await case.reason()
    if inbox.is_recalled(record.question) and press.action in _OF_A_QUESTION:
        return _told(case.language, "gone")
    by_name = {
        "sources": case.sources,
        "helpful": case.opinion,
        "unhelpful": case.opinion,
        "retry": case.retry,
        "human": case.human,
        share.SHARE: case.share,
        share.CONFIRM: case.share,
    }
    return await by_name[press.action]()


def _ours(record: TurnRecord, person: Identity) -> bool:
    asker = record.question.asker
    return (asker.org, asker.platform) == (person.org, person.platform)


def _told(language: Language, name: Note) -> Ruling:
    return Ruling(replies.note(language, name), name)


@dataclass(frozen=True, slots=True)
class _Case:
    """A press whose turn is known."""

    desk: Desk
    press: Press
    person: Identity
    record: TurnRecord
    language: Language

    @property
    def turn(self) -> str:
        return keys.action_turn_id(self.press.subject, self.person.user, self.press.at)

    def says(self, name: Note, work: Question | None = None) -> Ruling:
        text = replies.note(self.language, name, self.person.platform)
        return Ruling(text, name, self.turn, work, self.record.question.chat)

    def work(self, act: str) -> Question:
        """The press as a record of the inbox, in the session of the turn it is about."""
        return Question(
            self.person,
            self.record.question.chat,
            "",
            self.language,
            moment(self.press.at, self.desk.clock.now()),
            act=act,
            about=self.record.turn,
        )

    async def claims(self, action: str) -> bool:
        """Whether this press may have the action's effect, which happens once."""
        return not await self.taken(action) and await self._claim(action, UNTAKEN_AFTER)

    async def taken(self, action: str) -> bool:
        """Whether another press has the action's effect: its work is in the inbox or on its way."""
        table = self.desk.table
        item = await table.get(keys.claim(self.record.turn, action))
        if item is None or item["by"] == self.turn:
            return False
        if time_of(item, "until") > self.desk.clock.now():
            return True
        return await table.get(keys.arrival(text_of(item, "by"))) is not None

    async def _claim(self, action: str, again: float) -> bool:
        desk, record = self.desk, self.record
        return await feedback.claim(
            desk.table, desk.clock, record.org, record.turn, action, self.turn, again
        )

    async def opinion(self) -> Ruling:
        verdict: feedback.Verdict = "helpful" if self.press.action == "helpful" else "unhelpful"
        known, why = await feedback.opinion(self.desk.table, self.record.turn, self.person)
        fresh = known != verdict and await feedback.give(
            self.desk.table, self.desk.clock, self.record, self.person, verdict
        )
        if verdict == "unhelpful" and known == verdict and why in replies.REASONS:
            text = replies.reason_known(self.language, why)
            return Ruling(text, "noted", self.turn, chat=self.record.question.chat)
        if verdict == "unhelpful":
            return self.says("why", self.work("why"))
        return self.says("thanks" if fresh else "noted")

    async def reason(self) -> Ruling:
        reason = self.press.action.removeprefix(REASON)
        await feedback.give(
            self.desk.table, self.desk.clock, self.record, self.person, "unhelpful", reason
        )
        return self.says("reason_noted")

    async def sources(self) -> Ruling:
        if await self._claim(f"sources-{keys.short(self.person.user)}", SHOWN_AGAIN_AFTER):
            return self.says("showing", self.work("sources"))
        return self.says("showing")

    async def retry(self) -> Ruling:
        if self.person.user != self.record.question.asker.user:
            return self.says("only_asker")
        if not await self.claims("retry"):
            return self.says("superseded")
        asked_at = self.work("retry").asked_at
        again = replace(
            self.record.question, act="retry", about=self.record.turn, asked_at=asked_at
        )
        return self.says("again", again)

    async def human(self) -> Ruling:
        if self.person.user != self.record.question.asker.user:
            return self.says("only_asker")
        if await self.taken("retry"):
            return self.says("superseded")
        if not await self.claims("human"):
            return self.says("already_passed_on")
        return self.says("passing_on", self.work("human"))

    async def share(self) -> Ruling:
        if self.person.user != self.record.question.asker.user:
            return self.says("only_asker")
        name: share.ShareNote = "listing" if self.press.action == share.SHARE else "sharing"
        if await self.taken(share.SHARE) or (
            name == "sharing" and not await self.claims(share.SHARE)
        ):
            text = share.note(self.language, "shared")
            return Ruling(text, "shared", self.turn, None, self.record.question.chat)
        text = share.note(self.language, name)
        work = self.work(self.press.action)
        return Ruling(text, name, self.turn, work, self.record.question.chat)


def moment(at: str, now: float) -> float:
    """A platform's time of an action in seconds: seconds, milliseconds or microseconds as text."""
    try:
        value = float(at)
    except ValueError:
        return now
    for unit, factor in ((_MICROSECONDS, 1e6), (_MILLISECONDS, 1e3)):
        if value >= unit:
            value /= factor
            break
    return value if 0 < value < _MILLISECONDS else now

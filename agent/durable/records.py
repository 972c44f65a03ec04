"""The one seam through which items are written: kind, format, owner, class and expiry of each."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NotRequired, TypedDict, cast

from agent.domain import (
    Attachment,
    ChatKind,
    ChatRef,
    Identity,
    Json,
    Language,
    Material,
    MaterialKind,
    Mention,
    Platform,
    Question,
)
from agent.durable import keys
from agent.errors import Misconfigured
from agent.jsontext import packed, unpacked
from agent.ports import Item, Key
from agent.values import value

FORMAT = 1
"""The format version `v` of what is written; readers take this one and the one before."""

DAY = 86_400
HOUR = 3_600

Kind = Literal[
    "turn",
    "marker",
    "arrival",
    "lock",
    "snapshot",
    "step",
    "view",
    "outbox",
    "answer",
    "feedback",
    "claim",
    "preferences",
    "pause",
    "listening",
    "user_token",
    "token_holder",
    "consent",
    "offered",
    "sign_in",
    "app_token",
    "workspace",
    "private",
    "share",
    "chat",
    "person",
]
Class = Literal["session", "turn", "private", "audit", "kb"]
State = Literal[
    "RECEIVED", "RUNNING", "WAITING_APPROVAL", "HANDED", "POSTED", "DONE", "CANCELLED", "FAILED"
]

OPEN_STATES: tuple[State, ...] = ("RECEIVED", "RUNNING", "WAITING_APPROVAL", "HANDED", "POSTED")
"""The states in which a turn still has something to do."""
CLOSED_STATES: tuple[State, ...] = ("DONE", "CANCELLED", "FAILED")

_KEPT: dict[Kind, tuple[Class, int]] = {
    "turn": ("turn", 90 * DAY),
    "marker": ("turn", 48 * HOUR),
    "arrival": ("turn", 90 * DAY),
    "lock": ("session", 90 * DAY),
    "snapshot": ("session", 30 * DAY),
    "step": ("turn", 30 * DAY),
    "view": ("turn", 30 * DAY),
    "outbox": ("turn", 30 * DAY),
    "answer": ("private", 30 * DAY),
    "feedback": ("private", 400 * DAY),
    "claim": ("turn", 30 * DAY),
    "preferences": ("private", 3_650 * DAY),
    "pause": ("session", 3_650 * DAY),
    "listening": ("session", 3_650 * DAY),
    "user_token": ("private", 365 * DAY),
    "token_holder": ("private", 365 * DAY),
    "consent": ("private", 365 * DAY),
    "offered": ("private", DAY),
    "sign_in": ("private", HOUR),
    "app_token": ("session", 3_650 * DAY),
    "workspace": ("session", 3_650 * DAY),
    "private": ("private", 24 * HOUR),
    "share": ("audit", 400 * DAY),
    "chat": ("session", 600),
    "person": ("private", 2 * DAY),
}
"""Class and seconds to keep, from DATA_MODEL.md's last column."""

PAYLOAD_KEPT = 24 * HOUR
"""Seconds after which a step's payload is no longer handed out, though its row stays."""


class UnknownFormat(Misconfigured):
    """An item has a format that this version does not read: old and new run too far apart."""

    code = "PL-305"


def new_item(key: Key, kind: Kind, org: str, now: float, owner: str = "") -> Item:
    """The attributes that every item has.

    Args:
        key: Where it stands.
        kind: What it is; decides class and expiry.
        org: The organisation it belongs to.
        now: Wall time in seconds; the expiry `exp` counts from here.
        owner: The principal whose data it is, "" for what belongs to nobody alone. Makes it found
            by the index `own`.
    """
    cls, kept = _KEPT[kind]
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "k": kind,
        "v": FORMAT,
        "org": org,
        "cls": cls,
        "exp": int(now) + kept,
    }
    if owner:
        item["own_pk"] = owner
    return item


def expiry(kind: Kind, now: float) -> int:
    """The new `exp` of an item that counts its time from the last use."""
    return int(now) + _KEPT[kind][1]


def check_format(item: Item, kind: Kind) -> Item:
    """The item itself, if this version can read it.

    Raises:
        UnknownFormat: another kind, or neither this format nor the one before.
    """
    if item.get("k") != kind or item.get("v") not in (FORMAT, FORMAT - 1):
        raise UnknownFormat(
            f"expected {kind} in format {FORMAT}, found {item.get('k')} in {item.get('v')}: "
            "finish the update on every function, or roll it back"
        )
    return item


def text_of(item: Item, name: str) -> str:
    """A text attribute, "" when it is missing."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def number_of(item: Item, name: str) -> int:
    """A whole-number attribute, 0 when it is missing."""
    value = item.get(name)
    return int(value) if isinstance(value, int | float) else 0


def time_of(item: Item, name: str) -> float:
    """A time in seconds since the epoch, 0 when it is missing."""
    value = item.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


# --- question --------------------------------------------------------------------------------


def question_to_json(question: Question) -> dict[str, Json]:
    """The question as plain values."""
    asker, chat = question.asker, question.chat
    return {
        "asker": [
            asker.org,
            asker.platform,
            asker.app,
            asker.tenant,
            asker.user,
            asker.name,
            asker.external,
        ],
        "chat": [chat.chat, chat.kind, chat.message, chat.thread, chat.topic],
        "text": question.text,
        "language": question.language,
        "asked_at": question.asked_at,
        "attachments": [
            [a.kind, a.key, a.name, a.media_type, a.size, a.locator] for a in question.attachments
        ],
        "mentions": [[m.user, m.name] for m in question.mentions],
        "time_zone": question.time_zone,
        "deferred": question.deferred,
        "unsupported": question.unsupported,
        "hints": dict(question.platform_hints),
        "act": [question.act, question.about],
        "material": [[m.kind, m.author, m.at, m.text, m.depth] for m in question.material],
    }


class _StoredQuestion(TypedDict):
    """What `question_to_json` writes, as its reader sees it."""

    asker: tuple[str, Platform, str, str, str, str, bool]
    chat: tuple[str, ChatKind, str, str | None, bool]
    text: str
    language: Language
    asked_at: float
    attachments: list[tuple[Literal["image", "file"], str, str, str, int, str]]
    mentions: list[tuple[str, str]]
    time_zone: str
    deferred: str
    unsupported: str
    hints: dict[str, str]
    act: NotRequired[tuple[str, str]]
    material: NotRequired[list[tuple[MaterialKind, str, float, str, int]]]


def question_from_json(plain: Json) -> Question:
    """The question that `question_to_json` was given."""
    stored = cast(_StoredQuestion, plain)
    return Question(
        Identity(*stored["asker"]),
        ChatRef(*stored["chat"]),
        stored["text"],
        stored["language"],
        stored["asked_at"],
        tuple(Attachment(*row) for row in stored["attachments"]),
        tuple(Mention(*row) for row in stored["mentions"]),
        stored["time_zone"],
        stored["deferred"],
        stored["unsupported"],
        stored["hints"],
        *stored.get("act", ("", "")),
        tuple(Material(*row) for row in stored.get("material", [])),
    )


# --- turn ------------------------------------------------------------------------------------


@value
class Versions:
    """What a turn ran with, "" before it ran."""

    code: str = ""
    config: str = ""
    prompt: str = ""
    model: str = ""
    embedder: str = ""


@value
class TurnRecord:
    """A turn as it is stored, which is also its inbox record.

    `order` is the message's time (keys.order), `event` the id of the event that brought it first,
    `fence` the fence of the lease it last ran under (0 before), `attempt` how often it was begun.
    """

    session: str
    turn: str
    order: str
    question: Question
    event: str
    received_at: float
    state: State = "RECEIVED"
    fence: int = 0
    attempt: int = 0
    versions: Versions = Versions()

    @property
    def key(self) -> Key:
        """Where the record stands."""
        return keys.turn(self.session, self.order, self.turn)

    @property
    def marker(self) -> Key:
        """Where its pending marker stands."""
        return keys.marker(self.session, self.order, self.turn)

    @property
    def org(self) -> str:
        """The organisation of the asker."""
        return self.question.asker.org

    @property
    def owner(self) -> str:
        """The asker's principal."""
        return self.question.asker.principal

    def to_item(self) -> Item:
        """The record as an item; it expires counted from its receipt."""
        item = new_item(self.key, "turn", self.org, self.received_at, self.owner)
        item["turn"] = self.turn
        item["state"] = self.state
        item["question"] = packed(question_to_json(self.question))
        item["event"] = self.event
        item["received_at"] = self.received_at
        item["fence"] = self.fence
        item["attempt"] = self.attempt
        item["versions"] = versions_to_json(self.versions)
        return item

    @classmethod
    def from_item(cls, item: Item) -> TurnRecord:
        """The record that `to_item` wrote.

        Raises:
            UnknownFormat: the item is no turn, or in a format that is not read any more.
        """
        check_format(item, "turn")
        place, turn = text_of(item, "sk").removeprefix(keys.TURNS).split("#")
        return cls(
            text_of(item, "pk").removeprefix(keys.session("")),
            turn,
            place,
            question_from_json(unpacked(item["question"])),
            text_of(item, "event"),
            time_of(item, "received_at"),
            cast(State, item["state"]),
            number_of(item, "fence"),
            number_of(item, "attempt"),
            Versions(**cast(dict[str, str], unpacked(item["versions"]))),
        )


@lru_cache(maxsize=64)
def versions_to_json(versions: Versions) -> str:
    """The versions as JSON text; they change with a deployment, not from turn to turn."""
    return packed(
        {
            "code": versions.code,
            "config": versions.config,
            "prompt": versions.prompt,
            "model": versions.model,
            "embedder": versions.embedder,
        }
    )

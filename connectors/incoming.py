"""What a request of a chat platform may mean: a closed set of small values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.domain import Json, Question


@dataclass(frozen=True, slots=True)
class Home:
    """Whose bot this is. An empty `app`, `tenant` or `bot` was not configured and is not checked.

    `tenant` is the Feishu tenant key or the Slack team or enterprise id; `bot` is the bot's own
    user id (Feishu open_id, Slack user id).
    """

    org: str
    app: str = ""
    tenant: str = ""
    bot: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """A request whose sender is proven; `payload` is its decrypted JSON or decoded form."""

    payload: Mapping[str, Json] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that proves nothing or is meant for somebody else. `reason` is for our log only."""

    reason: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """The platform checks the address: send `answer` back."""

    answer: str


@dataclass(frozen=True, slots=True)
class Message:
    """A person asks. `event` is the platform's id of this delivery."""

    question: Question
    event: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message was taken back: its turn is to be cancelled, its words are to be deleted."""

    chat: str
    message: str
    event: str
    app: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """A message reads otherwise since `at` (seconds since the epoch); it asks nothing anew."""

    question: Question
    event: str
    at: float


@dataclass(frozen=True, slots=True)
class Overheard:
    """A reply in a group's thread that names nobody: for us only where we were asked to listen."""

    question: Question
    event: str


@dataclass(frozen=True, slots=True)
class Action:
    """Somebody used a control: a card, a button, a dialog or a message's menu.

    `user` is who did it, not who asked. `value` is what the control carries, in the shape it came
    (Feishu: an object or a plain string); `form` holds the named fields of a submitted form.
    `reply` is the platform's handle for a later change (Feishu update token, Slack response_url).
    `at` is the platform's own time of the action, as text. `external` marks a person of another
    company. `thread` is the root of the thread that the message with the control stands in.
    """

    kind: Literal["button", "form", "shortcut"]
    user: str
    tenant: str
    chat: str
    message: str
    name: str
    value: Json
    form: Mapping[str, Json]
    reply: str = field(repr=False)
    at: str
    event: str
    external: bool = False
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, which stands in no thread. `reply` is Slack's response_url.

    `trigger` is the id of the one use, the same in each delivery of it. `tenant` is whose install
    it was used through: no field says that a person is of another company, the tenant tells.
    """

    user: str
    tenant: str
    chat: str
    name: str
    text: str
    reply: str = field(repr=False)
    app: str = ""
    trigger: str = field(default="", repr=False)


LifecycleKind = Literal[
    "bot_added",
    "bot_removed",
    "chat_entered",
    "menu",
    "reaction",
    "thread_started",
    "thread_context",
    "home_opened",
    "tokens_revoked",
    "uninstalled",
    "rate_limited",
]


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Something happened around the bot that asks nothing.

    `detail` by kind: menu: the entry's key; reaction: the emoji's name; thread_started and
    thread_context: the channel the person looks at; home_opened: the tab. `people`: whose tokens
    were revoked. `external` marks a person of another company, `outsiders` a chat that people of
    another company read. Fields that a kind does not have are empty.
    """

    kind: LifecycleKind
    event: str
    user: str = ""
    chat: str = ""
    message: str = ""
    detail: str = ""
    people: tuple[str, ...] = ()
    tenant: str = ""
    app: str = ""
    external: bool = False
    outsiders: bool = False


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing to do; `reason` is a fixed word for the log."""

    reason: str


Incoming = (
    Challenge
    | Message
    | Overheard
    | Edited
    | Recalled
    | Action
    | Command
    | Lifecycle
    | Ignored
    | Refused
)

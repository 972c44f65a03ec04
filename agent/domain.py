"""The values of a turn: who asks, where, what was found, what was answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent.values import value

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

Platform = Literal["feishu", "slack"]
Language = Literal["zh", "en"]
ChatKind = Literal["direct", "group"]
DocumentStatus = Literal["current", "obsolete", "draft"]
AnswerStatus = Literal["answered", "refused", "stopped", "waiting", "failed"]

EVERYONE = "everyone"
"""The reader label that everybody in the organisation carries."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, taken once from the verified event and never from a model.

    A Feishu open_id holds for one app only, so the app is part of the identity. `tenant` is the
    Feishu tenant key, or the Slack team (the enterprise for an organisation-wide install).
    `external` marks people of another company (Slack Connect, Feishu external groups).
    """

    org: str
    platform: Platform
    app: str
    tenant: str
    user: str
    name: str = ""
    external: bool = False

    @property
    def principal(self) -> str:
        """The key under which everything of this person is stored."""
        return f"{self.org}/{self.platform}/{self.app}/{self.tenant}/{self.user}"

    def labels(self, groups: frozenset[str] = frozenset()) -> frozenset[str]:
        """The reader labels this person carries; an external person is not part of everyone."""
        own = {f"person:{self.platform}:{self.user}", *(f"group:{g}" for g in groups)}
        return frozenset(own if self.external else own | {EVERYONE})


@value
class ChatRef:
    """Where a message stands.

    `thread` is the root of the thread it stands in, None at the top level. `message` is its own
    id: Feishu `om_…`, Slack `ts`. `topic` says that Feishu shows the thread as a topic.
    """

    chat: str
    kind: ChatKind
    message: str
    thread: str | None = None
    topic: bool = False

    @property
    def reply_root(self) -> str:
        """The message an answer is attached to."""
        return self.thread or self.message

    @property
    def session_root(self) -> str:
        """What makes a session inside the chat.

        A thread is a session of its own; at the top level a direct chat is one session, and in a
        group each question opens a new one.
        """
        return self.thread or ("" if self.kind == "direct" else self.message)


@value
class Mention:
    """A person named in a question: the platform's user id and the shown name."""

    user: str
    name: str


@value
class Attachment:
    """A picture or file that came with a question, by reference.

    `key` is what the platform's download call takes; `kind` is image or file; `locator` is the
    address for platforms that hand one out (Slack), else empty.
    """

    kind: Literal["image", "file"]
    key: str
    name: str = ""
    media_type: str = ""
    size: int = 0
    locator: str = ""


MaterialKind = Literal[
    "forwarded", "quoted", "parent", "thread", "shared", "card", "unread", "left_out"
]


@value
class Material:
    """A piece of what came with a question and is not the asker's own words.

    `kind`: a message of a merged forward; the message that was quoted; the root and the replies of
    the thread; a message or page that was shared; a card; what could not be read and why; how many
    pieces were left out. `author` is a shown name or an id, `at` seconds since the epoch (0 when it
    is not known), `depth` how deep a forward is nested in another.
    """

    kind: MaterialKind
    author: str = ""
    at: float = 0.0
    text: str = ""
    depth: int = 0


@value
class Question:
    """One message of a person to the bot, as it was read from the verified event.

    `text` is plain words with our own mention removed. `asked_at` is the message's own time in
    seconds since the epoch. `deferred` names what the worker still has to fetch before the text is
    complete (words with a space between: merge_forward, card, quote, thread, files), empty for most
    and once it was fetched. `unsupported` names a kind of message that can not be read. `act` is
    what a pressed control or a slash command asks for (agent/actions.py), "" for a message; `about`
    is the turn that it is about. `material` is what came along and is data, not the asker's words.
    """

    asker: Identity
    chat: ChatRef
    text: str
    language: Language
    asked_at: float
    attachments: tuple[Attachment, ...] = ()
    mentions: tuple[Mention, ...] = ()
    time_zone: str = ""
    deferred: str = ""
    unsupported: str = ""
    platform_hints: Mapping[str, str] = field(default_factory=dict[str, str])
    act: str = ""
    about: str = ""
    material: tuple[Material, ...] = ()


@value
class Passage:
    """A piece of evidence and who may read it.

    `source` is the id of the thing it comes from: letters, digits, dot, dash and underscore, one id
    per thing across tools and query variants. `place` is the heading path or page. `score` is
    calibrated: 0..1, the chance that the passage answers the query. `updated` is an ISO date or "".
    `keep` is False for what may serve the answer at hand and is stored nowhere (Slack's search).
    """

    source: str
    title: str
    text: str
    url: str = ""
    kind: str = ""
    place: str = ""
    updated: str = ""
    version: str = ""
    status: DocumentStatus = "current"
    readers: frozenset[str] = frozenset((EVERYONE,))
    score: float = 0.0
    private: bool = False
    keep: bool = True


@value
class Source:
    """A thing that may be cited: one entry of a turn's source table."""

    source: str
    title: str
    url: str = ""
    kind: str = ""
    updated: str = ""
    status: DocumentStatus = "current"
    readers: frozenset[str] = frozenset((EVERYONE,))
    private: bool = False


@value
class Citation:
    """A source with the number it has in one answer; numbers start at 1 in order of appearance."""

    n: int
    source: Source


@value
class Answer:
    """What a turn ended with. `text` is the model's markdown with resolved markers only."""

    text: str
    citations: tuple[Citation, ...]
    status: AnswerStatus
    model: str
    steps: int
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    """Milliseconds by name: reaction, first_text, search, model, total."""

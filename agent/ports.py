"""The ports: what the core asks of the world; adapters stand in stores/, models/, connectors/."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal, Protocol

from agent.dialogue import Capability, ModelEvent, ModelRequest, ToolSpec
from agent.domain import ChatRef, Identity, Json, Language, Passage, Question, Source
from agent.values import value

# --- time and chance -------------------------------------------------------------------------


class Timer(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time. `now` is wall time in seconds since the epoch, `monotonic` never runs backwards.

    `later` makes a call from the event loop after so many seconds, unless it is cancelled before.
    """

    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...

    def later(self, seconds: float, call: Callable[[], None]) -> Timer: ...


class Ids(Protocol):
    """Fresh identifiers: at least 80 random bits, letters and digits."""

    def new(self) -> str: ...


# --- table -----------------------------------------------------------------------------------

Value = None | bool | int | float | str | bytes | list["Value"] | dict[str, "Value"]
"""An attribute's value. Floats are kept for times and scores; keys are always text."""
Item = dict[str, Value]
"""An item with its `pk` and `sk`."""


@value
class Key:
    """The two-part primary key."""

    pk: str
    sk: str


@value
class Absent:
    """Holds when the item (name "") or the named attribute does not exist."""

    name: str = ""


NEW = (Absent(),)
"""The condition of a write that makes an item and never replaces one."""


@value
class Exists:
    """Holds when the item (name "") or the named attribute exists."""

    name: str = ""


@value
class Compare:
    """Holds when the attribute exists and compares so; a missing attribute never matches."""

    name: str
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    value: str | int | float | bool


@value
class AnyOf:
    """Holds when one of its parts does."""

    parts: tuple[Condition, ...]


Condition = Absent | Exists | Compare | AnyOf
"""One test on the stored item. A sequence of conditions holds when each part does."""


@value
class Change:
    """What an update does: attributes to set, numbers to add, attributes to remove."""

    set: Mapping[str, Value] | None = None
    add: Mapping[str, int] | None = None
    remove: Sequence[str] = ()


@value
class Put:
    """Part of a transaction: write the whole item."""

    item: Item
    when: Sequence[Condition] = ()


@value
class Update:
    """Part of a transaction: change an item, creating it when absent and allowed."""

    key: Key
    change: Change
    when: Sequence[Condition] = ()


@value
class Delete:
    """Part of a transaction: remove an item; removing what is absent succeeds."""

    key: Key
    when: Sequence[Condition] = ()


@value
class Check:
    """Part of a transaction: a condition on an item that is not written."""

    key: Key
    when: Sequence[Condition]


Write = Put | Update | Delete | Check


@value
class Page:
    """A part of a query's answer; `after` is where the next part starts, None at the end."""

    items: tuple[Item, ...]
    after: Key | None = None


class Table(Protocol):
    """Items with conditional writes, under DynamoDB's rules on every adapter.

    An item is at most 400 KB (ItemTooLarge, a ValueError, beyond), a transaction at most 100 items,
    each item once. A condition that does not hold raises ConditionFailed and writes nothing. Reads
    are consistent, except of the indexes `due` and `own`, which hold keys only and may lag.
    """

    async def get(self, key: Key) -> Item | None: ...

    async def put(self, item: Item) -> None: ...

    async def put_if(self, item: Item, when: Sequence[Condition]) -> None: ...

    async def update_if(self, key: Key, change: Change, when: Sequence[Condition] = ()) -> Item: ...

    async def delete_if(self, key: Key, when: Sequence[Condition] = ()) -> None: ...

    async def query(
        self,
        pk: str,
        prefix: str = "",
        *,
        limit: int = 100,
        reverse: bool = False,
        after: Key | None = None,
    ) -> Page: ...

    async def query_index(
        self,
        index: Literal["due", "own"],
        pk: str,
        *,
        up_to: str = "",
        limit: int = 100,
        after: Key | None = None,
    ) -> tuple[Key, ...]: ...

    async def transact(self, writes: Sequence[Write]) -> None: ...


# --- blobs, queue, secrets, cipher -----------------------------------------------------------


class Blobs(Protocol):
    """Objects by key. A key is a slash-separated path without `..`."""

    async def put(self, key: str, data: bytes, media_type: str = "") -> None: ...

    async def get(self, key: str) -> bytes | None: ...

    async def delete(self, key: str) -> None: ...

    async def presign(self, key: str, seconds: int) -> str: ...


@value
class Ring:
    """One call of the doorbell: a session that has work, and the receipt to acknowledge it."""

    session: str
    receipt: str


class Queue(Protocol):
    """The doorbell. It only rings: order and protection come from inbox and lock.

    A ring that was received and not acknowledged comes again after the visibility time.
    """

    async def ring(self, session: str, delay: float = 0.0) -> None: ...

    async def receive(self, limit: int = 1) -> tuple[Ring, ...]: ...

    async def ack(self, receipt: str) -> None: ...


class Secrets(Protocol):
    """Named secrets; None when there is none."""

    async def get(self, name: str) -> str | None: ...


class Cipher(Protocol):
    """Sealing with a bound context: a box opens only under the same context it was sealed with."""

    async def seal(self, data: bytes, context: Mapping[str, str]) -> bytes: ...

    async def open(self, box: bytes, context: Mapping[str, str]) -> bytes: ...


# --- model -----------------------------------------------------------------------------------


class Model(Protocol):
    """A language model. `stream` yields text as it comes and ends with one ModelReply.

    Raises Unavailable, RateLimited, ModelRefused or ModelFailed.
    """

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...

    def capability(self) -> Capability: ...


# --- tools -----------------------------------------------------------------------------------

Effect = Literal["read", "private-read", "write"]


@value
class ToolResult:
    """What a tool found. Passages are shown to the model by the core; `note` stands before them."""

    note: str = ""
    passages: tuple[Passage, ...] = ()


class Tool(Protocol):
    """Something the model may call. The asker is already bound in: no schema has a user field.

    `topic` names in both languages what progress tells the person, never the tool's own name.
    """

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def permission(self) -> str: ...

    @property
    def effect(self) -> Effect: ...

    @property
    def timeout(self) -> float: ...

    @property
    def topic(self) -> Mapping[Language, str]: ...

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult: ...


# --- chat ------------------------------------------------------------------------------------

Sign = Literal["seen", "failed"]


@value
class Control:
    """A button: what it asks for, the turn it is about, and its words in the reader's language.

    One with a `url` opens that page and asks us for nothing.
    """

    action: str
    turn: str
    label: str
    url: str = ""


@value
class Frame:
    """What a person should see now: always the whole, never a difference.

    `text` is the model's markdown so far with [src:id] markers; `sources` is what the markers may
    mean (unknown ids are dropped). `progress` is one line in plain words, "" for none. `notice` is
    a closing line of our own (offline model, incomplete answer, error code). `done` marks the last
    frame; the source list and the `controls` stand in that one.
    """

    turn: str
    language: Language
    text: str = ""
    progress: str = ""
    notice: str = ""
    sources: Mapping[str, Source] | None = None
    done: bool = False
    controls: Sequence[Control] = ()


class AnswerMessage(Protocol):
    """One message of ours that is edited in place until it is done.

    `pace` is the least number of seconds between two shows. `handle` is what a successor needs to
    go on editing (ids and counters as JSON text), "" before anything was posted. `show` may skip
    what the platform can not take back; `finish` delivers the whole answer once, in whatever form
    is left, and raises PlatformRefused only when nothing can be delivered at all.
    """

    @property
    def pace(self) -> float: ...

    @property
    def handle(self) -> str: ...

    async def show(self, frame: Frame) -> None: ...

    async def finish(self, frame: Frame) -> None: ...


class Chat(Protocol):
    """The conversation side of a platform."""

    async def react(self, chat: ChatRef, sign: Sign) -> None: ...

    def begin(
        self, chat: ChatRef, asker: Identity, turn: str, handle: str = "", attempt: int = 0
    ) -> AnswerMessage: ...

    def begin_privately(
        self, chat: ChatRef, asker: Identity, turn: str, about: str
    ) -> AnswerMessage:
        """An answer to a question of a group that the asker alone sees; `about` stands above it."""
        ...

    async def say(self, chat: ChatRef, text: str, key: str) -> None:
        """Post a short notice of our own as a reply; `key` makes a repeat harmless."""
        ...

    async def whisper(
        self,
        chat: ChatRef,
        asker: Identity,
        text: str,
        key: str,
        controls: Sequence[Control] = (),
    ) -> None:
        """Tell the asker alone, with buttons if there are any."""
        ...

    async def announce(self, chat: str, text: str, key: str, person: str = "") -> str:
        """Post to a chat's top level, naming a person (a user id) in front; returns the id.

        `key` makes a repeat harmless where the platform knows such keys.
        """
        ...


class Gatherer(Protocol):
    """Reads what the event of a question did not carry."""

    async def gather(self, question: Question, *, again: bool) -> Question | None:
        """The question with its material; None when its message was taken back meanwhile.

        `again` says that the question has waited: its own words are read once more, since they may
        have been edited. What can not be read is said in the material; no fault of the platform is
        raised.
        """
        ...


# --- people and rooms ------------------------------------------------------------------------


class Directory(Protocol):
    """Who people are to the organisation: configuration and platform together, cached."""

    async def labels(self, person: Identity) -> frozenset[str]:
        """The reader labels of a person: own, groups, everyone unless guest or external.

        A platform that gives no answer leaves out the labels that only it could give.
        """
        ...


class Rooms(Protocol):
    """Who can read along in a chat."""

    async def members(self, chat: ChatRef, asker: Identity) -> tuple[Identity, ...] | None:
        """The people of a chat, bots left out; None when they are too many or not known.

        Guests and people of another company come with `external` set.
        """
        ...

    async def outsiders(self, chat: ChatRef, asker: Identity) -> bool:
        """Whether guests or people of another company read along; True when nobody can tell."""
        ...

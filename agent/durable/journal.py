"""The turn's journal: what the model said and what its calls came to, stored as it happens."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Literal, TypedDict, cast

from agent.dialogue import (
    Block,
    Message,
    ModelReply,
    Picture,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolReply,
    Usage,
)
from agent.domain import Json
from agent.durable import keys
from agent.durable.records import PAYLOAD_KEPT, TurnRecord, check_format, new_item, text_of, time_of
from agent.errors import ConditionFailed, PlumblineError
from agent.jsontext import canonical, packed, unpacked
from agent.ports import NEW, Absent, AnyOf, Clock, Compare, Item, Key, Table, Value
from agent.values import value

_COMPRESS_FROM = 32 * 1024


class JournalMismatch(PlumblineError):
    """A replay does something else than the journal says was done: the turn can not go on."""

    code = "PL-010"


@value
class ModelStep:
    """What the model said in one step; `prompt_hash` is for people, no replay compares it."""

    step: int
    reply: ModelReply
    prompt_hash: str


@value
class ToolStep:
    """What call number `call` (from 1) of a step came to."""

    step: int
    call: int
    name: str
    argument_hash: str
    reply: ToolReply


@value
class History:
    """All that the journal holds: the steps in order, and the text the asker saw last."""

    steps: tuple[ModelStep | ToolStep, ...]
    visible: str


def argument_hash(arguments: Mapping[str, Json] | None) -> str:
    """A fingerprint of a call's arguments that does not depend on the order of their names."""
    return hashlib.blake2b(canonical(arguments).encode(), digest_size=16).hexdigest()


class Journal:
    """The journal of one running turn. A step that is stored stays as it is.

    What a person's own sources gave, and what the model said after it has seen that, is noted
    without its words: they are stored nowhere (SECURITY.md, retention), and a resume asks again.
    """

    __slots__ = ("_calls", "_clock", "_owner", "_private", "_record", "_table")

    def __init__(self, table: Table, clock: Clock, record: TurnRecord) -> None:
        self._table = table
        self._clock = clock
        self._record = record
        self._owner = record.owner
        self._private = False
        self._calls: dict[int, tuple[ToolCall, ...]] = {}

    async def model_step(self, step: int, reply: ModelReply, prompt_hash: str = "") -> None:
        """Store the whole reply, to be done before any of its calls runs.

        Raises:
            ConditionFailed: another reply is stored for this step.
        """
        key = keys.model_step(self._record.turn, step)
        item = self._item(key, None if self._private else packed(reply_to_json(reply)))
        item["prompt_hash"] = prompt_hash
        try:
            await self._table.put_if(item, NEW)
        except ConditionFailed:
            stored = await self._table.get(key)
            if stored is None or stored.get("payload") != item.get("payload"):
                raise
        self._calls[step] = reply.message.calls

    async def tool_step(
        self, step: int, call: ToolCall, reply: ToolReply, *, private: bool = False
    ) -> None:
        """Store what a call came to; of two results the first one stays.

        `private` says that the words are the asker's own sources'.

        Raises:
            JournalMismatch: the step's stored reply did not ask for this call, or the stored
                result belongs to another name or other arguments.
        """
        number = self._number(step, call)
        key = keys.tool_step(self._record.turn, step, number)
        self._private = self._private or private
        text = None if private else packed([reply.call, reply.text, reply.error])
        item = self._item(key, text)
        item["name"] = call.name
        item["argument_hash"] = argument_hash(call.arguments)
        try:
            await self._table.put_if(item, NEW)
        except ConditionFailed:
            stored = await self._table.get(key) or {}
            if any(stored.get(name) != item[name] for name in ("name", "argument_hash")):
                raise JournalMismatch(f"call {number} of step {step} was another one") from None

    async def start_over(self) -> None:
        """Forget the steps of an attempt that died, before the turn is begun anew."""
        while True:
            page = await self._table.query(keys.journal(self._record.turn), keys.STEPS)
            for item in page.items:
                await self._table.delete_if(Key(text_of(item, "pk"), text_of(item, "sk")))
            if page.after is None:
                return

    async def visible(self, text: str) -> None:
        """Store the text that the asker sees, at a step boundary.

        Raises:
            ConditionFailed: a later holder of the turn has written.
        """
        item = self._item(keys.visible(self._record.turn), packed(text), "view")
        item["fence"] = self._record.fence
        mine = AnyOf((Absent(), Compare("fence", "<=", self._record.fence)))
        await self._table.put_if(item, (mine,))

    async def load(self) -> History:
        """The whole journal; steps whose payload has expired are left out.

        Raises:
            UnknownFormat: a step was written in a format that is not read any more.
        """
        steps: list[ModelStep | ToolStep] = []
        after: Key | None = None
        while True:
            page = await self._table.query(keys.journal(self._record.turn), keys.STEPS, after=after)
            steps += [self._step(item) for item in page.items if self._is_kept(item)]
            after = page.after
            if after is None:
                break
        steps.sort(key=lambda s: (s.step, 0 if isinstance(s, ModelStep) else s.call))
        self._calls = {s.step: s.reply.message.calls for s in steps if isinstance(s, ModelStep)}
        view = await self._table.get(keys.visible(self._record.turn))
        shown = "" if view is None else cast(str, _payload(check_format(view, "view")))
        return History(tuple(steps), shown)

    def _item(self, key: Key, text: str | None, kind: Literal["step", "view"] = "step") -> Item:
        """An item with its words; one without them is left out by `load` as an expired one is."""
        now = self._clock.now()
        item = new_item(key, kind, self._record.org, now, self._owner)
        if text is None:
            return item
        item["payload"] = zlib.compress(text.encode()) if len(text) >= _COMPRESS_FROM else text
        item["payload_exp"] = int(now) + PAYLOAD_KEPT
        return item

    def _number(self, step: int, call: ToolCall) -> int:
        try:
            return self._calls.get(step, ()).index(call) + 1
        except ValueError:
            raise JournalMismatch(f"the model did not ask for {call.name} in step {step}") from None

    def _is_kept(self, item: Item) -> bool:
        return time_of(item, "payload_exp") > self._clock.now()

    def _step(self, item: Item) -> ModelStep | ToolStep:
        check_format(item, "step")
        step, _, call = text_of(item, "sk").removeprefix(keys.STEPS).partition("#c")
        payload = _payload(item)
        if not call:
            return ModelStep(int(step), reply_from_json(payload), text_of(item, "prompt_hash"))
        reply = ToolReply(*cast(tuple[str, str, bool], payload))
        return ToolStep(
            int(step), int(call), text_of(item, "name"), text_of(item, "argument_hash"), reply
        )


def _payload(item: Item) -> Json:
    value: Value = item["payload"]
    return unpacked(zlib.decompress(value).decode() if isinstance(value, bytes) else value)


# --- dialogue as plain values ----------------------------------------------------------------


class _StoredReply(TypedDict):
    """What `reply_to_json` writes, as its reader sees it."""

    role: Literal["user", "assistant"]
    blocks: list[Json]
    stop: StopReason
    usage: tuple[int, int, int]
    model: str


def reply_to_json(reply: ModelReply) -> Json:
    """The reply as plain values; reasoning blocks stay byte for byte what they were."""
    usage = reply.usage
    return {
        "role": reply.message.role,
        "blocks": [_block_to_json(block) for block in reply.message.blocks],
        "stop": reply.stop,
        "usage": [usage.input, usage.output, usage.cached],
        "model": reply.model,
    }


def reply_from_json(plain: Json) -> ModelReply:
    """The reply that `reply_to_json` was given."""
    stored = cast(_StoredReply, plain)
    blocks = tuple(_block_from_json(block) for block in stored["blocks"])
    return ModelReply(
        Message(stored["role"], blocks), stored["stop"], Usage(*stored["usage"]), stored["model"]
    )


def _block_to_json(block: Block) -> Json:
    if isinstance(block, Text):
        return ["text", block.text]
    if isinstance(block, Picture):
        return ["picture", block.blob, block.media_type]
    if isinstance(block, Thinking):
        return ["thinking", block.raw]
    if isinstance(block, ToolCall):
        arguments = None if block.arguments is None else dict(block.arguments)
        return ["call", block.id, block.name, arguments]
    return ["reply", block.call, block.text, block.error]


def _block_from_json(plain: Json) -> Block:
    match plain:
        case ["text", str(text)]:
            return Text(text)
        case ["picture", str(blob), str(media_type)]:
            return Picture(blob, media_type)
        case ["thinking", str(raw)]:
            return Thinking(raw)
        case ["call", str(id_), str(name), (dict() | None) as arguments]:
            return ToolCall(id_, name, arguments)
        case ["reply", str(call), str(text), bool(error)]:
            return ToolReply(call, text, error)
        case _:
            raise JournalMismatch("a stored message has a block of an unknown kind")

"""The ReAct loop: ask the model, run what it calls, give it the results, until it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from agent import compaction, phrases
from agent.dialogue import (
    Message,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolReply,
    Usage,
)
from agent.domain import Language, Source
from agent.errors import ContextTooLong, ModelRefused, RateLimited, Retryable
from agent.ports import Clock, Model, Tool
from agent.stopwatch import Stopwatch
from agent.toolbox import CallRecorder, Toolbox
from agent.values import value

MODEL_TRIES = 3
"""How often one step asks the model when its connection fails or its stream breaks off."""
RETRY_PAUSE = 0.5
"""Seconds before the second try; doubled after that. A named pause counts up to LONGEST_PAUSE."""
LONGEST_PAUSE = 20.0
MOST_TOKENS = 16_384
"""After a reply that was cut off by its output limit the limit is doubled up to this."""


class Voice(Protocol):
    """What the person sees while the loop works (agent/stream.py)."""

    def progress(self, line: str) -> None:
        """Show one line in plain words."""
        ...

    def delta(self, text: str) -> None:
        """Add words to the answer."""
        ...

    def replace(self, text: str) -> None:
        """Put other words in place of all so far."""
        ...

    def sources(self, table: Mapping[str, Source]) -> None:
        """Say what the markers may mean."""
        ...


class Recorder(CallRecorder, Protocol):
    """Keeps each step as it happens (agent/durable/journal.py)."""

    async def model_step(self, step: int, reply: ModelReply) -> None:
        """Store the whole reply before any of its calls runs."""
        ...


End = Literal["answered", "too_long", "broken_off", "step_limit", "empty"]


@value
class Limits:
    """How far one turn may go: model steps, and output tokens a step."""

    steps: int = 10
    tokens: int = 4096


@value
class LoopEnd:
    """What the loop came to.

    `end`: answered; too_long (the output limit cut the text); broken_off (the stream ended early,
    `text` is what there was); step_limit (no step was left, `text` may be empty); empty (the model
    said nothing, twice). `shortened`: results or old exchanges were cut to fit the model's window.
    """

    text: str
    end: End
    steps: int
    model: str
    usage: Usage
    shortened: bool = False


class Loop:
    """One turn's loop. All it touches comes in; it keeps nothing after `run`."""

    __slots__ = (
        "_clock",
        "_language",
        "_limits",
        "_model",
        "_recorder",
        "_toolbox",
        "_voice",
        "_watch",
    )

    def __init__(
        self,
        model: Model,
        toolbox: Toolbox,
        recorder: Recorder,
        voice: Voice,
        clock: Clock,
        watch: Stopwatch,
        language: Language,
        limits: Limits,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._recorder = recorder
        self._voice = voice
        self._clock = clock
        self._watch = watch
        self._language: Language = language
        self._limits = limits

    async def run(self, system: str, conversation: Sequence[Message]) -> LoopEnd:
        """Answer the last message of the conversation.

        Raises ModelRefused when the model declines, ModelFailed or a Retryable when it can not be
        reached after MODEL_TRIES. Tools never make it raise.
        """
        messages = list(conversation)
        tokens, usage, asked_again = self._limits.tokens, Usage(), False
        step, shortened = 0, False
        while True:
            step += 1
            last = step >= self._limits.steps or self._toolbox.looping
            request = ModelRequest(system, self._toolbox.specs, tuple(messages), tokens, last)
            reply, sent = await self._fitting(request)
            if sent is not request:
                messages, shortened = list(sent.messages), True
            usage = _sum(usage, reply.usage)
            await self._recorder.model_step(step, reply)
            if reply.stop == "refusal":
                raise ModelRefused("the model declined to answer")
            calls = reply.message.calls
            if calls and not last:
                self._voice.replace("")
                messages += await self._observe(reply, calls, step)
                if reply.stop == "length":
                    tokens = min(tokens * 2, MOST_TOKENS)
                continue
            text = reply.message.text
            if text.strip() or calls:
                end = _end(reply, cut_short=bool(calls))
                return LoopEnd(text, end, step, reply.model, usage, shortened)
            if asked_again or last:
                return LoopEnd("", "empty", step, reply.model, usage)
            asked_again = True

    async def _observe(
        self, reply: ModelReply, calls: Sequence[ToolCall], step: int
    ) -> tuple[Message, Message]:
        """Run the calls; a reply that was cut off has its calls answered, never executed."""
        self._voice.progress(_doing(self._language, self._toolbox.topics(calls)))
        moment = self._watch.now()
        if reply.stop in ("length", "cut"):
            replies = tuple(
                ToolReply(
                    c.id, "Your reply was cut off, so nothing ran. Call again, shorter.", True
                )
                for c in calls
            )
        else:
            replies = await self._toolbox.run(calls, step)
        self._watch.since("search", moment)
        self._voice.sources(self._toolbox.sources.table)
        self._voice.progress(phrases.progress(self._language, "reading"))
        said = tuple(b for b in reply.message.blocks if not isinstance(b, Text) or b.text.strip())
        return Message("assistant", said), Message("user", replies)

    async def _fitting(self, request: ModelRequest) -> tuple[ModelReply, ModelRequest]:
        """One reply, and the request that it answers.

        A request that may not fit the window is shortened before it goes out, and once more when
        the model says that it is too long.
        """
        sent = compaction.fitted(request, self._model.capability().window)
        try:
            return await self._ask(sent), sent
        except ContextTooLong:
            smaller = compaction.halved(sent)
            if smaller is sent:
                raise
        return await self._ask(smaller), smaller

    async def _ask(self, request: ModelRequest) -> ModelReply:
        """One reply of the model; a fault or a broken stream is tried again from the start."""
        pause = RETRY_PAUSE
        for attempt in range(1, MODEL_TRIES + 1):
            moment = self._watch.now()
            try:
                reply = await self._listen(request)
            except Retryable as error:
                if attempt == MODEL_TRIES:
                    raise
                if isinstance(error, RateLimited):
                    pause = max(pause, min(error.retry_after, LONGEST_PAUSE))
            else:
                if reply.stop != "cut" or attempt == MODEL_TRIES:
                    return reply
            finally:
                self._watch.since("model", moment)
            self._voice.replace("")
            await self._clock.sleep(pause)
            pause *= 2
        raise AssertionError("unreachable: the last try returns or raises")

    async def _listen(self, request: ModelRequest) -> ModelReply:
        """The reply that ends the stream.

        It is read to its end, so that it closes here and not whenever the loop finds it abandoned.
        """
        reply: ModelReply | None = None
        async for event in self._model.stream(request):
            if isinstance(event, TextDelta):
                self._watch.once("first_text")
                self._voice.delta(event.text)
            else:
                reply = event
        assert reply is not None, "a model's stream ends with a ModelReply"  # noqa: S101  the port's promise
        return reply


def _end(reply: ModelReply, *, cut_short: bool) -> End:
    if cut_short:
        return "step_limit"
    ends: dict[str, End] = {"cut": "broken_off", "length": "too_long"}
    return ends.get(reply.stop, "answered")


def _doing(language: Language, tools: Sequence[Tool]) -> str:
    topics = ("、" if language == "zh" else ", ").join(
        dict.fromkeys(t.topic[language] for t in tools)
    )
    return phrases.progress(language, "searching", topics)


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(a.input + b.input, a.output + b.output, a.cached + b.cached)

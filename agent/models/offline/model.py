"""The model that needs no network: it searches once, reads closer once, and answers in quotes.

It sees what every model sees, the request, and nothing else; the same request has the same reply.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import cast

from agent.dialogue import (
    Capability,
    Message,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolReply,
    ToolSpec,
)
from agent.domain import Json
from agent.language import detect
from agent.models.offline.answer import answer, refusal, small_talk
from agent.models.offline.choice import choose
from agent.models.offline.passages import Shown, read_passages
from agent.models.offline.question import (
    is_small_talk,
    questions,
    variants,
    whole_question,
    words_of,
)
from agent.models.offline.terms import in_other_language
from agent.ports import Clock

NAME = "offline"
SEARCH = "knowledge_search"
READ = "read_document"
OWN_SEARCHES = ("search_my_messages", "search_my_documents", "search_my_minutes")
"""The searches of the asker's own sources; what became of them is said beside the answer."""
_OWN = re.compile(r"(?:f[mdn]|s[mcf])-")
"""How ids of own sources begin (connectors/)."""
MOST_READ = 3
"""Documents that are read in full for one question."""

_PIECE = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]{1,3}|[^\\s\u3000-\u9fff\uff00-\uffef]+\\s*|\\s+"
)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What this turn's tools have shown so far."""

    passages: tuple[Shown, ...]
    called: frozenset[str]
    failed: bool


class OfflineModel:
    """Extractive answers. `pace` is the pause between two pieces of text, in seconds."""

    def __init__(self, clock: Clock, pace: float = 0.0) -> None:
        self._clock = clock
        self._pace = pace

    def capability(self) -> Capability:
        """Tools, no pictures, and room for whatever the core sends."""
        return Capability(NAME)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply in pieces of a word or a few characters."""
        reply = _reply(request)
        for piece in _PIECE.findall(reply.message.text):
            yield TextDelta(piece)
            if self._pace:
                await self._clock.sleep(self._pace)
        yield reply


def _reply(request: ModelRequest) -> ModelReply:
    asked = questions(request.messages)
    said = asked[-1] if asked else ""
    language = detect(said)
    if is_small_talk(said):
        return _says(small_talk(language))
    seen, whole = _seen(request.messages), whole_question(asked)
    if not request.answer_now and (calls := _next_calls(request, seen, whole, asked)):
        return ModelReply(Message("assistant", calls), "tools", model=NAME)
    if seen.failed and not seen.passages:
        return _says(refusal(language, broken=True))
    return _says(answer(choose(whole, seen.passages), language))


def _says(text: str) -> ModelReply:
    return ModelReply(Message("assistant", (Text(text),)), "end", model=NAME)


def _seen(messages: tuple[Message, ...]) -> _Seen:
    """What stands behind the last question."""
    last = max((i for i, m in enumerate(messages) if words_of(m)), default=-1)
    turn = messages[last + 1 :]
    replies = [b for m in turn for b in m.blocks if isinstance(b, ToolReply)]
    own = {c.id for m in turn for c in m.calls if c.name in OWN_SEARCHES}
    return _Seen(
        read_passages(r.text for r in replies if not r.error),
        frozenset(c.name for m in turn for c in m.calls),
        any(r.error for r in replies if r.call not in own),
    )


def _next_calls(
    request: ModelRequest, seen: _Seen, whole: str, asked: tuple[str, ...]
) -> tuple[ToolCall, ...]:
    """A search first; then a closer look at the best documents unless a sure answer was shown."""
    offered = {t.name: t for t in request.tools}
    id_ = f"call_{len(request.messages)}"
    searches = [name for name in (SEARCH, *OWN_SEARCHES) if name in offered]
    if searches and not seen.called.intersection(searches):
        sentences = variants(whole, asked)
        # People's own sources take few sentences: the one in the other language comes second.
        other = in_other_language(whole, least=1)
        angles = [whole, *([other] if other else []), *sentences]
        own = tuple(dict.fromkeys(angles))
        return tuple(
            ToolCall(
                f"{id_}_{n}" if n else id_,
                name,
                _search_arguments(offered[name], sentences if name == SEARCH else own),
            )
            for n, name in enumerate(searches)
        )
    if READ not in offered or READ in seen.called:
        return ()
    choice = choose(whole, seen.passages)
    if choice.sure and not choice.quotes[0].shown.cut:
        return ()
    field = _field(offered[READ], "string")
    return tuple(
        ToolCall(f"{id_}_{n}" if n else id_, READ, {field: source})
        for n, source in enumerate(_to_read(seen.passages))
    )


def _to_read(passages: tuple[Shown, ...]) -> list[str]:
    """The knowledge base's documents of the best passages that are in force."""
    current = [p for p in passages if not p.obsolete and not _OWN.match(p.source)]
    ranked = sorted(current, key=lambda p: -(p.score or 0.0))
    return list(dict.fromkeys(p.source for p in ranked))[:MOST_READ]


def _search_arguments(spec: ToolSpec, sentences: tuple[str, ...]) -> dict[str, Json]:
    """The sentences in the tool's list of texts, or in its one text the first in each language."""
    if many := _field(spec, "array"):
        fields = cast("Mapping[str, Mapping[str, Json]]", spec.schema["properties"])
        most = fields[many].get("maxItems")
        return {many: list(sentences[: most if isinstance(most, int) else None])}
    first = sentences[0]
    other = next((s for s in sentences[1:2] if detect(s) != detect(first)), "")
    return {_field(spec, "string"): f"{first} {other}".strip()}


def _field(spec: ToolSpec, kind: str) -> str:
    """The first field of this type, a required one before the others; empty when there is none."""
    fields = cast("Mapping[str, Mapping[str, Json]]", spec.schema.get("properties") or {})
    required = cast("list[str]", spec.schema.get("required") or [])
    ordered = sorted(fields, key=lambda name: name not in required)
    return next((n for n in ordered if fields[n].get("type") == kind), "")

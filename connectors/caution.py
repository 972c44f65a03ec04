"""What may follow from things that were read: orders in them move no tool and fill no address.

Whatever a tool finds was written by others, and may ask for things. Three rules hold whatever the
model makes of it (SECURITY.md, Injection, layer 1):

1. No tool takes an identity. One whose schema has such a field is not put on the table.
2. Fields that name an address or a recipient take the asker's own words only, once private text has
   been read: what stands in a source can not choose where it is sent.
3. The asker's own sources are searched for what the asker asked about. A kind of them that was not
   asked before anything was read is searched only in words of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from agent.dialogue import ToolSpec
from agent.domain import Json, Language, Question
from agent.errors import BadArguments, Misconfigured, ToolFailed
from agent.material import has_words
from agent.ports import Effect, Tool, ToolResult
from connectors.personal.keywords import terms, told_terms

_IDENTITY: Final = frozenset(
    ("user", "tenant", "token", "openid", "unionid", "principal", "asker", "account", "identity")
)
_OUTWARD: Final = frozenset(
    ("url", "uri", "link", "href", "address", "endpoint", "webhook", "host", "domain", "channel",
     "recipient", "recipients", "to", "cc", "bcc", "email", "mail", "target", "destination")
)  # fmt: skip
_FREE: Final = frozenset(("query", "queries", "text", "chat"))
"""Fields that say what is searched for; ids, dates and choices say nothing of their own."""
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*")


@dataclass(slots=True)
class Reading:
    """What a turn has read so far: anything at all, anything private, and which kinds were asked.

    `words` is what the asker said; the material that came along counts only for a question without
    words of its own.
    """

    words: str
    anything: bool = False
    private: bool = False
    kinds: set[str] = field(default_factory=set[str])


def cautious(tools: Iterable[Tool], question: Question) -> tuple[Tool, ...]:
    """The tools of a turn under these rules, which they share.

    Raises:
        Misconfigured: a tool takes an identity.
    """
    brought = "\n".join(piece.text for piece in question.material)
    words = question.text if question.text.strip() else brought
    reading = Reading(words, anything=has_words(question.material))
    return tuple(_guarded(tool, reading) for tool in tools)


def _guarded(tool: Tool, reading: Reading) -> Tool:
    taken = [name for name in fields_of(tool.spec) if is_identity(name)]
    if taken:
        raise Misconfigured(f"The tool {tool.spec.name} takes an identity: {', '.join(taken)}.")
    return CautiousTool(tool, reading)


def fields_of(spec: ToolSpec) -> tuple[str, ...]:
    """The names of a tool's arguments, those within arguments too."""
    return tuple(_names(spec.schema))


def _names(node: Json | Mapping[str, Json]) -> Iterable[str]:
    if isinstance(node, Mapping):
        properties = node.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for part in node.values():
            yield from _names(part)
    elif isinstance(node, list):
        for part in node:
            yield from _names(part)


def is_identity(name: str) -> bool:
    """Whether a field names a person, a tenant or a credential."""
    return bool(_parts(name) & _IDENTITY)


def is_outward(name: str) -> bool:
    """Whether a field names where something goes."""
    return bool(_parts(name) & _OUTWARD)


def _parts(name: str) -> frozenset[str]:
    """The words of a field's name, and neighbours joined: open_id, openId and OpenID are one."""
    words = [word.lower() for word in _PART.findall(name)]
    return frozenset((*words, *(a + b for a, b in pairwise(words))))


@dataclass(frozen=True, slots=True)
class CautiousTool:
    """A tool that notes what it finds and refuses calls that come from what was found."""

    tool: Tool
    reading: Reading

    @property
    def spec(self) -> ToolSpec:
        """The tool's own."""
        return self.tool.spec

    @property
    def permission(self) -> str:
        """The tool's own."""
        return self.tool.permission

    @property
    def effect(self) -> Effect:
        """The tool's own."""
        return self.tool.effect

    @property
    def timeout(self) -> float:
        """The tool's own."""
        return self.tool.timeout

    @property
    def topic(self) -> Mapping[Language, str]:
        """The tool's own."""
        return self.tool.topic

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        """Call the tool, if the call may come from the question.

        Raises:
            BadArguments: it may not; the text says what would be taken.
            ForModel, Retryable: what the tool raises.
        """
        self._check_outward(arguments)
        self._check_searched(arguments)
        self.reading.kinds.add(self.permission)
        try:
            result = await self.tool.call(arguments)
        except ToolFailed:
            self.reading.anything = True  # a fault may be told in others' words
            raise
        self.reading.anything |= bool(result.passages)
        self.reading.private |= any(passage.private for passage in result.passages)
        return result

    def _check_outward(self, arguments: Mapping[str, Json]) -> None:
        if not self.reading.private:
            return
        for name, value in _texts(arguments):
            if is_outward(name) and value.strip() not in self.reading.words:
                raise BadArguments(
                    f"{name}: after private sources were read, only what the person wrote is taken."
                )

    def _check_searched(self, arguments: Mapping[str, Json]) -> None:
        reading = self.reading
        planned = not reading.anything or self.permission in reading.kinds
        if self.effect != "private-read" or planned:
            return
        asked = terms(reading.words)
        for name, value in _texts(arguments):
            told = told_terms([value])
            if name in _FREE and told and not told & asked:
                raise BadArguments(
                    f"{name}: the person's own sources are searched for what the person asked "
                    "about. Use words of the question."
                )


def _texts(arguments: Json | Mapping[str, Json], name: str = "") -> Sequence[tuple[str, str]]:
    """Every text in the arguments with the name of the field that it stands in."""
    if isinstance(arguments, str):
        return [(name, arguments)]
    if isinstance(arguments, Mapping):
        return [pair for key, part in arguments.items() for pair in _texts(part, key)]
    if isinstance(arguments, list):
        return [pair for part in arguments for pair in _texts(part, name)]
    return []

"""Tools with a fault planted in them, for tests that have to see a leak found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.dialogue import ToolSpec
from agent.domain import EVERYONE, Json, Language
from agent.errors import ForModel
from agent.ports import Effect, Tool, ToolResult


@dataclass(frozen=True)
class Planted:
    """A tool that looks like the one it stands for."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    @property
    def permission(self) -> str:
        return self.tool.permission

    @property
    def effect(self) -> Effect:
        return self.tool.effect

    @property
    def timeout(self) -> float:
        return self.tool.timeout

    @property
    def topic(self) -> Mapping[Language, str]:
        return self.tool.topic

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        return await self.tool.call(arguments)


@dataclass(frozen=True)
class Unfiltered(Planted):
    """Finds what anybody finds who asked before: the same tool of other askers is in `known`."""

    known: list[Tool]

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        found = [await tool.call(arguments) for tool in (self.tool, *self.known[-12:])]
        return ToolResult(passages=tuple({p.text: p for r in found for p in r.passages}.values()))


@dataclass(frozen=True)
class Remembering(Planted):
    """Keeps results by the question alone, whoever asked; a stale one also for a new question."""

    kept: dict[str, ToolResult]

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        key = json.dumps(arguments)[:12]
        if key not in self.kept or not self.kept[key].passages:
            self.kept[key] = await self.tool.call(arguments)
        return self.kept[key]


@dataclass(frozen=True)
class Unlabelled(Planted):
    """Says of everything it finds that everybody may read it."""

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        try:
            result = await self.tool.call(arguments)
        except ForModel:
            return ToolResult()
        wide = frozenset((EVERYONE,))
        return replace(result, passages=tuple(replace(p, readers=wide) for p in result.passages))

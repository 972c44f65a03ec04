"""A decorated function becomes a Tool: its schema comes from the types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, getdoc, signature
from types import CodeType
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import asdict

from agent.dialogue import ToolSpec
from agent.domain import Json, Language
from agent.errors import BadArguments
from agent.ports import Effect, ToolResult
from agent.values import value

ToolFunction = Callable[..., Awaitable["ToolResult | str"]]

_LEAST_TEXT = 12
"""A parameter's text shorter than this says nothing on type, format and unit."""


@value
class FunctionTool:
    """A Tool made of an async function. Arguments that do not fit raise BadArguments."""

    spec: ToolSpec
    permission: str
    effect: Effect
    timeout: float
    topic: Mapping[Language, str]
    arguments: type[msgspec.Struct]
    function: ToolFunction

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        """Check the arguments against the schema and run the function."""
        result = await self.function(**self._checked(arguments))
        return ToolResult(note=result) if isinstance(result, str) else result

    def _checked(self, arguments: Mapping[str, Json]) -> dict[str, object]:
        """The function's own arguments, a number in quotation marks read as the number."""
        try:
            return asdict(msgspec.convert(arguments, self.arguments, strict=False))
        except msgspec.ValidationError as error:
            takes = ", ".join(self.arguments.__struct_fields__)
            raise BadArguments(f"The arguments do not fit: {error}. It takes: {takes}.") from error


def tool(
    *,
    topic: Mapping[Language, str],
    permission: str,
    effect: Effect = "read",
    timeout: float = 5.0,
) -> Callable[[ToolFunction], FunctionTool]:
    """Turn an async function into a Tool.

    The docstring is what the model reads. Each parameter is `Annotated[type, "text"]`, and the text
    gives type, format and unit; `msgspec.Meta(ge=1)` and the like behind it narrow the values.
    Raises TypeError at decoration when a text is missing, so a tool with a mute parameter can not
    be built.
    """

    def decorate(function: ToolFunction) -> FunctionTool:
        spec, arguments = _described(function)
        return FunctionTool(spec, permission, effect, timeout, topic, arguments, function)

    return decorate


_described_by_code: dict[
    tuple[int, str, str | None], tuple[CodeType, ToolSpec, type[msgspec.Struct]]
] = {}
"""Tools are built anew for each asker from the same code; their schema is worked out once.

The key is the code's id (its hash would read all of it) with the name and text that the model
reads; the entry keeps the code alive.
"""


def _described(function: ToolFunction) -> tuple[ToolSpec, type[msgspec.Struct]]:
    code = cast(CodeType, getattr(function, "__code__"))  # noqa: B009  typed access to a function's code
    key = (id(code), function.__name__, function.__doc__)
    known = _described_by_code.get(key)
    if known is None:
        known = _described_by_code[key] = (code, *_describe(function))
    return known[1:]


def _describe(function: ToolFunction) -> tuple[ToolSpec, type[msgspec.Struct]]:
    name = getattr(function, "__name__", "tool")
    description = getdoc(function)
    if not description:
        raise TypeError(f"tool {name} has no docstring for the model to read")
    hints = get_type_hints(function, include_extras=True)
    fields = [_field(name, p, hints[p.name]) for p in signature(function).parameters.values()]
    arguments = msgspec.defstruct(name, fields, forbid_unknown_fields=True, kw_only=True)
    _, parts = msgspec.json.schema_components([arguments])
    schema = _without_titles(cast(Json, parts[name]))
    return ToolSpec(name, description, cast(Mapping[str, Json], schema)), arguments


def _field(tool_name: str, parameter: Parameter, hint: object) -> tuple[str, Any, Any]:
    texts = [m for m in get_args(hint)[1:] if isinstance(m, str)]
    if get_origin(hint) is not Annotated or not texts or len(texts[0]) < _LEAST_TEXT:
        raise TypeError(
            f"parameter {parameter.name} of tool {tool_name} needs a text on type, format and unit"
        )
    default = msgspec.NODEFAULT if parameter.default is Parameter.empty else parameter.default
    described = Annotated[hint, msgspec.Meta(description=texts[0])]
    return parameter.name, described, default


def _without_titles(node: Json) -> Json:
    """Titles repeat the names and cost tokens in every request."""
    if isinstance(node, dict):
        return {
            k: _without_titles(v) for k, v in node.items() if k != "title" or not isinstance(v, str)
        }
    if isinstance(node, list):
        return [_without_titles(v) for v in node]
    return node

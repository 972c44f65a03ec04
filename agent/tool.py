"""A decorated function becomes a Tool: its schema comes from the types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from inspect import Parameter, getdoc, signature
from types import CodeType
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

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
    arguments: type[BaseModel]
    function: ToolFunction

    async def call(self, arguments: Mapping[str, Json]) -> ToolResult:
        """Check the arguments against the schema and run the function."""
        result = await self.function(**self._checked(arguments))
        return ToolResult(note=result) if isinstance(result, str) else result

    def _checked(self, arguments: Mapping[str, Json]) -> dict[str, object]:
        """The function's own arguments; the checked model is let go before the function runs."""
        try:
            return vars(self.arguments.model_validate(arguments))
        except ValidationError as error:
            raise BadArguments(_reasons(error)) from error


def tool(
    *,
    topic: Mapping[Language, str],
    permission: str,
    effect: Effect = "read",
    timeout: float = 5.0,
) -> Callable[[ToolFunction], FunctionTool]:
    """Turn an async function into a Tool.

    The docstring is what the model reads. Each parameter is `Annotated[type, "text"]`, and the text
    gives type, format and unit. Raises TypeError at decoration when one is missing, so a tool with
    a mute parameter can not be built.
    """

    def decorate(function: ToolFunction) -> FunctionTool:
        spec, arguments = _described(function)
        return FunctionTool(spec, permission, effect, timeout, topic, arguments, function)

    return decorate


_described_by_code: dict[
    tuple[int, str, str | None], tuple[CodeType, ToolSpec, type[BaseModel]]
] = {}
"""Tools are built anew for each asker from the same code; their schema is worked out once.

The key is the code's id (its hash would read all of it) with the name and text that the model
reads; the entry keeps the code alive.
"""


def _described(function: ToolFunction) -> tuple[ToolSpec, type[BaseModel]]:
    code = cast(CodeType, getattr(function, "__code__"))  # noqa: B009  typed access to a function's code
    key = (id(code), function.__name__, function.__doc__)
    known = _described_by_code.get(key)
    if known is None:
        known = _described_by_code[key] = (code, *_describe(function))
    return known[1:]


def _describe(function: ToolFunction) -> tuple[ToolSpec, type[BaseModel]]:
    name = getattr(function, "__name__", "tool")
    description = getdoc(function)
    if not description:
        raise TypeError(f"tool {name} has no docstring for the model to read")
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        parameter.name: _field(name, parameter, hints[parameter.name])
        for parameter in signature(function).parameters.values()
    }
    arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    schema = _without_titles(cast(dict[str, Json], arguments.model_json_schema()))
    return ToolSpec(name, description, cast(Mapping[str, Json], schema)), arguments


def _field(tool_name: str, parameter: Parameter, hint: object) -> tuple[object, object]:
    texts = [m for m in get_args(hint)[1:] if isinstance(m, str)]
    if get_origin(hint) is not Annotated or not texts or len(texts[0]) < _LEAST_TEXT:
        raise TypeError(
            f"parameter {parameter.name} of tool {tool_name} needs a text on type, format and unit"
        )
    default = ... if parameter.default is Parameter.empty else parameter.default
    return hint, Field(default, description=texts[0])


def _without_titles(node: Json) -> Json:
    """Pydantic's titles repeat the names and cost tokens in every request."""
    if isinstance(node, dict):
        return {
            k: _without_titles(v) for k, v in node.items() if k != "title" or not isinstance(v, str)
        }
    if isinstance(node, list):
        return [_without_titles(v) for v in node]
    return node


def _reasons(error: ValidationError) -> str:
    lines = [
        f"{'.'.join(str(part) for part in e['loc']) or 'arguments'}: {e['msg']}"
        for e in error.errors(include_url=False, include_input=False)
    ]
    return "The arguments do not fit: " + "; ".join(lines)

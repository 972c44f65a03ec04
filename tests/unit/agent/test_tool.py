"""A decorated function becomes a Tool, and a mute parameter can not."""

from __future__ import annotations

from typing import Annotated

import pytest

from agent.domain import Language
from agent.errors import BadArguments
from agent.ports import ToolResult
from agent.tool import FunctionTool, tool

TOPIC: dict[Language, str] = {"zh": "天气", "en": "the weather"}


def weather(prefix: str) -> FunctionTool:
    @tool(topic=TOPIC, permission="weather.read", timeout=2.0)
    async def forecast(
        city: Annotated[str, "name of one city, as text"],
        days: Annotated[int, "how many days, a whole number"] = 1,
    ) -> str:
        """Tell the weather."""
        return f"{prefix} {city} {days}"

    return forecast


async def test_schema_and_call_come_from_the_types():
    made = weather("in")
    assert made.spec.name == "forecast"
    assert made.spec.description == "Tell the weather."
    assert made.spec.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "name of one city, as text"},
            "days": {
                "type": "integer",
                "default": 1,
                "description": "how many days, a whole number",
            },
        },
    }
    assert await made.call({"city": "Berlin"}) == ToolResult(note="in Berlin 1")


async def test_a_tool_built_anew_for_each_asker_keeps_what_was_bound():
    assert (await weather("a").call({"city": "x"})).note == "a x 1"
    assert (await weather("b").call({"city": "x"})).note == "b x 1"
    assert weather("a").spec is weather("b").spec


@pytest.mark.parametrize(
    "arguments", [{}, {"city": 3}, {"city": "x", "days": "many"}, {"city": "x", "user": "bob"}]
)
async def test_arguments_that_do_not_fit_are_told_to_the_model(arguments: dict[str, str]):
    with pytest.raises(BadArguments, match="do not fit"):
        await weather("a").call(arguments)


def test_a_parameter_without_a_text_is_refused():
    async def mute(city: str) -> str:
        """Tell."""
        return city

    with pytest.raises(TypeError, match="parameter city of tool mute"):
        tool(topic=TOPIC, permission="p")(mute)

    async def short(city: Annotated[str, "a city"]) -> str:
        """Tell."""
        return city

    with pytest.raises(TypeError, match="type, format and unit"):
        tool(topic=TOPIC, permission="p")(short)

    async def undescribed() -> str:
        return ""

    with pytest.raises(TypeError, match="docstring"):
        tool(topic=TOPIC, permission="p")(undescribed)

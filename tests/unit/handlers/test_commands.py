"""Which messages are commands, and what stands behind /plumb."""

from __future__ import annotations

import pytest

from handlers.surface.commands import Command, CommandName, parse, parse_slash


@pytest.mark.parametrize("text", ["new", " NEW\n", "/new", "新话题", "/新话题"])
def test_words_that_clear(text: str) -> None:
    assert parse(text) == Command("new")


@pytest.mark.parametrize(
    "text",
    [
        "new hotel?",
        "",
        "what is new",
        "新",
        "/etc/hosts",
        "/",
        "model X300 weight?",
        "sources of funding",
        "lang lebe der Roboter",
        "resume",
        "恢复",
    ],
)
def test_a_word_that_is_no_command_is_a_question(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/lang zh", "lang", "zh"),
        ("/ask  What is it? ", "ask", "What is it?"),
        ("/反馈 很好", "feedback", "很好"),
        ("帮助", "help", ""),
        ("lang en", "lang", "en"),
        ("Sources off kb", "sources", "off kb"),
    ],
)
def test_a_command_and_its_words(text: str, name: CommandName, rest: str) -> None:
    assert parse(text) == Command(name, rest)


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("", "help", ""),
        ("status", "status", ""),
        ("lang en", "lang", "en"),
        ("What is the hotel limit?", "ask", "What is the hotel limit?"),
        ("ask What is it?", "ask", "What is it?"),
    ],
)
def test_what_stands_behind_plumb(text: str, name: CommandName, rest: str) -> None:
    assert parse_slash(text) == Command(name, rest)

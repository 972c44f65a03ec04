"""Which messages are commands, what stands behind /plumb, and what the person is told."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from agent.desk import Reply
from agent.domain import Language, Platform
from agent.durable import preferences
from handlers.surface import manual, replies
from handlers.surface.commands import WORDS, Command, CommandName, parse, parse_slash, run
from tests.fakes.desk import PlainPlace, asked


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
        ("/ask\nWhat is it?\nAnd why?", "ask", "What is it?\nAnd why?"),
        ("／帮助", "help", ""),
        ("/plumb status", "status", ""),
        ("/plumb", "help", ""),
        ("/plumb 年假怎么申请？", "ask", "年假怎么申请？"),
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
        ("/status", "status", ""),
        ("/statsu now", "unknown", "statsu"),
        ("/etc/hosts on the router?", "ask", "/etc/hosts on the router?"),
        ("statsu", "ask", "statsu"),
    ],
)
def test_what_stands_behind_plumb(text: str, name: CommandName, rest: str) -> None:
    assert parse_slash(text) == Command(name, rest)


@pytest.mark.parametrize("text", ["/statsu", "/foo bar", " ／foo", "/状况", "/123", "/plumb /foo"])
def test_a_word_with_a_slash_is_never_a_question(text: str) -> None:
    command = parse(text)
    assert command is not None
    assert command.name == "unknown"


async def obeyed(
    folder: Path, text: str, platform: Platform = "feishu", *, admin: bool = False
) -> tuple[Reply, PlainPlace, str]:
    """What Alice is told of a command, where, and her principal."""
    place = PlainPlace(folder)
    record = await place.begun(asked(text))
    asker = replace(record.question.asker, platform=platform)
    record = replace(record, question=replace(record.question, asker=asker))
    desk, _ = await place.desk(record)
    command = parse(text)
    assert command is not None
    desk = replace(desk, house=replace(desk.house, admin=admin))
    return await run(desk, record, command), place, record.owner


@pytest.mark.parametrize(
    ("text", "platform", "named"),
    [
        ("/statsu", "feishu", ["/status"]),
        ("/statsu", "slack", ["/plumb status"]),
        ("/halp", "feishu", ["/help"]),
        ("/模形", "feishu", ["/模型"]),
        ("/language", "feishu", ["/lang"]),
        ("/pausse", "feishu", ["/status"]),
        ("/stop", "feishu", ["/stop-listening"]),
        ("/xyzzy", "feishu", []),
    ],
)
async def test_an_unknown_command_is_told_its_nearest_names(
    tmp_path: Path, text: str, platform: Platform, named: list[str]
) -> None:
    reply, _, _ = await obeyed(tmp_path, text, platform)
    shown = replies.command(platform, text[1:])
    assert reply.text == manual.unknown_command(
        "en", platform, text[1:], [name.rpartition(" ")[2].lstrip("/") for name in named]
    )
    assert f"no command {shown}." in reply.text
    assert all(name in reply.text for name in named)
    assert ("Did you mean" in reply.text) == bool(named)


async def test_administrators_are_told_their_commands_too(tmp_path: Path) -> None:
    reply, _, _ = await obeyed(tmp_path, "/pausse", admin=True)
    assert "/pause" in reply.text.replace("/pausse", "")


async def test_a_language_that_is_not_offered_is_refused_by_name(tmp_path: Path) -> None:
    reply, place, owner = await obeyed(tmp_path, "/lang fr")
    assert '"fr" is not offered' in reply.text
    for offered in ("zh (Chinese)", "en (English)", "auto", "/lang auto"):
        assert offered in reply.text
    assert await preferences.load(place.table, owner) == preferences.Preferences()


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("platform", ["feishu", "slack"])
@pytest.mark.parametrize("admin", [False, True])
def test_help_has_a_line_for_each_command_and_no_long_ones(
    language: Language, platform: Platform, *, admin: bool
) -> None:
    text = manual.help_text(language, platform, admin=admin)
    _, *groups = text.split("\n\n")
    lines = [line for group in groups for line in group.split("\n")[1:]]
    names = [line.removeprefix(replies.command(platform, "")).split()[0] for line in lines]
    known = {name for name in get_args(CommandName) if name != "unknown"}
    assert set(WORDS.values()) == known
    assert sorted(names) == sorted(known if admin else known - {"pause", "resume", "listen"})
    assert max(map(len, lines)) <= 72


@pytest.mark.parametrize("language", get_args(Language))
def test_no_text_sends_people_of_slack_to_a_command_that_is_not_ours(language: Language) -> None:
    """Slack has a /feedback of its own, which brings the words to Slack."""
    texts = [manual.line(language, name, "slack") for name in get_args(manual.Line)]
    texts += [replies.note(language, name, "slack") for name in get_args(replies.Note)]
    texts += [manual.help_text(language, "slack", admin=True), manual.welcome(language, None)]
    named = {word for text in texts for word in re.findall(r"(?:^|[^\w/])(/[a-z]+)", text)}
    assert named == {"/plumb"}
    assert "/feedback " in replies.note(language, "reason_noted", "feishu")

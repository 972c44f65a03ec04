"""docs/people.md is what the command gives, and nobody is given what they may not read."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from evaluation import people
from evaluation.people import PEOPLE, PLATFORMS, Found, Row

COMPANY = Path(__file__).parents[2] / "simulator" / "company"
SAME_FOR_ALL = {"Who teaches the German and Chinese courses?", "去上海出差住宿标准是多少？"}
"""Questions about what everybody may read."""

pytestmark = pytest.mark.slow


def _load(name: str) -> list[dict[str, Any]]:
    return json.loads((COMPANY / f"{name}.json").read_text("utf-8"))


def _yaml(text: str) -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load(text))


def _readable(login: str) -> dict[str, bool]:
    """Titles of documents and minutes, names of chats and addresses of the knowledge base."""
    may: dict[str, bool] = {}
    for doc in _load("docs"):
        may[doc["title"]] = login in {doc["owner"], *doc["readers"]} or "everyone" in doc["readers"]
    for minutes in _load("minutes"):
        may[minutes["title"]] = login in {minutes["owner"], *minutes["participants"]}
    for chat in _load("chats"):
        may[chat["name"]] = login in chat["members"]
    person = next(p for p in _load("people") if p["login"] == login)
    labels = {"everyone", *(f"group:{name}" for name in person["groups"])}
    for path in (COMPANY / "kb").rglob("*.md"):
        front = re.match(r"---\n(.*?)\n---\n", path.read_text("utf-8"), re.DOTALL)
        meta = _yaml(front[1] if front else "{}")
        space = _yaml((path.parent / "_space.yaml").read_text("utf-8"))
        readers = set(meta.get("readers") or space.get("readers") or ["everyone"])
        may[str(meta.get("url"))] = bool(readers & labels)
    return may


def _allowed(found: Found, login: str, may: dict[str, bool], *, public: frozenset[str]) -> bool:
    if found.kind == "message":
        chat = found.title.split(" · ")[0]
        return may.get(chat, False) or (not found.private and chat in public)
    return may.get(found.thing, may.get(found.title, False))


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return asyncio.run(people.gather())


def test_the_page_is_what_the_command_gives(rows: list[Row]) -> None:
    assert people.written() == people.table(rows)


def test_nobody_is_given_what_they_may_not_read(rows: list[Row]) -> None:
    public = frozenset(
        chat["name"] for chat in _load("chats") if chat.get("slack", {}).get("private") is False
    )
    may = {login: _readable(login) for login in PEOPLE}
    for row in rows:
        seen = public if row.platform == "slack" else frozenset[str]()
        for found in row.sources:
            allowed = _allowed(found, row.person, may[row.person], public=seen)
            assert allowed, f"{row.person} on {row.platform}: {found}"
    assert sum(found.private for row in rows for found in row.sources) > 40


def test_people_get_different_sources_to_the_same_question(rows: list[Row]) -> None:
    for platform in PLATFORMS:
        answers: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for row in rows:
            if row.platform == platform:
                answers[row.question].add(tuple(found.title for found in row.sources))
        alike = {question for question, given in answers.items() if len(given) == 1}
        launch = {"What was decided about the launch date?"} if platform == "slack" else set[str]()
        assert alike <= SAME_FOR_ALL | launch  # the launch channel is public in Slack

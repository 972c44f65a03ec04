"""A person who presses is told where they look."""

from __future__ import annotations

import pytest

from agent.domain import ChatRef, Identity, Platform, Question
from handlers.surface.places import pressed_at, pressed_in

ROOT = "1796099607.136282"


def question(platform: Platform) -> Question:
    asker = Identity("default", platform, "A1", "T1", "U1", "Alice Wagner")
    return Question(asker, ChatRef("C1", "group", ROOT), "asked", "en", 1.0)


@pytest.mark.parametrize(
    ("platform", "chat", "thread", "where"),
    [
        ("slack", "C1", ROOT, ("C1", "group", ROOT)),
        # Only the asker sees it: it stands in the channel, its question has a thread.
        ("slack", "C1", "", ("C1", "group", None)),
        ("slack", "D1", ROOT, ("D1", "direct", ROOT)),
        ("feishu", "C1", "", ("C1", "group", ROOT)),
        ("feishu", "D1", "", ("D1", "direct", None)),
    ],
)
def test_beside_the_button(
    platform: Platform, chat: str, thread: str, where: tuple[str, str, str | None]
) -> None:
    found = pressed_at(pressed_in(question(platform), chat, thread))
    assert (found.chat, found.kind, found.thread) == where

"""Where a button was pressed, when that is another place than the question's chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent.domain import ChatRef, Question

_CHAT: Final = "pressed_chat"
_THREAD: Final = "pressed_thread"


def pressed_in(question: Question, chat: str, thread: str) -> Question:
    """The work of a press with the place where it was made; as it is in the question's chat."""
    if not chat or chat == question.chat.chat:
        return question
    hints: Mapping[str, str] = {**question.platform_hints, _CHAT: chat, _THREAD: thread}
    return replace(question, platform_hints=hints)


def pressed_at(question: Question) -> ChatRef:
    """Where the person who pressed looks: beside the answer."""
    chat = question.platform_hints.get(_CHAT, "")
    if not chat:
        return replace(question.chat, thread=question.chat.reply_root)
    thread = question.platform_hints.get(_THREAD, "")
    return ChatRef(chat, "direct", thread, thread or None)

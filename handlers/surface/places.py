"""Where a person is: beside a button that was pressed, in the direct chat behind a menu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent.domain import ChatRef, Identity, Question
from agent.durable import keys
from agent.durable.records import TurnRecord
from agent.ports import Key, Table

_CHAT: Final = "pressed_chat"
_THREAD: Final = "pressed_thread"


def pressed_in(question: Question, chat: str, thread: str) -> Question:
    """The work of a press with the place where it was made; as it is beside the answer.

    On Slack a message for one person stands in the channel and not in the answer's thread.
    """
    here = question.chat
    same = thread == here.reply_root or question.asker.platform != "slack"
    if not chat or (chat == here.chat and same):
        return question
    hints: Mapping[str, str] = {**question.platform_hints, _CHAT: chat, _THREAD: thread}
    return replace(question, platform_hints=hints)


def pressed_at(question: Question) -> ChatRef:
    """Where the person who pressed looks: beside the answer."""
    chat = question.platform_hints.get(_CHAT, "")
    if not chat:
        return replace(question.chat, thread=question.chat.reply_root)
    thread = question.platform_hints.get(_THREAD, "")
    kind = question.chat.kind if chat == question.chat.chat else "direct"
    return ChatRef(chat, kind, thread, thread or None)


async def direct_chat(table: Table, person: Identity) -> ChatRef | None:
    """A person's direct chat with us, as their own turns name it; None when they have none there.

    The event of a bot menu names the person alone (FEISHU.md 2.5). Whoever has something in a
    direct chat that can be forgotten has a turn there, since turns are kept longer.
    """
    seen: set[str] = set()
    after = Key(keys.session(""), "#")
    while rows := await table.query_index("own", person.principal, after=after):
        for row in rows:
            turns = row.pk.startswith(keys.session("")) and row.sk.startswith(keys.TURNS)
            if not turns or row.pk in seen:
                continue
            item = await table.get(row)
            if item is None:
                continue
            seen.add(row.pk)  # a session has one chat
            chat = TurnRecord.from_item(item).question.chat
            if chat.kind == "direct" and chat.chat != person.user:
                return ChatRef(chat.chat, "direct", "")
        after = rows[-1]
    return None

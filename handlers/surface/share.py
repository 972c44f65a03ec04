"""The share button under a private answer: its asker, and nobody else, posts it in the group.

The first press lists what the group would learn of, the second one posts. Both are bound to the
answer by its turn and to the person who asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from agent.audience import Audience
from agent.domain import EVERYONE, Language, Source
from agent.durable import answers, keys, snapshot
from agent.durable.answers import StoredAnswer
from agent.durable.outbox import Outbox
from agent.durable.records import TurnRecord, new_item
from agent.durable.snapshot import Snapshot
from agent.errors import ConditionFailed
from agent.ports import Absent, Control, Frame
from handlers.surface.places import pressed_at

if TYPE_CHECKING:  # the receiving function reads the names here and loads no loop
    from agent.desk import Desk

SHARE: Final = "share"
CONFIRM: Final = "share-yes"
SHARED: Final = "shared"
"""Names the item that says who shared what and when."""
ACTS: Final = frozenset((SHARE, CONFIRM))
"""What the two presses ask for."""

ShareNote = Literal["listing", "sharing", "shared", "outsiders", "no_rights", "gone"]

_Pair = dict[Language, str]
_LISTED: Final = 20
_BUTTON: Final[_Pair] = {"zh": "分享到群里", "en": "Share with the group"}
_YES: Final[_Pair] = {"zh": "确认分享", "en": "Yes, share it"}
_ASK: Final[_Pair] = {
    "zh": "确认后，群里所有人都能看到这个答案。以下来源不是每个人都能看：\n{titles}",
    "en": (
        "If you confirm, everybody in the group sees this answer. Not everybody there may read "
        "these sources:\n{titles}"
    ),
}
_UNCITED: Final[_Pair] = {
    "zh": "（没有引用，但检索时读到了权限受限的资料）",
    "en": "(none is cited, but restricted sources were read for it)",
}
_BY: Final[_Pair] = {
    "zh": "由提问者分享，其中的来源不一定每个人都能打开。",
    "en": "Shared by the person who asked. Not everybody here can open its sources.",
}
_NOTES: Final[dict[ShareNote, _Pair]] = {
    "listing": {
        "zh": "请确认：我把会公开的来源单独列给您了。",
        "en": "Please confirm: I listed for you alone what would become known.",
    },
    "sharing": {"zh": "正在分享到群里。", "en": "I am posting it in the group."},
    "shared": {"zh": "这个答案已经分享过了。", "en": "This answer was shared already."},
    "outsiders": {
        "zh": "这个群里有外部人员，我不能把内部答案发到这里。",
        "en": "Guests or people of another company read along there, so I do not post it.",
    },
    "no_rights": {
        "zh": "您现在无权查看其中的某些来源，所以不能分享。",
        "en": "You may no longer read all of its sources, so it can not be shared.",
    },
    "gone": {
        "zh": "这个答案已经不在了。请再问一次。",
        "en": "This answer is no longer kept. Please ask again.",
    },
}


def note(language: Language, name: ShareNote) -> str:
    """One sentence for the person who pressed."""
    return _NOTES[name][language]


def button(turn: str, language: Language) -> Control:
    """The button under a private answer."""
    return Control(SHARE, turn, _BUTTON[language])


async def perform(desk: Desk, record: TurnRecord) -> tuple[str, Snapshot | None]:
    """Do what a press asks for: what the presser was told, and what the thread remembers.

    The memory is None when it stays as it was. Raises what the chat platform or the table raise
    when they can not be reached.
    """
    about, language = record.question.about, record.question.language
    confirmed = record.question.act == CONFIRM
    asked = await answers.question_of(desk.table, about)
    stored = None
    if asked is not None and asked.owner == record.owner:
        stored = await answers.load(desk.table, desk.cipher, about, asked.owner)
    memory, controls = None, ()
    if asked is None or stored is None:
        words = note(language, "gone")
    elif (refusal := await _refusal(desk, asked, stored)) is not None:
        words = note(language, refusal)
        if confirmed:
            await desk.table.delete_if(keys.claim(about, SHARE))
    elif not confirmed:
        words = _ASK[language].format(titles=_titles(language, stored))
        controls = (Control(CONFIRM, about, _YES[language]),)
    else:
        memory = await _post(desk, record, asked, stored)
        words = note(language, "shared")
    question = record.question
    where = pressed_at(question)
    await desk.chat.whisper(where, question.asker, words, f"{record.turn} told", controls)
    return words, memory


async def _refusal(desk: Desk, asked: TurnRecord, stored: StoredAnswer) -> ShareNote | None:
    """Why it can not be shared: outsiders, or rights that the asker has lost meanwhile."""
    audience = Audience(desk.rooms, desk.directory, asked.question)
    if await audience.has_outsiders():
        return "outsiders"
    carried = desk.labels | {audience.room}
    if any(not c.source.readers & carried for c in stored.answer.citations):
        return "no_rights"
    return None


def _narrow(stored: StoredAnswer) -> Sequence[Source]:
    return [c.source for c in stored.answer.citations if EVERYONE not in c.source.readers]


def _titles(language: Language, stored: StoredAnswer) -> str:
    titles = [f"🔒 {' '.join(s.title.split()) or s.source}" for s in _narrow(stored)]
    more = ["…"] if len(titles) > _LISTED else []
    return "\n".join((*titles[:_LISTED], *more)) or _UNCITED[language]


async def _post(
    desk: Desk, record: TurnRecord, asked: TurnRecord, stored: StoredAnswer
) -> Snapshot:
    """Post the answer in the group and note who did it, when and of which sources.

    Returns the thread's memory with the answer in place of the neutral line.
    """
    question, answer = asked.question, stored.answer
    outbox = Outbox(desk.table, desk.clock, record)
    earlier = await outbox.intend(SHARE)
    if earlier is None or earlier.handle is None:
        message = desk.chat.begin(question.chat, question.asker, f"{asked.turn} shared")
        frame = Frame(
            asked.turn,
            question.language,
            answer.text,
            notice=_BY[question.language],
            sources={c.source.source: c.source for c in answer.citations},
            done=True,
        )
        await message.finish(frame)
        await outbox.sent(SHARE, message.handle)
    await _record(desk, record, asked, stored)
    room = frozenset((Audience(desk.rooms, desk.directory, question).room,))
    thread = await snapshot.load(desk.table, record.session)
    exchanges = (
        replace(e, answer=answer.text, readers=room) if e.message == question.chat.message else e
        for e in thread.exchanges
    )
    return replace(thread, exchanges=tuple(exchanges))


async def _record(desk: Desk, record: TurnRecord, asked: TurnRecord, stored: StoredAnswer) -> None:
    now = desk.clock.now()
    item = new_item(keys.claim(asked.turn, SHARED), "share", record.org, now, record.owner)
    item["who"], item["at"], item["chat"] = record.owner, now, asked.question.chat.chat
    item["sources"] = [s.source for s in _narrow(stored)]
    try:
        await desk.table.put_if(item, (Absent(),))
    except ConditionFailed:
        return  # an attempt before this one has noted it

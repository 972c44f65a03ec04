"""Takes in what is no new question: recalls, edits, and replies that we may have to listen to."""

from __future__ import annotations

from agent.domain import Platform, Question
from agent.durable import amend, keys, listening
from agent.durable.intake import take
from connectors.incoming import Edited, Overheard, Recalled
from handlers.surface import forgetting
from handlers.wiring import Receiving


async def recall(gone: Recalled, platform: Platform, store: Receiving) -> str:
    """Cancel the question of a recalled message, or have its words forgotten after its turn.

    Nothing is answered because of it.

    Raises:
        Unavailable: table or queue gave no answer; the platform has to deliver again.
    """
    turn = keys.turn_id(gone.app or store.app(platform), gone.chat, gone.message)
    begun = await amend.withdraw(store.table, store.clock, store.org, turn)
    if begun is None:
        return "withdrawn"
    asker, chat = begun.question.asker, begun.question.chat
    at = max(store.clock.now(), begun.question.asked_at + 0.001)
    work = Question(asker, chat, "", begun.question.language, at, act=forgetting.FORGET, about=turn)
    await take(work, gone.event or turn, store, keys.action_turn_id(forgetting.FORGET, turn, ""))
    return "forgetting"


async def edit(edited: Edited, store: Receiving) -> str:
    """Give a waiting question its new words; a question that was begun keeps its answer.

    Raises:
        Unavailable: the table gave no answer; the platform has to deliver again.
    """
    asker, chat = edited.question.asker, edited.question.chat
    turn = keys.turn_id(asker.app, chat.chat, chat.message)
    waits = await amend.amend(store.table, edited.question, turn, edited.at)
    return "edited" if waits else "edited_late"


async def overhear(reply: Overheard, store: Receiving) -> str:
    """Take in a reply that does not name us where the chat let us listen to its threads.

    Raises:
        Unavailable: table or queue gave no answer; the platform has to deliver again.
    """
    if not await listening.listens(store.table, reply.question):
        return "not_addressed"
    return await take(reply.question, reply.event, store)

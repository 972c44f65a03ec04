"""Where replies in a thread are taken without a mention: channels that were opted in.

The opt-in is for a channel and an administrator's, since it changes what is read of everybody
there. The way back is everybody's: whoever does not want to be listened to says so, in a thread for
that thread, else for the channel.
"""

from __future__ import annotations

from agent.domain import Question
from agent.durable import keys, pauses
from agent.durable.records import new_item
from agent.ports import Clock, Item, Key, Table


def _thread(question: Question) -> str:
    chat = question.chat
    return keys.short(f"{question.asker.platform} {chat.chat} {chat.thread}")


async def opted_in(table: Table, question: Question) -> bool:
    """Whether the channel of the question lets us follow its threads."""
    key = keys.listening(question.asker.org, pauses.place_of(question))
    return await table.get(key) is not None


async def listens(table: Table, question: Question) -> bool:
    """Whether a reply that does not name us is for us: we answered in its thread and may follow it.

    A thread whose memory has expired (DATA_MODEL.md: 30 days without a turn) is not followed.
    """
    if not await opted_in(table, question):
        return False
    if await table.get(keys.deaf(question.asker.org, _thread(question))) is not None:
        return False
    session = keys.session_id(question.asker, question.chat)
    return await table.get(keys.snapshot(session)) is not None


async def start(table: Table, clock: Clock, question: Question) -> None:
    """Follow the threads of the question's channel, and the one it stands in again."""
    org = question.asker.org
    key = keys.listening(org, pauses.place_of(question))
    await table.put(_noted(key, clock, question))
    await resume_thread(table, question)


async def resume_thread(table: Table, question: Question) -> None:
    """Follow a thread again that was told off."""
    await table.delete_if(keys.deaf(question.asker.org, _thread(question)))


async def stop(table: Table, clock: Clock, question: Question) -> None:
    """Follow no longer: the thread of the question, the whole channel where it stands in none."""
    org = question.asker.org
    if question.chat.thread is None:
        await table.delete_if(keys.listening(org, pauses.place_of(question)))
        return
    await table.put(_noted(keys.deaf(org, _thread(question)), clock, question))


def _noted(key: Key, clock: Clock, question: Question) -> Item:
    item = new_item(key, "listening", question.asker.org, clock.now())
    item["by"], item["at"] = question.asker.principal, clock.now()
    return item

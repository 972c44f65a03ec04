"""Messages that are recalled or edited: signed events on both platforms, at every moment."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from agent.desk import Desk
from agent.dialogue import ModelEvent, ModelRequest
from agent.domain import Platform
from agent.durable import inbox, keys
from agent.durable.records import TurnRecord, Versions
from handlers.surface import presses, replies
from tests.fakes.corner import START, Corner
from tests.fakes.scripted_model import ScriptedModel, call, reply
from tests.fakes.stage import until
from tests.scenario.conftest import SLACK_LATER, Open

SECRET = "Is Kestrel going to be cancelled?"
PLAIN = "What is the hotel limit?"


class RecallingModel(ScriptedModel):
    """A model during whose answer question 1 is recalled."""

    def __init__(self, bot: Corner) -> None:
        super().__init__(lambda _: "Words.")
        self.bot = bot

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await self.bot.recall(1)
        async for event in super().stream(request):
            yield event


class InterruptedCorner(Corner):
    """A bot to which something happens between taking a question up and beginning its turn."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def desk(self, record: TurnRecord) -> tuple[Desk, Versions]:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            await happens()
        return await super().desk(record)


@pytest.fixture(params=["feishu", "slack"])
def platform(request: pytest.FixtureRequest) -> Platform:
    return request.param


@pytest.fixture
def bot(tmp_path: Path, platform: Platform) -> Corner:
    return Corner(tmp_path, platform, ScriptedModel(lambda _: "Words."))


@pytest.fixture
def slack(tmp_path: Path) -> Corner:
    return Corner(tmp_path, "slack", ScriptedModel(echo))


def echo(request: ModelRequest) -> str:
    """The words of the question."""
    return f"To {request.messages[-1].text.rpartition('>')[2].strip()}"


@pytest.mark.parametrize("direct", [True, False])
async def test_a_question_that_waits_is_never_answered_and_its_words_are_gone(
    bot: Corner, direct: bool
) -> None:
    await bot.say(1, SECRET, direct=direct, mention=not direct)
    assert SECRET.split()[1] in await bot.everything()
    await bot.recall(1, direct=direct)
    assert "Kestrel" not in await bot.everything()
    await bot.work()
    assert bot.answers == bot.talk.seen == []
    (record,) = await bot.turns()
    assert record.state == "CANCELLED"
    assert await inbox.oldest_pending(bot.table, record.session) is None


async def test_a_recall_that_comes_first_bars_its_message(bot: Corner) -> None:
    await bot.recall(1)
    await bot.say(1, SECRET)
    await bot.work()
    assert bot.answers == []
    assert await bot.turns() == []
    assert "Kestrel" not in await bot.everything()
    await bot.say(2, PLAIN)
    await bot.work()
    assert bot.answers == ["Words."]


@pytest.mark.parametrize("direct", [True, False])
async def test_after_its_answer_a_recalled_question_is_forgotten(bot: Corner, direct: bool) -> None:
    await bot.say(1, SECRET, direct=direct, mention=not direct)
    await bot.work()
    await bot.say(2, PLAIN, direct=direct, mention=not direct, thread=0 if direct else 1)
    await bot.work()
    assert len((await bot.remembered(1, direct=direct)).exchanges) == 2
    for _ in range(2):
        await bot.recall(1, direct=direct)
        await bot.work()
    assert "Kestrel" not in await bot.everything()
    kept = (await bot.remembered(1, direct=direct)).exchanges
    assert [e.message for e in kept] == [bot.message(2)]
    assert all("Kestrel" not in e.question for e in kept)
    assert bot.answers == ["Words.", "Words."], "nothing new was answered"
    assert (bot.talk.said, len(bot.talk.seen)) == ([], 2)
    await bot.say(1, SECRET, direct=direct, mention=not direct)
    await bot.work()
    assert len(bot.answers) == 2, "a late delivery of it is no new question"


async def test_the_thread_under_a_recalled_direct_message_forgets_it_too(slack: Corner) -> None:
    await slack.say(1, SECRET)
    await slack.work()
    await slack.say(2, PLAIN, thread=1)
    await slack.work()
    assert [e.message for e in (await slack.remembered(2)).exchanges] == [
        slack.message(1),
        slack.message(2),
    ]
    await slack.recall(1)
    await slack.work()
    assert [e.message for e in (await slack.remembered(2)).exchanges] == [slack.message(2)]


async def test_a_question_that_is_recalled_while_it_is_answered_is_forgotten_at_its_end(
    tmp_path: Path, platform: Platform
) -> None:
    bot = Corner(tmp_path, platform)
    bot.model = RecallingModel(bot)
    await bot.say(1, SECRET)
    await bot.work()
    assert bot.answers == ["Words."]
    assert "Kestrel" not in await bot.everything()
    assert (await bot.remembered(1)).exchanges == ()


async def test_a_recall_while_the_worker_takes_the_question_up_leaves_the_session_free(
    tmp_path: Path, platform: Platform
) -> None:
    bot = InterruptedCorner(tmp_path, platform, ScriptedModel(lambda _: "Words."))
    await bot.say(1, SECRET)
    await bot.say(2, PLAIN)
    bot.meanwhile = partial(bot.recall, 1)
    await bot.work()
    assert bot.answers == ["Words."]
    assert (await bot.stored(bot.turn(1))).state == "CANCELLED"
    assert (await bot.stored(bot.turn(2))).state == "DONE"
    assert "Kestrel" not in await bot.everything()


async def test_buttons_that_need_the_words_of_a_recalled_question_say_that_it_is_gone(
    bot: Corner,
) -> None:
    await bot.say(1, SECRET)
    await bot.work()
    await bot.recall(1)
    await bot.work()
    asker = (await bot.stored(bot.turn(1))).question.asker
    for action in ("retry", "human", "share", "share-yes"):
        ruling = await presses.decide(bot, presses.Press(action, bot.turn(1), "1"), asker)
        assert (ruling.outcome, ruling.work) == ("gone", None)
    helpful = await presses.decide(bot, presses.Press("helpful", bot.turn(1), "1"), asker)
    assert helpful.note == replies.note("en", "thanks")


async def test_a_recall_of_what_is_no_question_changes_nothing(bot: Corner) -> None:
    await bot.say(1, PLAIN)
    await bot.recall(7)
    await bot.work()
    assert bot.answers == ["Words."]
    assert len(await bot.turns()) == 1


async def test_searches_made_of_the_words_leave_the_journal(bot: Corner) -> None:
    bot.model = ScriptedModel((reply(call("search", {"query": "Kestrel cancelled"})), "No."))
    await bot.say(1, SECRET)
    await bot.work()
    assert "Kestrel cancelled" in await bot.everything()
    await bot.recall(1)
    await bot.work()
    assert "Kestrel" not in await bot.everything()


@pytest.mark.parametrize("answered", [True, False])
async def test_files_and_people_named_in_a_recalled_question_go_as_well(
    slack: Corner, answered: bool
) -> None:
    fields = slack.message_event(1, "Summarise this.", named=("kestrelina",))
    plan = {"id": "F0PLAN", "name": "Kestrel.pdf", "mimetype": "application/pdf"}
    gone = {"id": "F0OLD", "name": "Kestrel-old.pdf", "mode": "tombstone"}
    await slack.deliver("", fields | {"files": [plan, gone], "team": "T0KESTREL"})
    assert (await slack.everything()).upper().count("KESTREL") >= 3
    if answered:
        await slack.work()
    await slack.recall(1)
    await slack.work()
    record = await slack.stored(slack.turn(1))
    assert "KESTREL" not in repr(record.question).upper()


@SLACK_LATER
async def test_through_the_wire_a_recalled_question_is_forgotten(stage: Open) -> None:
    async with stage() as bot:
        kept = await bot.ask("What is the hotel limit in Shanghai?")
        gone = await bot.ask("How large is the bonus pool plan Kestrel of 2026?")
        body = {"platform": bot.platform, "as": "alice", "message": gone.said.message}
        await bot.post("recall", body)

        async def forgotten() -> bool:
            return len((await bot.memory(gone)).exchanges) == 1

        await until(forgotten, "a memory without it")
        (exchange,) = (await bot.memory(kept)).exchanges
        assert exchange.message == kept.said.message
        assert "Kestrel" not in repr(await bot.turn(gone.said.turn))
        shown = await bot.get(
            "messages", platform=bot.platform, chat=gone.said.chat, **{"as": "alice"}
        )
        assert sum(bool(m["author"].get("bot")) for m in shown) == 2, "nobody was told anything"


# --- edits (Slack: Feishu sends no event of an edit, there the worker reads again) ----------------


async def test_an_edited_question_that_waits_is_answered_as_it_reads_now(slack: Corner) -> None:
    await slack.say(1, PLAIN)
    await slack.edit(1, "What is the meal limit?", at=20)
    await slack.edit(1, "What is the ferry limit?", at=10)
    await slack.work()
    assert slack.answers == ["To What is the meal limit?"]
    (exchange,) = (await slack.remembered(1)).exchanges
    assert exchange.question.endswith("What is the meal limit?")
    assert (await slack.stored(slack.turn(1))).question.text == "What is the meal limit?"


async def test_an_edit_while_the_worker_takes_the_question_up_counts(tmp_path: Path) -> None:
    slack = InterruptedCorner(tmp_path, "slack", ScriptedModel(echo))
    await slack.say(1, PLAIN)
    slack.meanwhile = partial(slack.edit, 1, "What is the meal limit?", at=20)
    await slack.work()
    assert slack.answers == ["To What is the meal limit?"]


async def test_an_edit_makes_no_turn_and_changes_no_answer(slack: Corner) -> None:
    await slack.edit(1, "What is the meal limit?", at=10)
    await slack.say(2, PLAIN)
    await slack.work()
    await slack.edit(2, "What is the meal limit?", at=20)
    await slack.work()
    assert slack.answers == [f"To {PLAIN}"]
    (record,) = await slack.turns()
    assert (record.state, record.question.text) == ("DONE", PLAIN)


async def test_words_under_another_name_are_not_asked_as_the_askers(slack: Corner) -> None:
    await slack.say(1, PLAIN)
    edited = slack.message_event(1, "What does Alice earn?", by="mallory")
    edited["edited"] = {"user": edited["user"], "ts": f"{START + 5}.000000"}
    await slack.changed(edited)
    await slack.work()
    question = (await slack.stored(slack.turn(1))).question
    assert (question.text, question.asker.user) == (PLAIN, "U0ALICE")


async def test_a_preview_or_an_edit_of_our_own_is_no_edit(slack: Corner) -> None:
    await slack.say(1, PLAIN)
    message = {"type": "message", "user": slack.user("alice"), "ts": slack.message(1)}
    await slack.changed(message | {"text": f"{PLAIN} (preview)"})
    edited = {"edited": {"user": "U0BOT", "ts": "1764547299.000000"}, "text": "ours"}
    await slack.changed(message | edited | {"user": "U0BOT", "bot_id": "B0BOT"})
    await slack.work()
    assert slack.answers == [f"To {PLAIN}"]


async def test_a_deleted_root_that_leaves_a_tombstone_is_a_recall(slack: Corner) -> None:
    await slack.say(1, SECRET)
    await slack.changed({"subtype": "tombstone", "ts": slack.message(1), "text": "deleted"})
    await slack.work()
    assert slack.answers == []
    assert (await slack.stored(slack.turn(1))).state == "CANCELLED"
    assert await slack.table.get(keys.arrival(slack.turn(1))) is not None

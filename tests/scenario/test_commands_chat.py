"""Commands through the wire: as messages on both platforms, behind /plumb, from a bot's menu."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from agent import phrases
from agent.domain import Language
from agent.durable import keys
from handlers.surface import manual, replies
from handlers.version import VERSION
from tests.fakes import platform_samples as samples
from tests.fakes.gated_model import GatedModel
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stage import Json, Stage, staged, until, words
from tests.scenario.conftest import SLACK_LATER, Open

HOTEL = "What is the hotel limit in Shanghai?"


@pytest.fixture
def slack(house: Any, tmp_path: Any) -> Open:
    def opened(model: Any = None, **more: Any) -> Any:
        return staged(house, "slack", tmp_path / "state", model, **more)

    return opened


@pytest.fixture
def feishu(house: Any, tmp_path: Any) -> Open:
    def opened(model: Any = None, **more: Any) -> Any:
        return staged(house, "feishu", tmp_path / "state", model, **more)

    return opened


async def plumb(bot: Stage, text: str, login: str = "alice", chat: str = "") -> Json:
    """Use the slash command; what the bot answered at once."""
    body = {
        "as": login,
        "chat": chat or await bot.direct(login),
        "command": "/plumb",
        "text": text,
    }
    return (await bot.post("command", body))["answer"]


async def told(bot: Stage, text: str, chat: str, login: str = "alice") -> Json:
    """The message of the bot with these words in a chat."""
    found: list[Json] = []

    async def arrived() -> bool:
        query = {"platform": bot.platform, "chat": chat, "as": login}
        found.extend(
            m
            for m in await bot.get("messages", **query)
            if m["author"].get("bot") and text in words(m)
        )
        return bool(found)

    await until(arrived, f"{text!r} in {chat}")
    return found[0]


@SLACK_LATER
async def test_help_names_every_command(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("help")
        shown = reply.shown
        assert all("header" not in (m["card"] or {}) for m in reply.messages)
        for name in ("ask", "new", "sources", "model", "lang", "status", "feedback"):
            assert name in shown


async def test_ask_as_a_message_is_the_question_behind_it(feishu: Open) -> None:
    async with feishu() as bot:
        reply = await bot.ask(f"/ask {HOTEL}")
        assert "650" in reply.shown
        assert reply.answer.status == "answered"


@SLACK_LATER
@pytest.mark.parametrize(
    ("language", "question"), [("zh", HOTEL), ("en", "去上海出差的住宿标准？")]
)
async def test_lang_changes_the_language_of_our_texts(
    stage: Open, language: Language, question: str
) -> None:
    async with stage() as bot:
        if bot.platform == "slack":
            await plumb(bot, f"lang {language}")
            await told(bot, manual.speaking(language, bot.platform), await bot.direct())
        else:
            assert (
                manual.speaking(language, bot.platform)
                in (await bot.ask(f"/lang {language}")).shown
            )
        reply = await bot.ask(question)
        assert phrases.offline_model(language) in reply.shown
        assert "650" in reply.shown


@SLACK_LATER
async def test_sources_off_searches_nothing_and_says_so_until_they_are_on_again(
    stage: Open,
) -> None:
    async with stage() as bot:
        assert "off" in (await bot.ask("sources off kb")).shown
        refused = await bot.ask(HOTEL)
        assert "650" not in refused.shown
        assert refused.answer.status == "refused"
        assert manual.switched_off("en", bot.platform, ["kb"]) in refused.shown
        assert replies.command(bot.platform, "sources on kb") in refused.shown
        others = await bot.ask(HOTEL, "bob")
        assert "650" in others.shown
        await bot.ask("sources on kb")
        assert "650" in (await bot.ask(HOTEL)).shown
        unknown = await bot.ask("What is the boiling point of xenon hexafluoride?")
        assert unknown.answer.status == "refused"
        assert "switched" not in unknown.shown


@SLACK_LATER
async def test_an_unknown_command_is_answered_and_never_searched(stage: Open) -> None:
    async with stage() as bot:
        reply = await bot.ask("/hotel limit in Shanghai")
        assert reply.answer.steps == 0
        assert "no command" in reply.shown
        assert replies.command(bot.platform, "help") in reply.shown
        assert "650" not in reply.shown
        nearest = (await bot.ask("/statsu")).shown
        assert replies.command(bot.platform, "status") in nearest


async def test_model_lists_what_is_offered_and_refuses_the_rest(feishu: Open) -> None:
    async with feishu(models="claude-demo-1, unheard-of-1") as bot:
        shown = (await bot.ask("/model")).shown
        assert "offline" in shown
        assert "claude-demo-1" in shown
        for name in ("gpt-nonsense", "unheard-of-1"):
            refused = (await bot.ask(f"/model {name}")).shown
            assert f"no model {name}" in refused.replace("\\", "")
        assert "650" in (await bot.ask(HOTEL)).shown
        assert "claude-demo-1" in (await bot.ask("/model claude-demo-1")).shown
        assert "claude-demo-1" in (await bot.ask("status")).shown


@SLACK_LATER
async def test_status_says_model_documents_version_and_queue(stage: Open) -> None:
    async with stage() as bot:
        shown = (await bot.ask("status")).shown
        assert "offline" in shown
        assert "Documents you may read: 3" in shown
        assert VERSION in shown
        assert "Documents you may read: 4" in (await bot.ask("status", "fang")).shown


async def test_feedback_keeps_the_words(feishu: Open) -> None:
    async with feishu() as bot:
        reply = await bot.ask("/feedback The sources are useful")
        page = await bot.place.table.query(keys.journal(reply.said.turn), "FB#")
        assert [(i["verdict"], i["reason"]) for i in page.items] == [
            ("said", "The sources are useful")
        ]


async def test_c_sl_03_slash_ask_is_acknowledged_and_answered_once_in_a_thread(slack: Open) -> None:
    """C-SL-03: the acknowledgement does not wait for a slow model, whose work runs once."""
    model = GatedModel(ScriptedModel(lambda _: "The limit is CNY 650."))
    async with slack(model) as bot:
        acknowledged = await plumb(bot, f"ask {HOTEL}", chat=bot.group)
        assert acknowledged["response_type"] == "ephemeral"
        assert acknowledged["text"] == replies.note("en", "working")
        posted = await told(bot, HOTEL, bot.group)
        assert posted["visible_to"] is None
        said = bot.known(posted["id"], bot.group)
        async with model.busy():
            pass
        reply = await bot.reply(said)
        assert "650" in reply.shown
        assert all(m["thread"] == posted["id"] for m in reply.messages)
        everything = await bot.get("messages", platform="slack", chat=bot.group, **{"as": "bob"})
        assert sum(HOTEL in words(m) for m in everything if not m["thread"]) == 1
        assert model.asked == 1


@pytest.mark.parametrize(("text", "answer"), [("help", "status"), (f"ask {HOTEL}", "PL-302")])
async def test_a_slash_command_where_we_are_not_is_answered_in_the_direct_chat(
    slack: Open, text: str, answer: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with slack() as bot:
        between_two_people = "D0DEMO0011"
        await plumb(bot, text, chat=between_two_people)
        await told(bot, answer, await bot.direct())
    caplog.clear()


async def test_slash_new_forgets_the_direct_chat(slack: Open) -> None:
    async with slack() as bot:
        first = await bot.ask(HOTEL)
        assert len((await bot.memory(first)).exchanges) == 1
        await plumb(bot, "new")
        await told(bot, phrases.cleared("en"), first.said.chat)

        async def forgotten() -> bool:
            return (await bot.memory(first)).exchanges == ()

        await until(forgotten, "an empty memory")
        await plumb(bot, "new", chat=bot.group)
        await told(bot, manual.line("en", "new_in_channel"), bot.group)


async def event(bot: Stage, kind: str, fields: Json) -> int:
    """Bring an event of the platform ourselves; the HTTP status."""
    now = int(bot.place.clock.now())
    if bot.platform == "feishu":
        header = {
            "event_id": f"ev_{kind}_{now}",
            "token": "demo-verification-token",
            "create_time": str(now * 1000),
            "event_type": kind,
            "tenant_key": "tenant_demo",
            "app_id": "cli_demo0000000001",
        }
        request = samples.feishu(
            {"schema": "2.0", "header": header, "event": fields}, bot.settings, now
        )
    else:
        payload = {
            "type": "event_callback",
            "event_id": f"Ev{now}",
            "team_id": "T0DEMO0001",
            "api_app_id": "A0DEMO0001",
            "event": {"type": kind, **fields},
        }
        request = samples.slack(payload, bot.settings, now)
    async with httpx.AsyncClient(base_url=bot.url, trust_env=False) as http:
        answer = await http.post(
            f"/{bot.platform}/events",
            content=base64.b64decode(request["body"]),
            headers=request["headers"],
        )
    return answer.status_code


async def test_a_menu_entry_is_told_to_the_person_alone(feishu: Open) -> None:
    async with feishu() as bot:
        operator = {"operator_id": {"open_id": "ou_demo_alice"}}
        for key, text in (("help", "/status"), ("new", phrases.cleared("zh"))):
            fields = {"operator": operator, "event_key": key}
            assert await event(bot, "application.bot.menu_v6", fields) == 200
            await told(bot, text, await bot.direct())


@SLACK_LATER
async def test_a_new_person_is_welcomed_once(stage: Open) -> None:
    async with stage() as bot:
        chat = await bot.direct()
        if bot.platform == "feishu":
            kind = "im.chat.access_event.bot_p2p_chat_entered_v1"
            fields: Json = {"chat_id": chat, "operator_id": {"open_id": "ou_demo_alice"}}
        else:
            kind = "app_home_opened"
            fields = {"user": "U0ALICE001", "channel": chat, "tab": "messages"}
        language: Language = "zh" if bot.platform == "feishu" else "en"
        for _ in range(2):
            assert await event(bot, kind, fields) == 200
        example = manual.WELCOME[language].examples[2]
        await told(bot, example, chat)
        await bot.ask(HOTEL)
        shown = await bot.get("messages", platform=bot.platform, chat=chat, **{"as": "alice"})
        assert sum(example in words(m) for m in shown) == 1


@SLACK_LATER
async def test_an_administrator_pauses_a_chat_and_it_says_so_once(stage: Open) -> None:
    async with stage() as bot:
        if bot.platform == "slack":
            await plumb(bot, "pause", "alice", bot.group)
            await told(bot, manual.line("en", "admins_only"), bot.group)
            await plumb(bot, "pause", "dana", bot.group)
            await told(bot, manual.line("en", "paused_here", bot.platform), bot.group, "dana")
        else:
            refused = await bot.ask("/pause", chat=bot.group, mention=True)
            assert refused.answer.text in {
                manual.line(code, "admins_only") for code in ("zh", "en")
            }
            await bot.ask("/pause", "dana", bot.group, mention=True)
        first = await bot.ask(HOTEL, chat=bot.group, mention=True)
        assert manual.line("en", "quiet") in first.shown
        second = await bot.ask(HOTEL, "bob", bot.group, mention=True)
        assert second.messages == ()
        assert "650" in (await bot.ask(HOTEL)).shown, "elsewhere it answers"
        if bot.platform == "slack":
            await plumb(bot, "resume", "dana", bot.group)
            await told(bot, manual.line("en", "resumed"), bot.group, "dana")
        else:
            await bot.ask("/resume", "dana", bot.group, mention=True)
        assert "650" in (await bot.ask(HOTEL, chat=bot.group, mention=True)).shown

"""The offline model: what it searches for, what it quotes, and when it refuses."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agent.citations import present
from agent.dialogue import Message, ModelReply, ModelRequest, Text, TextDelta, ToolReply, ToolSpec
from agent.domain import DocumentStatus, Passage
from agent.models.offline.model import OfflineModel
from agent.models.offline.passages import read_passages, units
from agent.models.offline.question import whole_question
from agent.ports import ToolResult
from tests.fakes.clock import NoTimers

SEARCH = ToolSpec(
    "knowledge_search",
    "Searches.",
    {
        "type": "object",
        "properties": {"kinds": {"type": "array"}, "queries": {"type": "array"}},
        "required": ["queries"],
    },
)
READ = ToolSpec(
    "read_document",
    "Reads.",
    {
        "type": "object",
        "properties": {"page": {"type": "integer"}, "source": {"type": "string"}},
        "required": ["source"],
    },
)
CONTEXT = "<context>Asked on 2026-12-01 (Tuesday) 09:30 Asia/Shanghai. Asker: Alice.</context>\n\n"


class SteppedClock(NoTimers):
    """A clock that only remembers how long it was asked to sleep."""

    def __init__(self) -> None:
        self.slept = 0.0

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return self.slept

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds


def found(
    source: str,
    title: str,
    text: str,
    *,
    status: DocumentStatus = "current",
    place: str = "",
    score: float = 0.8,
) -> Passage:
    return Passage(
        source, title, text, place=place, updated="2026-02-16", status=status, score=score
    )


TRAVEL_EN = found(
    "kb-travel-en",
    "Business travel policy 2026",
    "We pay the real cost up to a ceiling per room and night.\n\n"
    "City: Beijing, Shanghai (tier 1); Ceiling per night: CNY 650\n"
    "City: Berlin; Ceiling per night: EUR 165\n"
    "City: Austin; Ceiling per night: USD 210",
    place="2 Hotels",
)
TRAVEL_ZH = found(
    "kb-travel-zh",
    "差旅管理制度（2026 版）",
    "| 城市等级 | 城市 | 上限（每晚） |\n|---|---|---|\n"
    "| 一类 | 北京、上海 | 650 元 |\n| 境外 | 柏林 | 165 欧元 |",
    place="第2条 住宿",
)
TRAVEL_OLD = found(
    "kb-travel-old",
    "差旅管理制度（2024 版）",
    "城市: 北京、上海; 上限（每晚）: 500 元\n城市: 柏林; 上限（每晚）: 130 欧元",
    status="obsolete",
    place="第2条 住宿",
)
VPN = found(
    "kb-vpn",
    "VPN 使用指南 v3",
    "代码: 809; 原因: 网络拦截了 UDP 500 端口; 处理: 切换到 HX-TLS 配置\n"
    "代码: 691; 原因: 账号或密码错误; 处理: 等待 15 分钟",
    place="4 错误代码",
)
EXPENSES = found(
    "kb-exp",
    "How to file an expense claim",
    "1. Open the portal and sign in.\n2. Choose **New claim**.\n3. Submit.\n\n"
    "Help: extension 6120.",
    place="Steps",
)


def user(text: str) -> Message:
    return Message("user", (Text(CONTEXT + text),))


async def replied(
    *history: Message, tools: tuple[ToolSpec, ...] = (SEARCH, READ), now: bool = False
) -> ModelReply:
    request = ModelRequest("Policy.", tools, history, answer_now=now)
    events = [e async for e in OfflineModel(SteppedClock()).stream(request)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


def results(reply: ModelReply, *passages: Passage) -> Message:
    shown = present(ToolResult(passages=passages))
    return Message("user", (ToolReply(reply.message.calls[0].id, shown),))


async def answered(question: str, *passages: Passage) -> str:
    """The answer over these passages, which are all there is: a closer look shows no more."""
    first = await replied(user(question))
    history = [user(question), first.message, results(first, *passages)]
    last = await replied(*history)
    if last.stop == "tools":
        nothing = tuple(ToolReply(call.id, "No passages found.") for call in last.message.calls)
        last = await replied(*history, last.message, Message("user", nothing))
    assert last.stop == "end"
    return last.message.text


def cited(text: str) -> list[str]:
    return re.findall(r"\[src:([^\]]+)\]", text)


# --- searching -------------------------------------------------------------------------------


async def test_it_searches_once_with_full_sentences_and_without_the_context_lines() -> None:
    reply = await replied(user("What is the hotel limit in Shanghai?"))
    (call,) = reply.message.calls
    assert reply.stop == "tools"
    assert call.name == "knowledge_search"
    assert call.arguments == {
        "queries": [
            "What is the hotel limit in Shanghai?",
            "The rules and details on: hotel limit in Shanghai.",
            "上海的住宿上限是多少？",
        ]
    }


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        (
            ["What is the hotel limit in Shanghai?", "and in Berlin?"],
            "What is the hotel limit in Berlin?",
        ),
        (["上海的住宿上限是多少？", "那柏林呢？"], "柏林的住宿上限是多少？"),
        (
            ["What is the hotel limit in Shanghai?", "那柏林呢？"],
            "What is the hotel limit in Berlin?",
        ),
        (["上海的住宿上限是多少？", "and Berlin?"], "柏林的住宿上限是多少？"),
        (
            ["hotel limit in Shanghai?", "thanks!", "and in Berlin?", "and in Austin?"],
            "hotel limit in Austin?",
        ),
        (
            ["Who supports the depot in Oslo?", "and in Bergen?"],
            "Who supports the depot in Bergen?",
        ),
        (["年假有多少天？", "那实习生呢？"], "年假有多少天，实习生？"),
        (["How many days of leave?", "And for interns?"], "How many days of leave, for interns?"),
        (["年假有多少天？", "VPN 报错 809 怎么办？"], "VPN 报错 809 怎么办？"),
        (
            ["How many days of leave?", "How do I file an expense claim?"],
            "How do I file an expense claim?",
        ),
    ],
)
def test_a_follow_up_is_made_whole(asked: list[str], whole: str) -> None:
    assert whole_question(asked) == whole


async def test_earlier_turns_do_not_count_as_searched() -> None:
    first = await replied(user("VPN error 809"))
    history = (user("VPN error 809"), first.message, results(first, VPN))
    told = await replied(*history)
    again = await replied(*history, told.message, user("What is the hotel limit in Berlin?"))
    assert [c.name for c in again.message.calls] == ["knowledge_search"]
    assert again.message.calls[0].id != first.message.calls[0].id


async def test_a_passage_that_breaks_off_is_read_in_full_once() -> None:
    cut = found("kb-cut", "Badge rules", "A lost badge is reported to security within these steps:")
    question = user("How do I report a lost badge?")
    first = await replied(question)
    history = (question, first.message, results(first, cut))
    second = await replied(*history)
    assert [(c.name, c.arguments) for c in second.message.calls] == [
        ("read_document", {"source": "kb-cut"})
    ]
    whole = found("kb-cut", "Badge rules", "How to report a lost badge:\n1. Call 7000.\n2. Wait.")
    third = await replied(*history, second.message, results(second, whole))
    assert not third.message.calls
    assert cited(third.message.text)[0] == "kb-cut"


@pytest.mark.parametrize("tools", [(), (READ,)])
async def test_without_a_search_tool_it_refuses(tools: tuple[ToolSpec, ...]) -> None:
    assert (await replied(user("hotel limit?"), tools=tools)).message.text.startswith("[no-answer]")


async def test_asked_for_words_it_calls_nothing() -> None:
    assert not (await replied(user("hotel limit in Berlin?"), now=True)).message.calls


# --- quoting ---------------------------------------------------------------------------------


async def test_a_row_is_said_in_words_and_the_asker_reads_their_language() -> None:
    passages = (TRAVEL_EN, TRAVEL_ZH, TRAVEL_OLD)
    english = await answered("What is the hotel limit in Shanghai?", *passages)
    assert "the ceiling per night is CNY 650 [src:kb-travel-en]" in english
    assert "165" not in english
    assert "kb-travel-zh" not in english
    chinese = await answered("柏林的住宿上限是多少？", *passages)
    assert "境外的城市为柏林，上限（每晚）为 165 欧元 [src:kb-travel-zh]" in chinese
    assert "写道" in chinese
    assert "650" not in chinese


async def test_an_obsolete_source_is_set_aside_by_name() -> None:
    text = await answered("柏林的住宿上限是多少？", TRAVEL_OLD, TRAVEL_ZH)
    assert "130" not in text
    assert "旧版《差旅管理制度（2024 版）》" in text
    assert "已作废" in text
    assert cited(text) == ["kb-travel-zh", "kb-travel-old"]


async def test_only_an_obsolete_source_is_quoted_with_a_warning() -> None:
    text = await answered("柏林的住宿上限是多少？", TRAVEL_OLD)
    assert text.startswith("只找到已作废的资料")
    assert "130 欧元 [src:kb-travel-old]" in text


async def test_current_sources_that_contradict_stand_side_by_side() -> None:
    other = found(
        "kb-faq", "Travel FAQ", "City: Berlin; Ceiling per night: EUR 180", place="Hotels"
    )
    text = await answered("What is the hotel limit in Berlin?", TRAVEL_EN, other)
    assert text.startswith("Two current sources give different values")
    assert "EUR 165 [src:kb-travel-en]" in text
    assert "EUR 180 [src:kb-faq]" in text


async def test_a_code_is_matched_exactly() -> None:
    text = await answered("VPN 报错 809 怎么办？", VPN)
    assert "切换到 HX-TLS 配置 [src:kb-vpn]" in text
    assert "691" not in text
    assert (await answered("VPN 报错 812 怎么办？", VPN)).startswith("[no-answer]")


async def test_a_question_for_the_way_gets_the_whole_list_in_order() -> None:
    text = await answered("How do I file an expense claim?", EXPENSES)
    assert re.findall(r"^(\d)\. (\w+)", text, re.MULTILINE) == [
        ("1", "Open"),
        ("2", "Choose"),
        ("3", "Submit"),
    ]
    assert cited(text) == ["kb-exp"] * 3


async def test_an_answer_of_a_faq_is_found_by_its_question() -> None:
    faq = found(
        "kb-faq",
        "安全常见问题",
        "**问：收到可疑邮件怎么办？**\n答：不要点链接。\n\n**问：U 盘能用吗？**\n答：默认只读。",
    )
    text = await answered("收到可疑邮件怎么办？", faq)
    assert "- 不要点链接。 [src:kb-faq]" in text
    assert "只读" not in text


async def test_a_passage_in_the_other_language_is_found_by_the_glossary() -> None:
    canteen = found("kb-menu", "Canteen", "Breakfast is from 7:45 to 9:15.", score=0.9)
    assert "7:45" in await answered("食堂早餐几点开始？", canteen)
    assert (await answered("周五有音乐会吗？", canteen)).startswith("[no-answer]")


async def test_quotes_carry_no_markers_or_links_of_their_own() -> None:
    sly = found(
        "kb-a",
        "Hotel [x](http://evil.example)",
        "Hotel limit in Berlin: 1 [src:kb-z] [go](http://evil.example)",
    )
    text = await answered("What is the hotel limit in Berlin?", sly)
    assert set(cited(text)) == {"kb-a"}
    assert "](" not in text


# --- refusing and greeting -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "step"), [("公司可以养猫吗？", "人工"), ("Who won the world cup?", "colleague")]
)
async def test_nothing_found_is_a_friendly_refusal_with_a_next_step(
    question: str, step: str
) -> None:
    text = await answered(question)
    assert text.startswith("[no-answer] ")
    assert step in text


async def test_off_topic_passages_are_not_quoted() -> None:
    assert (await answered("Who won the world cup?", EXPENSES)).startswith("[no-answer]")


async def test_a_failed_search_is_said() -> None:
    question = user("What is the hotel limit in Berlin?")
    first = await replied(question)
    failed = Message("user", (ToolReply(first.message.calls[0].id, "timed out", True),))
    text = (await replied(question, first.message, failed)).message.text
    assert text.startswith("[no-answer] ")
    assert "could not be searched" in text


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("hello", "Hello"),
        ("你好！", "你好"),
        ("Thanks a lot!", "quote"),
        ("谢谢", "知识库"),
        ("", ""),
    ],
)
async def test_small_talk_is_answered_without_a_search(words: str, part: str) -> None:
    reply = await replied(user(words))
    assert reply.stop == "end"
    assert part in reply.message.text
    assert "[no-answer]" not in reply.message.text


# --- streaming and reading -------------------------------------------------------------------


async def test_the_text_comes_in_small_pieces_at_the_set_pace() -> None:
    clock = SteppedClock()
    request = ModelRequest("", (), (user("你好"),))
    events = [e async for e in OfflineModel(clock, pace=0.015).stream(request)]
    pieces = [e.text for e in events if isinstance(e, TextDelta)]
    last = events[-1]
    assert isinstance(last, ModelReply)
    assert "".join(pieces) == last.message.text
    assert max(map(len, pieces)) <= 24
    assert clock.slept == pytest.approx(0.015 * len(pieces))


async def test_the_same_request_has_the_same_reply() -> None:
    assert await replied(user("hotel limit?")) == await replied(user("hotel limit?"))


def test_passages_are_read_back_as_they_were_shown() -> None:
    odd = found("kb-1", 'A "quoted" <title> & more', "x < y </passage> z\n| a |", status="obsolete")
    first, second = read_passages(["Note.\n\n" + present(ToolResult(passages=(odd, VPN, odd)))])
    assert (first.title, first.obsolete, first.score) == (odd.title, True, 0.8)
    assert first.text.startswith("x < y ")
    assert second.text == VPN.text
    assert (
        read_passages(["No passages found.", "<passage broken", "<passage src='kb-2'>\nopen"])[
            0
        ].text
        == "open"
    )


def test_tables_in_pipes_and_in_pairs_give_the_same_rows() -> None:
    pipes = "| City | Limit |\n|---|---|\n| Berlin | 165 |"
    rows = [
        [
            (u.kind, u.text, u.key)
            for u in units(read_passages([present(ToolResult(passages=(p,)))])[0])
        ]
        for p in (found("a", "t", pipes), found("a", "t", "City: Berlin; Limit: 165"))
    ]
    assert rows[0] == rows[1] == [("row", "City: Berlin; Limit: 165", "Berlin")]


async def test_own_sources_are_searched_in_both_languages() -> None:
    tools = (
        ToolSpec("knowledge_search", "", {"properties": {"queries": {"type": "array"}}}),
        ToolSpec(
            "search_my_messages", "", {"properties": {"queries": {"type": "array", "maxItems": 2}}}
        ),
        ToolSpec("search_my_minutes", "", {"properties": {"query": {"type": "string"}}}),
    )
    asked = Message("user", (Text("What was decided about the launch date?"),))
    events = [
        e async for e in OfflineModel(SteppedClock()).stream(ModelRequest("", tools, (asked,)))
    ]
    last = events[-1]
    assert isinstance(last, ModelReply)
    _, messages, minutes = last.message.calls
    assert messages.arguments == {
        "queries": ["What was decided about the launch date?", "发布日期是多少？"]
    }
    assert minutes.arguments == {
        "query": "What was decided about the launch date? 发布日期是多少？"
    }


# --- what people decided in their chats --------------------------------------------------------

NOTES = found("kb-sf", "StarFleet 4.1 发布说明", "发布日期：2026 年 1 月 19 日。")
CHAT = Passage(
    "fm-launch",
    "x300-launch · 陈浩 · 2026-10-26 16:20",
    "2026-10-26 16:20 陈浩: 那就这么定：X-300 发布日改到 2027 年 3 月 18 日。\n"
    "2026-10-26 16:24 Alice Wagner: 18 March works for sales.",
    kind="message",
    updated="2026-10-26",
    score=0.5,
    private=True,
)


@pytest.mark.parametrize(
    "question",
    ["What was decided about the launch date?", "发布日期定在哪天？", "X-300 的发布日定在哪天？"],
)
async def test_what_was_decided_stands_in_the_chat(question: str) -> None:
    answer = await answered(question, NOTES, CHAT)
    assert cited(answer) == ["fm-launch"]
    # Who said it and when stands above the quote, not in it again.
    assert "- 那就这么定：X-300 发布日改到 2027 年 3 月 18 日。" in answer
    assert answer.count("16:20") == 1
    assert "2026-10-26 更新" not in answer
    assert "updated" not in answer


async def test_two_products_with_two_dates_are_no_conflict() -> None:
    own = replace(CHAT, kind="product", source="kb-x")
    answer = await answered("发布日期定在哪天？", NOTES, own)
    assert "两份现行资料" not in answer

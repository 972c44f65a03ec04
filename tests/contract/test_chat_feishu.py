"""The Chat port on Feishu against a fake with the platform's rules."""

import json
import logging
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import ChatRef, Identity, Source
from agent.errors import PlatformRefused, PlumblineError, RateLimited, Unavailable
from agent.ports import Control, Frame
from connectors.feishu.chat import FeishuAnswer, FeishuChat
from connectors.web import named_pause
from tests.fakes.clock import FakeClock
from tests.fakes.fake_feishu import Answer, FakeFeishu, text_of

CASES = Path("tests/data/cases/feishu")
CHAT = ChatRef("oc_1", "group", "om_q", topic=True)
ASKER = Identity("org", "feishu", "cli_x", "tenant", "ou_1")
SOURCES = {"a": Source("a", "差旅 [1]", "https://docs.example.com/a", "policy", "2026-01-02")}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
def feishu(clock: FakeClock) -> FakeFeishu:
    return FakeFeishu(clock)


def answer(feishu: FakeFeishu, handle: str = "", attempt: int = 0) -> FeishuAnswer:
    return FeishuChat(feishu.api, feishu.clock).begin(CHAT, ASKER, "turn1", handle, attempt)


def frame(text: str, *, progress: str = "", done: bool = False, notice: str = "") -> Frame:
    return Frame("turn1", "zh", text, progress, notice, SOURCES, done)


@pytest.mark.parametrize("streamed", [False, True])
async def test_words_of_our_own_have_no_heading(feishu: FakeFeishu, *, streamed: bool) -> None:
    message = answer(feishu)
    if streamed:
        await message.show(frame("", progress="正在搜索……"))
    await message.finish(Frame("turn1", "zh", "直接写问题就行。\n\n/help", done=True))
    if streamed:
        card = feishu.cards["c1"]["card"]
        assert card["config"]["summary"]["content"] == "直接写问题就行。 /help"
    else:
        _, _, card = feishu.messages[-1]
    assert "header" not in card
    assert "直接写问题就行" in text_of(card)


@pytest.mark.parametrize(
    ("text", "title"),
    [("标准是 800 元。", "答案"), ("[no-answer]无", "没有找到答案"), ("", "没有完成")],
)
async def test_an_answer_is_headed_with_how_it_ended(
    feishu: FakeFeishu, text: str, title: str
) -> None:
    controls = (Control("retry", "turn1", "再答一次"),)
    await answer(feishu).finish(Frame("turn1", "zh", text, done=True, controls=controls))
    _, _, card = feishu.messages[-1]
    assert card["header"]["title"]["content"] == title


async def test_answer_streams_into_one_card(feishu: FakeFeishu) -> None:
    message = answer(feishu)
    assert message.handle == ""
    await message.show(frame("", progress="正在搜索……"))
    await message.show(frame("标准是 **800** 元 [src:a]。还有 **"))
    assert text_of(feishu.cards["c1"]["card"]).startswith("标准是 **800** 元 [[1]](https://docs.")
    await message.finish(frame("标准是 **800** 元 [src:a]。", done=True, notice="离线"))
    card = feishu.cards["c1"]["card"]
    assert card["config"]["streaming_mode"] is False
    assert [e["element_id"] for e in card["body"]["elements"]] == [
        "answer",
        "notice",
        "line",
        "sources",
    ]
    assert "[差旅 &#91;1&#93;](https://docs.example.com/a) · 制度 · 2026-01-02" in text_of(card)
    assert [(to, kind) for to, kind, _ in feishu.messages] == [("om_q", "interactive")]
    assert feishu.named("reply")[0]["reply_in_thread"] is True
    assert len(feishu.named("reply")[0]["uuid"]) <= 50
    assert json.loads(message.handle)["card"] == "c1"


async def test_sequence_rises_whatever_the_answers_were(feishu: FakeFeishu) -> None:  # C-FS-06
    script: list[dict[str, Any]] = json.loads((CASES / "card_sequence_script.json").read_text())[
        "responses"
    ]
    feishu.script["element"] = [
        (r["http"], r.get("body") or {"code": r["code"]}) for r in script if "call" not in r
    ]
    message = answer(feishu)
    await message.show(frame("一"))
    await message.show(frame("一二"))
    with pytest.raises(Unavailable):
        await message.show(frame("一二三"))
    await message.show(frame("一二三四"))
    await message.finish(frame("一二三四五", done=True))
    numbers = feishu.sequences
    assert numbers[0] == 1
    assert all(a < b for a, b in pairwise(numbers))
    assert text_of(feishu.cards["c1"]["card"]) == "一二三四五"
    assert feishu.cards["c1"]["card"]["config"]["streaming_mode"] is False


@pytest.mark.parametrize("own_clock", [True, False])
async def test_dead_card_gets_two_calls_and_the_answer_a_message(
    feishu: FakeFeishu, clock: FakeClock, own_clock: bool
) -> None:  # C-FS-07
    script = json.loads((CASES / "stream_lifetime_script.json").read_text())
    feishu.refuses_updates_after_end = True
    message = answer(feishu)
    text = ""
    for second in range(0, script["answer_ready_s"], 5):
        if second == 595 and not own_clock:
            clock.advance(5)  # the first show after 570 s is late
        if own_clock or not 565 < second < 600:
            text += "字"
            await message.show(frame(text))
        clock.advance(5)
    dead_from = clock.now() - script["answer_ready_s"] + 600
    assert dead_from > 0
    before = len(feishu.calls)
    await message.finish(frame(script["answer"], done=True))
    refused = [c for c in feishu.calls[before:] if c[0] in ("element", "settings", "update")]
    assert len(refused) <= 2
    shown = [text_of(c) for _, kind, c in feishu.messages if kind == "interactive" and "body" in c]
    assert shown == [script["answer"]]


async def test_whole_card_update_after_the_end_of_streaming(
    feishu: FakeFeishu, clock: FakeClock
) -> None:
    message = answer(feishu)
    await message.show(frame("一"))
    clock.advance(601)
    feishu.script["settings"] = [(200, {"code": 200850})]
    await message.show(frame("一二"))
    await message.finish(frame("一二三", done=True))
    assert text_of(feishu.cards["c1"]["card"]) == "一二三"
    assert len(feishu.messages) == 1


@pytest.mark.parametrize(
    ("name", "native"), [("answer_six_tables.md", 5), ("answer_five_tables_one_in_fence.md", 4)]
)
async def test_tables_over_the_limit_become_code(
    feishu: FakeFeishu, name: str, native: int
) -> None:  # C-FS-08
    text = (CASES / name).read_text("utf-8")
    message = answer(feishu)
    await message.finish(frame(text, done=True))
    [(_, kind, card)] = feishu.messages
    assert kind == "interactive"
    shown = text_of(card)
    assert shown.count("| --- | --- |") == native
    for cell in [w for w in text.replace("|", " ").split() if w[0] in "ak" and len(w) == 2]:
        assert cell in shown


async def test_streamed_card_with_refused_tables_is_simplified(feishu: FakeFeishu) -> None:
    feishu.script["update"] = [(400, {"code": 230099, "msg": "ErrCode: 11310"})]
    message = answer(feishu)
    await message.show(frame("一"))
    await message.finish(frame("一\n\n| a | b |\n|---|---|\n| 1 | 2 |", done=True))
    assert "```\na | b\n--+--\n1 | 2\n```" in text_of(feishu.cards["c1"]["card"])
    assert len(feishu.messages) == 1


async def test_refused_card_is_simplified_then_text(feishu: FakeFeishu) -> None:
    feishu.script["reply"] = [(400, {"code": 230099, "msg": "x"})] * 2
    message = answer(feishu)
    await message.finish(frame("a **b** <at id=all></at> evil.com [src:a]", done=True))
    [(_, kind, content)] = feishu.messages
    assert kind == "text"
    assert content["text"].startswith("a b ＜at id=all＞＜/at＞ evil. com [1]")


@pytest.mark.parametrize("code", [230002, 300317, 99999])
async def test_a_card_that_takes_no_final_text_stops_saying_that_it_is_generating(
    feishu: FakeFeishu, code: int
) -> None:
    feishu.script["update"] = [(200, {"code": code, "msg": "x"})] * 3
    message = answer(feishu)
    await message.show(frame("a"))
    await message.finish(frame("a b", done=True))
    [closing] = feishu.named("settings")
    assert json.loads(closing["settings"])["config"]["streaming_mode"] is False
    assert text_of(feishu.messages[-1][2]) == "a b"


ANSWERS: list[Answer] = [
    (200, {"code": 0}),
    (500, "upstream error"),
    (429, {"code": 99991400, "msg": "limited"}),
    (200, {"code": 300317, "msg": "ErrMsg: sequence number compare failed; "}),
    (200, {"code": 200850, "msg": "ErrMsg: card streaming timeout; "}),
    (200, {"code": 300309, "msg": "ErrMsg: streaming mode is closed; "}),
]


@given(
    st.lists(st.sampled_from(ANSWERS), max_size=8),
    st.lists(st.sampled_from(ANSWERS[2:]), max_size=2),
)
async def test_c_fs_06_numbers_rise_and_the_text_arrives_whatever_is_answered(
    to_elements: list[Answer], to_updates: list[Answer]
) -> None:
    """C-FS-06: refusals, faults and limits in any order, while it streams and at the end."""
    feishu = FakeFeishu(FakeClock(auto=True))
    feishu.script = {"element": to_elements, "update": to_updates}
    message = answer(feishu)
    for n in range(1, 7):
        with suppress(PlumblineError):  # the stream above skips a frame
            await message.show(frame("字" * n))
    for _ in range(4):  # the stream above tries the last frame again
        try:
            await message.finish(frame("字" * 7, done=True))
        except (Unavailable, RateLimited):
            continue
        break
    numbers = feishu.sequences
    assert numbers[:1] in ([], [1])
    assert all(a < b for a, b in pairwise(numbers))
    posted = [text_of(c) for _, kind, c in feishu.messages if kind == "interactive" and "body" in c]
    on_card = text_of(feishu.cards["c1"]["card"])
    assert [on_card, *posted].count("字" * 7) == 1


@pytest.mark.parametrize("call", ["create", "reply", "element", "update", "settings"])
async def test_c_fs_09_whatever_call_finds_the_token_dead_gets_a_new_one(
    feishu: FakeFeishu, call: str
) -> None:
    message = answer(feishu)
    feishu.script[call] = [(400, {"code": 99991663, "msg": "Invalid access token"})]
    await message.show(frame("一"))
    await message.show(frame("一二"))
    await message.finish(frame("一二三", done=True))
    assert text_of(feishu.cards["c1"]["card"]) == "一二三"
    assert feishu.tokens == 2
    assert len(feishu.messages) == 1


async def test_dead_token_is_fetched_anew_once(feishu: FakeFeishu) -> None:  # C-FS-09
    script = json.loads((CASES / "token_invalid_then_ok.json").read_text())
    chat = FeishuChat(feishu.api, feishu.clock)
    await chat.react(CHAT, "seen")
    feishu.script = {
        "reply": [(script[0]["http"], script[0]["body"])],
        "token": [(script[1]["http"], script[1]["body"])],
    }
    await chat.say(CHAT, "hello", "key")
    replies = [token for name, _, token in feishu.calls if name == "reply"]
    assert replies == ["Bearer t-1", "Bearer t-case-new"]
    assert len(feishu.messages) == 1


async def test_token_is_kept_until_ten_minutes_before_its_end(
    feishu: FakeFeishu, clock: FakeClock
) -> None:
    chat = FeishuChat(feishu.api, feishu.clock)
    for wait in (0, 6500, 200):
        clock.advance(wait)
        await chat.react(CHAT, "seen")
    assert feishu.tokens == 2


async def test_faults_are_told_apart_and_carry_no_secrets(
    feishu: FakeFeishu, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    chat = FeishuChat(feishu.api, feishu.clock)
    cases: list[tuple[Any, type[Exception]]] = [
        ((502, "<html>bad gateway t-1</html>"), Unavailable),
        ((200, "<html>sign in</html>"), Unavailable),
        ((400, {"code": 99991400, "msg": "t-1"}), RateLimited),
        ((200, {"code": 230002, "msg": "t-1 hello"}), PlatformRefused),
    ]
    for content, kind in cases:
        feishu.script["reply"] = [content]
        with pytest.raises(kind) as caught:
            await chat.say(CHAT, "hello canary", "key")
        assert "t-1" not in str(caught.value)
        assert "canary" not in str(caught.value)
    assert "canary" not in caplog.text
    assert "secret-x" not in caplog.text
    assert "t-1" not in caplog.text


async def test_recalled_question_is_answered_in_its_chat(feishu: FakeFeishu) -> None:
    feishu.script["reply"] = [(200, {"code": 230011})]
    await FeishuChat(feishu.api, feishu.clock).say(CHAT, "hello", "key")
    assert feishu.messages[0][0] == "oc_1"


async def test_long_answer_rolls_over_into_a_second_card(feishu: FakeFeishu) -> None:
    text = "\n\n".join(f"第{n}段。" + "很长的文字，" * 60 for n in range(60))
    message = answer(feishu)
    await message.show(frame(text))
    await message.finish(frame(text, done=True))
    whole = text_of(feishu.cards["c1"]["card"]) + "".join(
        text_of(c) for _, _, c in feishu.messages if "body" in c
    )
    assert all(f"第{n}段。" in whole for n in range(60))
    assert len(feishu.messages) > 1


async def test_successor_goes_on_with_the_card(feishu: FakeFeishu) -> None:
    first = answer(feishu)
    await first.show(frame("一"))
    await first.show(frame("一二"))
    second = answer(feishu, first.handle, attempt=1)
    await second.show(frame("一二三"))
    await second.finish(frame("一二三四", done=True))
    assert text_of(feishu.cards["c1"]["card"]) == "一二三四"
    assert feishu.sequences[-1] > 100_000
    assert len(feishu.messages) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("1767225610", 10.0),
        ("Thu, 01 Jan 2026 00:00:10 GMT", 10.0),
        ("soon", 1.0),
        ("", 1.0),
        ("-4", 1.0),
    ],
)
def test_named_pause(value: str, seconds: float) -> None:
    headers = httpx.Headers({"Retry-After": value})
    assert named_pause(headers, ("retry-after",), 1767225600.0, 1.0) == seconds

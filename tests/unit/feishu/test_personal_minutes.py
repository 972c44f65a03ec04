"""Searching and reading the minutes of one's own meetings."""

from datetime import datetime

import pytest

from agent.errors import BadArguments, ToolFailed
from agent.ports import ToolResult
from connectors.feishu.personal.minutes import turns_of
from connectors.personal.evidence import source_id
from tests.fakes.feishu_reading import ASKER, ReadFeishu, fine, refused, sample

TOKEN = "obcn000000000000000000mm"
SOURCE = source_id("fn", TOKEN)


async def search(feishu: ReadFeishu, *queries: str, **more: str) -> ToolResult:
    return await feishu.tools["search_my_minutes"].call({"queries": list(queries), **more})


def hits(*tokens: str) -> dict[str, object]:
    return {"items": [{"token": t, "display_info": f"Title {t}"} for t in tokens]}


async def test_minutes_become_a_passage_of_the_asker() -> None:
    feishu = ReadFeishu()
    base = {"title": "Cache review", "create_time": "1765504800000", "url": "https://f.x/minutes/m"}
    feishu.always["minutes.get"] = fine({"minute": base})
    (passage,) = (await search(feishu, "cache")).passages
    assert (passage.source, passage.title, passage.url) == (SOURCE, "Cache review", base["url"])
    assert (passage.kind, passage.private, passage.updated) == ("minutes", True, "2025-12-12")
    assert passage.readers == {f"person:feishu:{ASKER.user}"}
    assert passage.text == (
        "The team kept a cache TTL of 300 seconds.\nTo-dos:\n- Write it down\n"
        "Chapters:\n- [00:00:00] TTL: 300 s stays."
    )


async def test_the_searchs_own_title_and_link_without_the_highlights() -> None:
    (passage,) = (await search(ReadFeishu(), "cache")).passages
    assert passage.title == "Cache review"
    assert passage.url.startswith("https://example.feishu.cn/minutes/")


async def test_owned_and_attended_meetings_are_merged() -> None:
    feishu = ReadFeishu()
    feishu.script["minutes.search"] = [fine(hits("a", "b")), fine(hits("c", "a"))]
    passages = (await search(feishu, "cache")).passages
    assert {p.title for p in passages} == {"Title a", "Title c", "Title b"}
    roles = [set(b["filter"]) - {"create_time"} for b in feishu.bodies("minutes.search")]
    assert roles == [{"owner_ids"}, {"participant_ids"}]
    for body in feishu.bodies("minutes.search"):
        (people,) = [v for k, v in body["filter"].items() if k != "create_time"]
        assert people == [ASKER.user]


async def test_it_goes_back_month_by_month_until_there_is_enough() -> None:
    feishu = ReadFeishu()
    feishu.script["minutes.search"] = [
        *(fine({}), fine({}), fine({}), fine(hits("a"))),
        *(fine(hits("b")), fine(hits("c"))),
    ]
    found = await search(feishu, "cache")
    assert len(found.passages) == 3
    assert feishu.counts["minutes.search"] == 6
    assert found.note == "Searched from 2025-10-09 to 2026-01-01."
    spans = [b["filter"]["create_time"] for b in feishu.bodies("minutes.search")[::2]]
    moments = [[datetime.fromisoformat(s[k]) for k in ("start_time", "end_time")] for s in spans]
    assert all((end - start).days <= 28 for start, end in moments)
    assert [start for start, _ in moments[:-1]] == [end for _, end in moments[1:]]


@pytest.mark.parametrize("queries", [("cache",), ("cache", "缓存"), ()])
async def test_the_searches_of_one_call_are_bounded(queries: tuple[str, ...]) -> None:
    feishu = ReadFeishu()
    feishu.always["minutes.search"] = fine({})
    found = await search(feishu, *queries)
    assert feishu.counts["minutes.search"] == 8
    assert found.passages == ()
    assert found.note.startswith("Searched from 2025-")
    assert feishu.budget.left == 2


async def test_named_days_are_the_span() -> None:
    feishu = ReadFeishu()
    feishu.always["minutes.search"] = fine({})
    await search(feishu, "cache", since="2025-12-01", until="2025-12-10")
    spans = [b["filter"]["create_time"] for b in feishu.bodies("minutes.search")]
    wanted = {"start_time": "2025-12-01T00:00:00+08:00", "end_time": "2025-12-11T00:00:00+08:00"}
    assert spans == [wanted, wanted]
    with pytest.raises(BadArguments):
        await search(feishu, "cache", since="last week")


async def test_the_query_is_short() -> None:
    feishu = ReadFeishu()
    await search(feishu, " ".join(f"consideration{n}" for n in range(10)))
    assert {b["query"] for b in feishu.bodies("minutes.search")} == {
        "consideration0 consideration1 consideration2"
    }


async def test_minutes_that_are_closed_are_left_out_and_lost_ones_counted() -> None:
    feishu = ReadFeishu()
    feishu.always["minutes.search"] = fine(hits("a", "b", "c"))
    feishu.script["minutes.artifacts"] = [refused(2091005, 403), *[sample("gateway_html")] * 1]
    feishu.script["minutes.get"] = [fine({}), fine({}), fine({})]
    found = await search(feishu, "cache")
    assert len(found.passages) == 2
    assert "could not" not in found.note
    feishu.always["minutes.artifacts"] = sample("gateway_html")
    feishu.script["minutes.artifacts"] = [sample("minutes_artifacts")]
    found = await search(feishu, "cache")
    assert len(found.passages) == 1
    assert found.note.endswith("2 more could not be opened just now.")


async def test_half_a_search_that_fails_leaves_the_other_half() -> None:
    feishu = ReadFeishu()
    feishu.script["minutes.search"] = [refused(2091001), fine(hits("a", "b", "c"))]
    assert len((await search(feishu, "cache")).passages) == 3
    feishu.always["minutes.search"] = refused(2091001)
    with pytest.raises(ToolFailed, match="minutes could not be searched"):
        await search(feishu, "cache")


async def test_own_to_dos_are_marked() -> None:
    feishu = ReadFeishu()
    todo = {"content": "Write\nit down", "assignees": [ASKER.user], "is_done": True}
    feishu.always["minutes.artifacts"] = fine({"minute_todos": [todo]})
    (passage,) = (await search(feishu, "cache")).passages
    assert passage.text == "To-dos:\n- Write it down (the asker's) (done)"


async def test_the_words_of_a_meeting_are_read_by_speaker() -> None:
    feishu = ReadFeishu()
    tools = feishu.tools
    await tools["search_my_minutes"].call({"queries": ["cache"]})
    read = await tools["read_my_minutes"].call({"source": SOURCE})
    (passage,) = read.passages
    assert passage.text == "Ada Test 00:00:01: We keep the TTL at 300 seconds."
    assert (read.note, passage.source) == ("Page 1 of 1.", SOURCE)
    (params,) = feishu.queries("minutes.transcript")
    assert params == {"need_speaker": "true", "need_timestamp": "true", "file_format": "txt"}
    with pytest.raises(ToolFailed, match="1 pages"):
        await tools["read_my_minutes"].call({"source": SOURCE, "page": 2})
    for source in ("fn-unknown", TOKEN):
        with pytest.raises(ToolFailed, match="Search for them first"):
            await tools["read_my_minutes"].call({"source": source})


async def test_an_error_in_place_of_a_transcript_is_no_transcript() -> None:
    feishu = ReadFeishu()
    tools = feishu.tools
    await tools["search_my_minutes"].call({"queries": ["cache"]})
    feishu.always["minutes.transcript"] = refused(2091005, 200)
    with pytest.raises(ToolFailed, match="2091005"):
        await tools["read_my_minutes"].call({"source": SOURCE})


def test_turns_of_a_transcript() -> None:
    text = (
        "Weekly\n\nSpeaker 1 00:00:01\nhello\nagain\n\n陈浩 00:01:05.120\n同意\n"
        "Bob 12:05\nAt 12:30 we eat: lunch 12:30\nEmpty 00:02:00\n"
    )
    assert [(t.who, t.at, t.text) for t in turns_of(text)] == [
        ("", "", "Weekly"),
        ("Speaker 1", "00:00:01", "hello again"),
        ("陈浩", "00:01:05", "同意"),
        ("Bob", "12:05", "At 12:30 we eat: lunch 12:30"),
        ("Empty", "00:02:00", ""),
    ]
    assert list(turns_of("")) == []

"""Searching and reading one's own documents and wiki pages."""

import pytest

from agent.errors import BadArguments, ToolFailed
from agent.ports import ToolResult
from connectors.personal.evidence import source_id
from tests.fakes.feishu_reading import ASKER, ReadFeishu, fine, refused, sample

WIKI = source_id("fd", "wikcn0001")
DOCX = source_id("fd", "doxcn0001")


async def search(feishu: ReadFeishu, *queries: str) -> ToolResult:
    return await feishu.tools["search_my_documents"].call({"queries": list(queries)})


def units(*kinds: str, summary: str = "summary") -> dict[str, list[object]]:
    found: list[object] = [
        {
            "title_highlighted": f"Title {n}",
            "summary_highlighted": f"{summary} {n}",
            "entity_type": "DOC",
            "result_meta": {"doc_types": kind, "token": f"tok{n}", "url": f"https://f.x/{n}"},
        }
        for n, kind in enumerate(kinds)
    ]
    return {"res_units": found}


async def test_a_wiki_page_and_a_document_become_passages_of_the_asker() -> None:
    feishu = ReadFeishu()
    wiki, docx = (await search(feishu, "travel policy")).passages
    assert (wiki.source, docx.source) == (WIKI, DOCX)
    assert wiki.title == "Travel policy 2026"
    assert "premium economy" in wiki.text
    assert (wiki.url, wiki.updated) == ("https://example.feishu.cn/wiki/wikcn0001", "2025-12-29")
    assert (wiki.kind, wiki.private) == ("document", True)
    assert wiki.readers == docx.readers == {f"person:feishu:{ASKER.user}"}
    assert wiki.score > docx.score - 0.01


async def test_the_query_is_short_and_both_filters_are_given() -> None:
    feishu = ReadFeishu()
    await search(feishu, "What does the international travel policy say about premium economy?")
    (body,) = feishu.bodies("docs.search")
    assert body == {
        "query": "international premium economy",
        "doc_filter": {},
        "wiki_filter": {},
        "page_size": 10,
    }
    with pytest.raises(BadArguments):
        await search(feishu, "？！")


async def test_a_wiki_token_is_turned_into_the_documents_before_reading() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.markdown"] = fine({"content": "# Travel"})
    await search(feishu, "travel")
    assert feishu.queries("wiki.node") == [{"token": "wikcn0001"}]
    tokens = [query["doc_token"] for query in feishu.queries("docs.markdown")]
    assert sorted(tokens) == ["doxcn0001", "doxcn0002"]
    assert feishu.counts["docs.raw"] == 0


@pytest.mark.parametrize("code", [99991679, 99991672, 1770001])
async def test_plain_text_where_there_is_no_markdown(code: int) -> None:
    feishu = ReadFeishu()
    feishu.always["docs.markdown"] = refused(code)
    assert "premium economy" in (await search(feishu, "travel")).passages[0].text
    feishu = ReadFeishu()
    feishu.access.granted -= {"docs:document.content:read"}
    assert "premium economy" in (await search(feishu, "travel")).passages[0].text
    assert feishu.counts["docs.markdown"] == 0


async def test_a_document_without_text_is_shown_by_its_summary() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.search"] = fine(units("DOCX"))
    feishu.always["docs.raw"] = fine({"content": ""})
    (passage,) = (await search(feishu, "summary")).passages
    assert passage.text == "summary 0"


async def test_what_the_asker_may_not_read_any_more_is_not_even_named() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.auth"] = fine({"auth_result": False})
    found = await search(feishu, "travel")
    assert (found.passages, found.note) == ((), "")
    assert feishu.counts["docs.raw"] == feishu.counts["docs.markdown"] == 0
    feishu.always["docs.auth"] = fine({})
    assert (await search(feishu, "travel")).passages == ()


async def test_refused_texts_are_left_out_and_lost_ones_are_counted() -> None:
    feishu = ReadFeishu()
    feishu.access.granted = frozenset()
    feishu.script["docs.raw"] = [refused(1770032, 403)]
    found = await search(feishu, "travel")
    assert (len(found.passages), found.note) == (1, "")
    feishu.always["wiki.node"] = sample("gateway_html")
    found = await search(feishu, "travel")
    assert [p.source for p in found.passages] == [DOCX]
    assert found.note == "Documents that matched and could not be opened just now: 1."


async def test_four_hits_are_opened_in_rank_order() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.search"] = fine(units(*["DOCX"] * 9))
    found = await search(feishu, "summary")
    assert [p.title for p in found.passages] == [f"Title {n}" for n in range(4)]
    assert feishu.counts["docs.auth"] == 4


async def test_two_queries_are_merged_in_turn_and_each_document_is_opened_once() -> None:
    feishu = ReadFeishu()
    other = units("DOCX", "DOCX", summary="other words")
    other["res_units"].reverse()
    feishu.script["docs.search"] = [fine(units("DOCX", "DOCX", "DOCX")), fine(other)]
    found = await search(feishu, "travel", "差旅")
    assert [p.title for p in found.passages] == ["Title 0", "Title 1", "Title 2"]
    assert feishu.counts["docs.auth"] == 3
    assert feishu.budget.left == 2


async def test_a_sheet_is_shown_by_its_summary() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.search"] = fine(units("SHEET", "STRANGE"))
    found = await search(feishu, "summary")
    assert [p.text for p in found.passages] == ["summary 0", "summary 1"]
    assert [q["type"] for q in feishu.queries("docs.auth")] == ["sheet", "file"]
    shown = found.passages[0].source
    tools = feishu.tools
    await tools["search_my_documents"].call({"queries": ["summary"]})
    read = await tools["read_my_document"].call({"source": shown})
    assert "Only this summary" in read.note


async def test_no_more_texts_a_second_than_the_platform_allows() -> None:
    feishu = ReadFeishu()
    feishu.access.granted = frozenset()
    feishu.always["docs.search"] = fine(units(*["DOCX"] * 4))
    tools, start = feishu.tools, feishu.clock.monotonic()
    await tools["search_my_documents"].call({"queries": ["summary"]})
    assert feishu.clock.monotonic() == start
    await tools["search_my_documents"].call({"queries": ["other"]})
    assert feishu.clock.monotonic() >= start + 1.0
    assert feishu.counts["docs.raw"] == 8


async def test_the_parts_that_answer_are_shown_of_a_long_document() -> None:
    feishu = ReadFeishu()
    lines = ["filler text about nothing " * 20] * 20
    lines[15] = "premium economy over six hours"
    feishu.always["docs.markdown"] = fine({"content": "\n".join(lines)})
    found = await search(feishu, "premium economy")
    places = [p.place for p in found.passages if p.source == WIKI]
    assert len(places) == 2
    assert all(len(p.text) <= 1_500 for p in found.passages)
    assert any("premium economy" in p.text for p in found.passages)


async def test_a_document_is_read_page_by_page() -> None:
    feishu = ReadFeishu()
    feishu.always["docs.markdown"] = fine({"content": "\n".join(["word " * 200] * 13)})
    tools = feishu.tools
    await tools["search_my_documents"].call({"queries": ["travel"]})
    first = await tools["read_my_document"].call({"source": f"[src:{WIKI}]"})
    last = await tools["read_my_document"].call({"source": WIKI, "page": 3})
    assert (first.note, last.note) == ("Page 1 of 3.", "Page 3 of 3.")
    assert all(len(r.passages[0].text) <= 6_000 for r in (first, last))
    assert last.passages[0].readers == {f"person:feishu:{ASKER.user}"}
    with pytest.raises(ToolFailed, match="3 pages"):
        await tools["read_my_document"].call({"source": WIKI, "page": 4})


async def test_rights_are_asked_for_again_when_a_document_is_read() -> None:
    feishu = ReadFeishu()
    tools = feishu.tools
    await tools["search_my_documents"].call({"queries": ["travel"]})
    feishu.always["docs.auth"] = fine({"auth_result": False})
    with pytest.raises(ToolFailed, match="may not read"):
        await tools["read_my_document"].call({"source": WIKI})


async def test_only_what_this_turn_found_can_be_read() -> None:
    feishu = ReadFeishu()
    await search(feishu, "travel")
    for source in (WIKI, "wikcn0001", "https://example.feishu.cn/wiki/wikcn0001", ""):
        with pytest.raises(ToolFailed, match="Search for it first"):
            await feishu.tools["read_my_document"].call({"source": source})

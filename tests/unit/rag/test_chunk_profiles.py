"""Each kind of document is cut in its own way: no text lost, order kept, sizes bounded."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain import Language
from rag.chunk_profiles import DEFAULT, PROFILES, chunked
from rag.documents import Block, Section

LINES = st.sampled_from(
    [
        *("第三条 保密期限为五年。", "**Clause 4, duties.** Keep it secret.", "Article 5"),
        *("**Q: How long?**", "A: Ten days.", "问：多久？", "答：十天。", "问题 2：谁批准？"),
        *("Chen: agreed.", "王芳 10:03", "[00:12:07] Emil: next point", "at 10:30 we stop"),
        *("x" * 700, "年假。" * 300, "", "- item", "plain words"),
    ]
)
TEXTS = st.lists(LINES, min_size=1, max_size=8).map("\n".join).filter(str.strip)
BLOCKS = st.builds(Block, TEXTS, st.sampled_from(["text", "table", "code"]))
PATHS = st.lists(st.sampled_from("ABC"), max_size=3).map(tuple)
SECTIONS = st.lists(
    st.builds(Section, PATHS, st.lists(BLOCKS, min_size=1, max_size=4).map(tuple)), max_size=4
)
LANGUAGES = st.sampled_from(["zh", "en"])


def own(kind: str, *blocks: str, language: Language = "en") -> list[str]:
    sections = [Section(("Top",), tuple(Block(text) for text in blocks))]
    return [c.text[c.overlap :].strip() for c in chunked(sections, kind, language)]


@pytest.mark.parametrize("kind", [*PROFILES, "anything"])
@given(sections=SECTIONS, language=LANGUAGES)
def test_nothing_lost_order_kept_sizes_bounded(
    kind: str, sections: list[Section], language: Language
) -> None:
    chunks = chunked(sections, kind, language)
    size = PROFILES.get(kind, DEFAULT).sizes[language]
    texts = "".join(chunk.text[chunk.overlap :] for chunk in chunks)
    words = "".join("".join(b.text for b in s.blocks) for s in sections)
    headless = texts if kind in ("contract", "minutes", "faq") else None
    if headless is not None:
        assert "".join(headless.split()) == "".join(words.split())
    else:
        rest = iter("".join(texts.split()))
        assert all(char in rest for char in "".join(words.split())), "a subsequence"
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert len(chunk.text) - chunk.overlap <= size.target
        assert chunk.overlap <= size.repeated
    for before, chunk in pairwise(chunks):
        if chunk.overlap:
            assert before.text.endswith(chunk.text[: chunk.overlap])
            assert chunk.place == before.place


def test_sizes_are_those_of_the_kind() -> None:
    sizes = {kind: (p.sizes["zh"].target, p.sizes["zh"].overlap) for kind, p in PROFILES.items()}
    assert 300 <= sizes["manual"][0] <= 500
    assert sizes["manual"][1] == 0.15
    assert 800 <= sizes["incident"][0] <= 1200
    assert sizes["incident"][1] == 0.2
    assert sizes["contract"][1] == 0.1


def test_a_clause_stays_whole() -> None:
    clauses = [f"**Clause {n}, part.** " + f"Word{n} " * 100 for n in range(1, 6)]
    assert own("contract", *clauses) == [c.strip() for c in clauses]
    zh = [f"第{n}条 " + "保密期限五年。" * 50 for n in "一二三"]
    assert own("contract", "\n".join(zh), language="zh") == zh


def test_a_turn_stays_whole_and_short_ones_share() -> None:
    turns = [f"Chen: {'agreed, ' * 90}so", "Dana: yes.", f"[10:03] Emil: {'never, ' * 99}no"]
    assert own("minutes", "\n".join(turns)) == [
        f"{turns[0]}\n\n{turns[1]}",
        turns[2],
    ]
    feishu = [f"{name} 00:0{n}:12\n{'说明情况。' * 70}" for n, name in enumerate(("王芳", "李雷"))]
    assert own("minutes", "\n".join(feishu), language="zh") == feishu


def test_a_question_stays_with_its_answer() -> None:
    pairs = [(f"**Q: What is {n}?**", f"A: {'number ' * 80}{n}.") for n in range(4)]
    chunks = own("faq", *[text for pair in pairs for text in pair])
    assert len(chunks) == 2
    for question, answer in pairs:
        assert any(question in chunk and answer in chunk for chunk in chunks)
    zh = [f"问：{n}？\n答：{'十天。' * 100}" for n in range(3)]
    assert own("faq", "\n\n".join(zh), language="zh") == zh


def test_headings_are_kept_above_each_chunk() -> None:
    section = Section(("NDA", "Key clauses"), (Block("Clause 1. " + "a " * 700),))
    assert {c.place for c in chunked([section], "contract", "en")} == {"NDA > Key clauses"}


def test_a_long_incident_has_fewer_chunks_than_a_page_of_another_kind() -> None:
    text = "Alarm E-204 was seen at the pump. " * 120
    assert len(own("incident", text)) < len(own("policy", text))
    assert len(own(" Incident", text)) == len(own("incident", text))

"""Each format is read with its structure, or refused with a reason and a next step."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.documents import DocumentRefused, Reading
from rag.loaders import LARGEST, check_size, load
from rag.loaders.plain_text import decode
from rag.text import clean_text

DOCS = Path(__file__).parents[2] / "data" / "docs"


def read(name: str) -> Reading:
    return load(name, (DOCS / name).read_bytes())


def refusal(name: str, data: bytes | None = None) -> DocumentRefused:
    with pytest.raises(DocumentRefused) as caught:
        load(name, (DOCS / name).read_bytes() if data is None else data)
    assert caught.value.next_step
    return caught.value


def test_c_kb_08_merged_cells_and_column_names() -> None:
    text = read("table_merged_header.pdf").text
    assert "Room: R-204; Min C: -25; Max C: -18; Alarm after: 5 min" in text
    assert "Room: R-205; Min C: 2; Max C: 6; Alarm after: 5 min" in text


def test_c_kb_09_scan_without_text_layer() -> None:
    assert refusal("scanned_one_page.pdf").reason == "no text layer"


def test_c_kb_10_localised_heading_styles() -> None:
    section = next(
        s for s in read("localized_headings.docx").sections if "90天" in s.blocks[0].text
    )
    assert section.path == ("数据安全管理办法", "第三章 备份")


def test_c_kb_11_gbk_text() -> None:
    text = read("policy_gbk.txt").text
    assert text.startswith("差旅报销须在返回后30日内提交")
    assert "\ufffd" not in text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zero_bytes.pdf", "empty"),
        ("truncated.pdf", "damaged"),
        ("text_named.docx", "not what its name says"),
    ],
)
def test_c_kb_12_broken_files_have_a_reason(name: str, reason: str) -> None:
    assert refusal(name).reason == reason


def test_c_kb_13_bomb_is_refused_before_unpacking() -> None:
    data = (DOCS / "inflates_to_200mb.docx").read_bytes()
    tracemalloc.start()
    try:
        assert refusal("bomb.docx", data).reason == "unpacks too large"
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_c_kb_14_password() -> None:
    assert refusal("needs_password.pdf").reason == "needs a password"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
    assert refusal("locked.docx", ole).reason == "needs a password"


def test_c_kb_15_nul_is_visible_and_gone() -> None:
    text = read("nul_in_text_layer.pdf").text
    assert "\x00" not in text
    assert "Form F" in text
    assert "\ufffd" in text


def test_c_kb_16_lone_surrogate_replaced_pair_kept() -> None:
    text = json.loads((DOCS / "lone_surrogate.json").read_text("utf-8"))["text"]
    cleaned = clean_text(text)
    assert cleaned == "Team cheered \ufffd and agreed on 5 May \U0001f600"
    cleaned.encode()


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_always_be_stored(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean_text(cleaned) == cleaned


def test_markdown_front_matter_headings_tables() -> None:
    page = (
        "---\ntitle: Leave\nversion: 3\n---\n# Leave\n\nIntro *words*.\n\n## Days\n\n"
        "| Who | Days |\n|---|---|\n| new | 10 |\n| old | 15 |\n\n```\n# no heading\n```\n"
    )
    reading = load("a.md", page.encode())
    assert reading.title == "Leave"
    assert reading.properties == {"title": "Leave", "version": 3}
    assert [s.path for s in reading.sections] == [(), ("Days",)]
    assert reading.sections[1].blocks[0].text == "Who: new; Days: 10\nWho: old; Days: 15"
    assert reading.sections[1].blocks[1].text == "```\n# no heading\n```"


def test_broken_front_matter_is_refused() -> None:
    broken = b'---\ntitle: "a "b": c"\n---\ntext\n'
    assert refusal("a.md", broken).reason == "metadata not understood"


def test_html_reads_the_page_and_not_its_frame() -> None:
    page = (
        "<html><head><title>Leave</title><script>x()</script></head><body><nav>Menu</nav>"
        "<h1>Leave</h1><p>Ten <b>days</b>.</p><ul><li>one</li><li>two</li></ul>"
        "<h2>Table</h2><table><tr><th>Who</th><th>Days</th></tr><tr><td>new</td><td>10</td></tr>"
        "</table></body></html>"
    )
    reading = load("a.html", page.encode())
    assert reading.title == "Leave"
    assert [s.path for s in reading.sections] == [("Leave",), ("Leave", "Table")]
    assert reading.text == "Ten days.\n\n- one\n- two\n\nWho: new; Days: 10"


def test_html_in_its_own_charset() -> None:
    page = '<meta charset="gbk"><p>年假</p>'.encode("gbk")
    assert load("a.html", page).text == "年假"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
def test_encodings_are_found(encoding: str) -> None:
    text = (
        "出差返回之後三十日內提交報銷單" if encoding == "big5" else "出差返回后三十日内提交报销单"
    )
    assert decode(text.encode(encoding)) == text


def test_western_text_is_no_chinese() -> None:
    text = "Die Prüfung für Ärzte beginnt am Montag, und alle müssen pünktlich da sein. " * 3
    assert decode(text.encode("cp1252")) == text


def test_numbered_headings_in_plain_text() -> None:
    text = "第一章 总则\n\n本办法适用于全体员工。\n\n第二章 报销\n\n2.1 时限\n\n三十日内提交。\n"
    paths = [s.path for s in load("a.txt", text.encode()).sections]
    assert paths == [("第一章 总则",), ("第二章 报销", "2.1 时限")]


def test_word_tables_and_lists() -> None:
    file = docx.Document()
    file.add_heading("Limits", 1)
    file.add_paragraph("first", style="List Bullet")
    table = file.add_table(2, 2)
    for place, text in enumerate(("City", "Limit", "Berlin", "165")):
        table.cell(place // 2, place % 2).text = text
    out = io.BytesIO()
    file.save(out)
    reading = load("a.docx", out.getvalue())
    assert reading.sections[0].path == ("Limits",)
    assert reading.text == "first\n\nCity: Berlin; Limit: 165"


def test_archives_are_judged_by_their_contents_list() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for n in range(5_001):
            archive.writestr(f"{n}.xml", "")
    assert refusal("many.docx", out.getvalue()).reason == "unpacks too large"
    assert refusal("cut.docx", out.getvalue()[:5000]).reason == "damaged"


def test_types_sizes_and_blank_files() -> None:
    assert refusal("a.exe", b"MZ").reason == "type not read"
    assert refusal("a.txt", b" \n ").reason == "no text"
    assert refusal("a.txt", b"%PDF-1.7").reason == "not what its name says"
    assert refusal("a.txt", b"a\x00b\x00").reason == "not what its name says"
    with pytest.raises(DocumentRefused, match="too large"):
        check_size(LARGEST + 1)


ENDINGS = st.sampled_from([".md", ".txt", ".html", ".pdf", ".docx", ".xlsx", ".pptx"])


@given(st.binary(max_size=300), ENDINGS)
def test_no_bytes_raise_anything_but_a_refusal(data: bytes, suffix: str) -> None:
    heads = {".pdf": b"%PDF-1.4\n"} | dict.fromkeys((".docx", ".xlsx", ".pptx"), b"PK\x03\x04")
    try:
        reading = load("a" + suffix, heads.get(suffix, b"") + data)
    except DocumentRefused:
        return
    assert reading.text.strip()

"""Workbooks and presentations: rows keep their names, slides their titles and notes."""

from __future__ import annotations

import datetime
import io
from typing import Any, cast

import openpyxl
import pptx
import pytest
from pptx.util import Inches

from rag.documents import DocumentRefused, Reading
from rag.loaders import load


def workbook(*sheets: tuple[str, list[list[object]]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    return book


def read(book: openpyxl.Workbook) -> Reading:
    out = io.BytesIO()
    book.save(out)
    return load("a.xlsx", out.getvalue())


def test_rows_carry_the_names_of_their_columns_and_the_sheet() -> None:
    rows: list[list[object]] = [["房间", "上限", "检修日"]]
    rows.append(["R-204", -18, datetime.datetime(2026, 3, 1)])  # noqa: DTZ001  as cells have it
    rows.append(["R-205", 6.5, None])
    reading = read(workbook(("冷库", rows), ("Owner", [["Name", "Team"], ["Chen", "IT"]])))
    assert [s.path for s in reading.sections] == [("冷库",), ("Owner",)]
    assert reading.sections[0].blocks[0].text == (
        "房间: R-204; 上限: -18; 检修日: 2026-03-01\n房间: R-205; 上限: 6.5"
    )
    assert reading.sections[1].blocks[0].kind == "table"


def test_captions_and_several_tables_on_a_sheet() -> None:
    rows: list[list[object]] = [
        ["Limits 2026"],
        ["City", "Limit"],
        ["Berlin", 165],
        [],
        ["Austin", 180],
        [],
        ["Contacts"],
        ["Who", "Phone"],
        ["Dana", "7100"],
    ]
    texts = [b.text for s in read(workbook(("Travel", rows))).sections for b in s.blocks]
    assert texts == [
        "Limits 2026\nCity: Berlin; Limit: 165\nCity: Austin; Limit: 180",
        "Contacts\nWho: Dana; Phone: 7100",
    ]


def test_values_look_as_people_see_them() -> None:
    book = workbook(("A", [["Share", "Open", "At", "Sum"], [0.15, True, None, 0.1 + 0.2]]))
    sheet = book.worksheets[0]
    sheet["A2"].number_format = "0%"
    sheet["C2"] = datetime.time(9, 30)
    assert read(book).text == "Share: 15%; Open: True; At: 09:30:00; Sum: 0.3"


def test_sheets_without_a_header_lists_and_hidden_sheets() -> None:
    book = workbook(("Numbers", [[1, 2], [3, 4]]), ("List", [["one"], ["two"]]), ("X", [["no"]]))
    book.worksheets[2].sheet_state = "hidden"
    reading = read(book)
    assert [b.text for s in reading.sections for b in s.blocks] == ["1; 2\n3; 4", "one\ntwo"]


def test_a_file_that_is_no_workbook_is_refused() -> None:
    out = io.BytesIO()
    pptx.Presentation().save(out)
    with pytest.raises(DocumentRefused, match=r"damaged"):
        load("a.xlsx", out.getvalue())
    with pytest.raises(DocumentRefused, match="no Excel file"):
        load("a.xlsx", b"City,Limit")


def test_slides_have_number_title_tables_groups_and_notes() -> None:
    deck = pptx.Presentation()
    deck.core_properties.title = "Kick-off"
    first = deck.slides.add_slide(deck.slide_layouts[1])
    assert first.shapes.title is not None
    first.shapes.title.text = "Goals"
    cast("Any", first.placeholders[1]).text_frame.text = "Fewer faults\nMore uptime"
    frame = first.notes_slide.notes_text_frame
    assert frame is not None
    frame.text = "Mention the budget."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, *[Inches(1)] * 4).table
    for place, text in enumerate(("City", "Limit", "Berlin", "165")):
        table.cell(place // 2, place % 2).text = text
    box = second.shapes.add_group_shape().shapes.add_textbox(*[Inches(1)] * 4)
    box.text_frame.text = "grouped"
    hidden = deck.slides.add_slide(deck.slide_layouts[1])
    cast("Any", hidden.placeholders[1]).text_frame.text = "unseen"
    cast("Any", hidden.element).set("show", "0")
    out = io.BytesIO()
    deck.save(out)
    reading = load("a.pptx", out.getvalue())
    assert reading.title == "Kick-off"
    assert [(s.path, [b.text for b in s.blocks]) for s in reading.sections] == [
        (("1. Goals",), ["Fewer faults\nMore uptime"]),
        (("1. Goals", "Notes"), ["Mention the budget."]),
        (("2.",), ["City: Berlin; Limit: 165", "grouped"]),
    ]

"""Excel workbooks: each sheet a section, each row `name: value` under its table's header."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from rag.documents import Block, DocumentRefused, Reading
from rag.loaders.archive import check_archive
from rag.loaders.outline import Outline, table_block

_MOST_CELLS = 1_000_000
_ROWS_A_STEP = 200
_MIDNIGHT = datetime.time()


def load_excel(data: bytes, beat: Callable[[], None]) -> Reading:
    """The visible sheets in order; a formula is the value that was last computed for it.

    A row of one cell above a table is its caption. A blank row ends a table when what follows
    looks like a header or a caption. Of merged cells only the first has the text.

    Raises:
        DocumentRefused: the archive is broken, unpacks too large, holds more cells than text for
            people has, or is no workbook.
    """
    check_archive(data)
    outline = Outline()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that would be lost in saving
        try:
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        except (InvalidFileException, OSError, KeyError, SyntaxError, zipfile.BadZipFile) as error:
            raise DocumentRefused("damaged", "open it in Excel and save it again") from error
        for sheet in cast("list[Any]", book.worksheets):  # untyped: openpyxl has no annotations
            if sheet.sheet_state == "visible":
                outline.heading(1, str(sheet.title))
                _take(outline, _rows(sheet, beat))
    return Reading(outline.sections(), str(book.properties.title or "").strip())


def _rows(sheet: Any, beat: Callable[[], None]) -> Iterator[list[str]]:  # noqa: ANN401  openpyxl has no annotations
    """The texts of each row; those of numbers, dates and truth values are _Shown."""
    sheet.reset_dimensions()  # what a sheet says of its own size may be a lie
    cells = 0
    for number, row in enumerate(sheet.iter_rows()):
        if number % _ROWS_A_STEP == 0:
            beat()
        cells += max(len(row), 1)
        if cells > _MOST_CELLS:
            raise DocumentRefused("too large", f"split it at {_MOST_CELLS:,} cells a sheet")
        yield [_value(cell) for cell in row]


class _Shown(str):
    """The text of a number, a date or a truth value."""

    __slots__ = ()


def _value(cell: Any) -> str:  # noqa: ANN401  openpyxl has no annotations
    value: object = cell.value
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, datetime.datetime) and value.time() == _MIDNIGHT:
        return _Shown(value.date().isoformat())
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return _Shown(value.isoformat(" ") if isinstance(value, datetime.datetime) else value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "%" in str(cell.number_format or ""):
            return _Shown(f"{value * 100:.10g}%")
        return _Shown(f"{value:.15g}")
    return _Shown(value)


def _take(outline: Outline, rows: Iterator[Sequence[str]]) -> None:
    """A sheet's rows as tables with captions."""
    captions: list[str] = []
    table: list[Sequence[str]] = []
    blank = False
    for row in rows:
        filled = [text for text in row if text]
        if not filled:
            blank = True
            continue
        words = not any(isinstance(text, _Shown) for text in filled)
        if table and blank and words:
            _end(outline, captions, table)
            captions, table = [], []
        blank = False
        if len(filled) == 1 and words and not table:
            captions += filled
        else:
            if not table and not words:
                table.append(())  # values from the first row on: there is no header
            table.append(row)
    _end(outline, captions, table)


def _end(outline: Outline, captions: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    text = "\n".join(captions)
    if table:
        text += "\n" * bool(text) + table_block(table[0], table[1:]).text
    outline.block(Block(text, "table"))

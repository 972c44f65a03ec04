"""PDF: pages joined, columns one after the other, tables with their column names."""

from __future__ import annotations

import io
import itertools
import logging
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pdfplumber
from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect
from pdfminer.psexceptions import PSException
from pdfplumber.page import Page
from pdfplumber.table import Table
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

from rag.documents import Block, DocumentRefused, Reading
from rag.loaders.outline import Outline, numbered_heading, table_block
from rag.text import clean_text

_MOST_PAGES = 2_000
_HEADING_RATIO = 1.15
"""How much larger than the page's usual letters a heading is set."""
_FEWEST_WORDS = 20
"""A side with fewer words is no column."""
_SENTENCE_END = tuple("。！？；.!?;:：")

_Box = tuple[float, float, float, float]


def load_pdf(data: bytes, beat: Callable[[], None]) -> Reading:
    """The text of all pages in reading order, as one run: a paragraph may cross a page.

    Raises:
        DocumentRefused: damaged, encrypted, of too many pages, or a scan without a text layer.
    """
    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # a warning for each odd font
    outline = Outline()
    try:
        with pdfplumber.open(io.BytesIO(data)) as file:
            if len(file.pages) > _MOST_PAGES:
                raise DocumentRefused("too large", f"split it at {_MOST_PAGES} pages")
            properties = cast("dict[str, object]", file.metadata)  # pyright: ignore[reportUnknownMemberType]  untyped
            title = str(properties.get("Title") or "")
            parts: list[_Part] = []
            for page in file.pages:
                beat()
                parts += _page(page)
    except (PdfminerException, MalformedPDFException, PSException) as error:
        raise _refusal(error) from error
    _fill(outline, _joined(parts))
    sections = outline.sections()
    if not any(block.text.strip() for section in sections for block in section.blocks):
        raise DocumentRefused(
            "no text layer", "it is a scan: recognise its text (OCR) first, then add it"
        )
    return Reading(sections, clean_text(title).strip() if _speaks(title) else "")


def _refusal(error: Exception) -> DocumentRefused:
    causes = (error, *error.args)
    if any(isinstance(cause, (PDFPasswordIncorrect, PDFEncryptionError)) for cause in causes):
        return DocumentRefused("needs a password", "save a copy without a password")
    return DocumentRefused("damaged", "the file is cut or broken; copy or export it again")


def _speaks(title: str) -> bool:
    """Whether a title property is one: writing programs put file names and `untitled` there."""
    return bool(title.strip()) and not re.search(
        r"untitled|anonymous|无标题|microsoft word|\.(docx?|pdf|indd|xlsx?)$",
        title.strip(),
        re.IGNORECASE,
    )


# --- one page --------------------------------------------------------------------------------

_Part = tuple[float, str] | Block
"""A line with its size relative to the page's usual letters, or a table."""


def _page(page: Page) -> Iterator[_Part]:
    tables = page.find_tables()
    rest = page
    for table in tables:
        rest = rest.outside_bbox(_clip(table.bbox, page.bbox))
    words: list[dict[str, Any]] = rest.extract_words(extra_attrs=["size"], keep_blank_chars=False)
    usual = statistics.median(w["size"] for w in words) if words else 1.0
    lines = [
        (top, size / usual, text)
        for column in _columns(words, page.width)
        for top, size, text in _lines(column)
    ]
    waiting = sorted(tables, key=lambda t: t.bbox[1])
    for top, size, text in lines:
        while waiting and waiting[0].bbox[1] < top:
            yield _table(waiting.pop(0))
        yield size, text
    for table in waiting:
        yield _table(table)
    page.close()


def _clip(box: _Box, page: _Box) -> _Box:
    return max(box[0], page[0]), max(box[1], page[1]), min(box[2], page[2]), min(box[3], page[3])


def _columns(words: Sequence[dict[str, Any]], width: float) -> list[list[dict[str, Any]]]:
    """The words in one column, or in two when an empty strip near the middle parts most of them.

    Words that cross the strip (a heading over both columns) go with the part below them: the page
    is cut into bands there.
    """
    for share in (0.5, 0.48, 0.52, 0.46, 0.54):
        middle = width * share
        crossing = [w for w in words if w["x0"] < middle < w["x1"]]
        left = [w for w in words if w["x1"] <= middle]
        right = [w for w in words if w["x0"] >= middle]
        if min(len(left), len(right)) < _FEWEST_WORDS or len(crossing) > len(words) / 20:
            continue
        if not _shares_lines(left, right):
            continue
        top = max((w["bottom"] for w in crossing), default=0.0)
        above = [w for w in words if w["bottom"] <= top]
        return [
            above,
            [w for w in left if w["bottom"] > top],
            [w for w in right if w["bottom"] > top],
        ]
    return [list(words)]


def _shares_lines(left: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]) -> bool:
    """Two columns keep a gap of at least a letter and a half between them on every line."""
    inner_left, inner_right = max(w["x1"] for w in left), min(w["x0"] for w in right)
    size = statistics.median(w["size"] for w in left)
    return inner_right - inner_left >= 1.5 * size


def _lines(words: Sequence[dict[str, Any]]) -> Iterator[tuple[float, float, str]]:
    line: list[dict[str, Any]] = []
    for word in sorted(words, key=lambda w: (round(w["bottom"]), w["x0"])):
        if line and abs(word["bottom"] - line[0]["bottom"]) > 0.4 * line[0]["size"]:
            yield _line(line)
            line = []
        line.append(word)
    if line:
        yield _line(line)


def _line(words: Sequence[dict[str, Any]]) -> tuple[float, float, str]:
    placed = sorted(words, key=lambda w: w["x0"])
    text = placed[0]["text"]
    for before, word in itertools.pairwise(placed):
        text += _between(text, word["text"], word["x0"] - before["x1"]) + word["text"]
    return placed[0]["top"], statistics.median(w["size"] for w in placed), clean_text(text)


def _between(left: str, right: str, gap: float) -> str:
    """A space, but not between two Han characters that touch."""
    return "" if left[-1] > "\u2e7f" and right[0] > "\u2e7f" and gap < 6 else " "


def _table(table: Table) -> Block:
    """A table with merged cells filled in and a one-cell first row as its caption."""
    texts = table.extract()
    grid = [
        [_covered(table, texts, r, c) if text is None else text for c, text in enumerate(row)]
        for r, row in enumerate(texts)
    ]
    caption = ""
    if len(grid) > 2 and texts[0][0] and not any(texts[0][1:]):
        caption = f"{texts[0][0]}\n"
        grid = grid[1:]
    return Block(caption + table_block(grid[0], grid[1:]).text, "table") if grid else Block("")


def _covered(table: Table, texts: Sequence[Sequence[str | None]], row: int, column: int) -> str:
    """The text of the merged cell that covers a place of the grid."""
    rows = table.rows
    spans = [cells.cells[column] for cells in rows if cells.cells[column]]
    if not spans or spans[0] is None:
        return ""
    x = (spans[0][0] + spans[0][2]) / 2
    y = (rows[row].bbox[1] + min(r.bbox[3] for r in rows if r.bbox[3] > rows[row].bbox[1])) / 2
    for r, cells in enumerate(rows):
        for c, cell in enumerate(cells.cells):
            if cell and cell[0] <= x <= cell[2] and cell[1] <= y <= cell[3]:
                return texts[r][c] or ""
    return ""


# --- joining ---------------------------------------------------------------------------------


def _joined(parts: Sequence[_Part]) -> Iterator[_Part]:
    """Lines of one paragraph as one text; a line that ends a sentence short of the edge ends it."""
    longest = max((len(part[1]) for part in parts if not isinstance(part, Block)), default=0)
    open_text = ""
    for part in parts:
        if isinstance(part, Block) or _stands_alone(part):
            if open_text:
                yield 1.0, open_text
            open_text = ""
            yield part
            continue
        text = part[1].strip()
        open_text = f"{open_text}{_seam(open_text, text)}{text}" if open_text else text
        if text.endswith(_SENTENCE_END) and len(text) < 0.8 * longest:
            yield 1.0, open_text
            open_text = ""
    if open_text:
        yield 1.0, open_text


def _stands_alone(line: tuple[float, str]) -> bool:
    size, text = line
    return size >= _HEADING_RATIO or numbered_heading(text) is not None


def _seam(left: str, right: str) -> str:
    if not right or (left[-1] > "\u2e7f" and right[0] > "\u2e7f"):
        return ""
    return " "


def _fill(outline: Outline, parts: Iterator[_Part]) -> None:
    for part in parts:
        if isinstance(part, Block):
            outline.block(part)
            continue
        size, text = part
        level = numbered_heading(text)
        if level is None and size >= _HEADING_RATIO and len(text) <= 100:
            level = 1 if size >= 1.5 else 2
        if level is None:
            outline.text(text)
        else:
            outline.heading(level, text)

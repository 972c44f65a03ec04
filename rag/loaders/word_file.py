"""Word documents: headings whatever their style is called, tables as `name: value` lines."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import cast
from xml.etree.ElementTree import Element

import docx
from docx.document import Document as WordFile
from docx.opc.exceptions import OpcError
from docx.oxml.ns import nsmap, qn
from docx.styles.style import ParagraphStyle
from docx.table import Table
from docx.text.paragraph import Paragraph

from rag.documents import Block, DocumentRefused, Reading
from rag.loaders.archive import check_archive
from rag.loaders.outline import Outline, numbered_heading, table_block

_NAMES = {"w": nsmap["w"]}
_VALUE = qn("w:val")
_HEADING_NAME = re.compile(
    r"(?:heading|标题|標題|überschrift|titre|título|titolo|заголовок|見出し|제목)\s*([1-9])",
    re.IGNORECASE,
)


def load_word(data: bytes, beat: Callable[[], None]) -> Reading:
    """Sections by heading level; the first paragraph in the style Title is the title.

    Raises:
        DocumentRefused: the archive is broken, unpacks too large, or is no Word document.
    """
    check_archive(data)
    try:
        file = docx.Document(io.BytesIO(data))
    except (OpcError, KeyError, ValueError, SyntaxError, zipfile.BadZipFile) as error:
        raise DocumentRefused("damaged", "open it in Word and save it again") from error
    outline = Outline()
    title = file.core_properties.title.strip()
    for part in _body(file):
        beat()
        if isinstance(part, Table):
            outline.block(_table(part))
        elif _style_names(part) & {"title"} and not title:
            title = part.text.strip()
        elif (level := _level(part)) is not None:
            outline.heading(level, part.text)
        else:
            outline.text(_paragraph(part))
    return Reading(outline.sections(), title)


def _body(file: WordFile) -> Iterator[Paragraph | Table]:
    yield from file.iter_inner_content()


def _paragraph(paragraph: Paragraph) -> str:
    listed = _xml(paragraph).find("./w:pPr/w:numPr", _NAMES) is not None
    return f"- {paragraph.text}" if listed and paragraph.text.strip() else paragraph.text


def _xml(part: Paragraph | ParagraphStyle) -> Element:
    """The part's own XML: list marks and outline levels have no public name in python-docx."""
    return cast(Element, part.element if isinstance(part, ParagraphStyle) else part._element)  # pyright: ignore[reportUnknownMemberType, reportPrivateUsage]  untyped lxml


def _style_names(paragraph: Paragraph) -> set[str]:
    style = paragraph.style
    return {(style.name or "").lower(), style.style_id.lower()} if style is not None else set()


def _level(paragraph: Paragraph) -> int | None:
    """The heading level: by outline level, by style id or name in any language, by numbering."""
    if not paragraph.text.strip():
        return None
    levels = [_xml(part).find("./w:pPr/w:outlineLvl", _NAMES) for part in _styled(paragraph)]
    outlined = [int(found.get(_VALUE, "9")) for found in levels if found is not None]
    if outlined and outlined[0] < 9:
        return outlined[0] + 1
    for part in _styled(paragraph):
        if isinstance(part, ParagraphStyle):
            named = _HEADING_NAME.match(part.style_id) or _HEADING_NAME.match(part.name or "")
            if named:
                return int(named.group(1))
    return _bold_numbering(paragraph)


def _styled(paragraph: Paragraph) -> Iterator[Paragraph | ParagraphStyle]:
    """The paragraph and its styles, nearest first."""
    yield paragraph
    style: object = paragraph.style
    while isinstance(style, ParagraphStyle):
        yield style
        style = style.base_style


def _bold_numbering(paragraph: Paragraph) -> int | None:
    bold = [run.bold for run in paragraph.runs if run.text.strip()]
    return numbered_heading(paragraph.text) if bold and all(bold) else None


def _table(table: Table) -> Block:
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        return Block("", "table")
    caption = filled.pop(0)[0] if len(filled) > 2 and len(set(filled[0])) == 1 else ""
    block = table_block(filled[0], filled[1:])
    return Block(f"{caption}\n{block.text}" if caption else block.text, "table")

"""PowerPoint: each slide a section under its number and title, tables by name, notes below."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, cast

import pptx
from pptx.exc import PythonPptxError
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from rag.documents import Block, DocumentRefused, Reading
from rag.loaders.archive import check_archive
from rag.loaders.outline import Outline, table_block


def load_slides(data: bytes, beat: Callable[[], None]) -> Reading:
    """The visible slides in order, the words of a slide in the order in which they were drawn.

    Raises:
        DocumentRefused: the archive is broken, unpacks too large, or is no presentation.
    """
    check_archive(data)
    try:
        deck = pptx.Presentation(io.BytesIO(data))
    except (PythonPptxError, KeyError, SyntaxError, zipfile.BadZipFile) as error:
        raise DocumentRefused("damaged", "open it in PowerPoint and save it again") from error
    outline = Outline()
    for number, slide in enumerate(deck.slides, start=1):
        beat()
        if cast("Any", slide.element).get("show") != "0":
            _slide(outline, number, slide)
    return Reading(outline.sections(), deck.core_properties.title.strip())


def _slide(outline: Outline, number: int, slide: Slide) -> None:
    title = slide.shapes.title
    words = title.text_frame.text if title is not None else ""
    outline.heading(1, f"{number}. {words}".strip())
    _shapes(outline, [s for s in slide.shapes if title is None or s.shape_id != title.shape_id])
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        outline.heading(2, "Notes")
        outline.text(notes.text)


def _shapes(outline: Outline, shapes: Iterable[BaseShape]) -> None:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            _shapes(outline, shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            filled = [row for row in rows if any(text.strip() for text in row)]
            outline.block(table_block(filled[0], filled[1:]) if filled else Block("", "table"))
        elif shape.has_text_frame:
            outline.text(cast("Any", shape).text_frame.text)

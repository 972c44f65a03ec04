"""From a file's bytes to a Reading: the loader is chosen by the name and checked by the bytes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import PurePath

from rag.documents import DocumentRefused, Reading

Beat = Callable[[], None]
"""Called by a loader at each page, row or other step; while it comes, reading may go on."""

LARGEST = 50 * 2**20
"""Bytes of a file that are read at all."""

_READER_FAULTS = (
    *(ValueError, LookupError, TypeError, AttributeError, AssertionError, ArithmeticError),
    *(RecursionError, NotImplementedError, EOFError, struct.error, zlib.error),
)
"""What format libraries raise on hostile or broken bytes beside errors of their own."""

_PDF, _ZIP, _OLE = b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_OFFICE = {".docx": "Word", ".xlsx": "Excel", ".xlsm": "Excel", ".pptx": "PowerPoint"}


def go_on() -> None:
    """The beat where nobody watches how long a step takes."""


def load(name: str, data: bytes, beat: Beat = go_on) -> Reading:
    """Read a file's bytes by the format that its name says; `beat` is called at each step of it.

    Raises:
        DocumentRefused: empty, too large, of an unread type, or not what the name says.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in _FORMATS:
        raise DocumentRefused(
            "type not read", f"save it as one of {', '.join(sorted(_FORMATS))} and add that"
        )
    check_size(len(data))
    _check_first_bytes(suffix, data)
    try:
        reading = _FORMATS[suffix](data, beat)
    except _READER_FAULTS as error:
        raise DocumentRefused("damaged", "open it and save or export it again") from error
    if not reading.text.strip():
        raise DocumentRefused("no text", "add text to the document, or leave it out")
    return reading


def reads(name: str) -> bool:
    """Whether there is a loader for files of this name."""
    return PurePath(name).suffix.lower() in _FORMATS


def check_size(size: int) -> None:
    """Refuse by size alone, before a byte is read.

    Raises:
        DocumentRefused: the file is empty or larger than LARGEST.
    """
    if size == 0:
        raise DocumentRefused("empty", "the file has no bytes; export or copy it again")
    if size > LARGEST:
        raise DocumentRefused("too large", f"split it into files under {LARGEST // 2**20} MB")


def _check_first_bytes(suffix: str, data: bytes) -> None:
    if suffix == ".pdf" and _PDF not in data[:1024]:
        raise DocumentRefused("not what its name says", "it is no PDF; export it as PDF again")
    office = _OFFICE.get(suffix)
    if office and data.startswith(_OLE):
        raise DocumentRefused(
            "needs a password",
            f"it is encrypted or of an old format; save it without a password as {suffix}",
        )
    if office and not data.startswith(_ZIP):
        raise DocumentRefused(
            "not what its name says",
            f"it is no {office} file; save it as {suffix}, or name it .txt",
        )
    if suffix != ".pdf" and not office and data.startswith((_PDF, _ZIP, _OLE)):
        raise DocumentRefused("not what its name says", "give the file the ending of its format")


# Each format's libraries are loaded when the first file of that format comes.
def _markdown(data: bytes, _beat: Beat) -> Reading:
    from rag.loaders.markdown import load_markdown

    return load_markdown(data)


def _text(data: bytes, _beat: Beat) -> Reading:
    from rag.loaders.plain_text import load_text

    return load_text(data)


def _html(data: bytes, _beat: Beat) -> Reading:
    from rag.loaders.web_page import load_html

    return load_html(data)


def _pdf(data: bytes, beat: Beat) -> Reading:
    from rag.loaders.pdf_file import load_pdf

    return load_pdf(data, beat)


def _word(data: bytes, beat: Beat) -> Reading:
    from rag.loaders.word_file import load_word

    return load_word(data, beat)


def _excel(data: bytes, beat: Beat) -> Reading:
    from rag.loaders.excel_file import load_excel

    return load_excel(data, beat)


def _slides(data: bytes, beat: Beat) -> Reading:
    from rag.loaders.slides_file import load_slides

    return load_slides(data, beat)


_FORMATS: dict[str, Callable[[bytes, Beat], Reading]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _text,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
    ".docx": _word,
    ".xlsx": _excel,
    ".xlsm": _excel,
    ".pptx": _slides,
}

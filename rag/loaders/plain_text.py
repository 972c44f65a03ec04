"""Plain text in whatever encoding it came."""

from __future__ import annotations

import codecs

from charset_normalizer import from_bytes

from rag.documents import DocumentRefused, Reading
from rag.loaders.outline import plain_sections
from rag.text import REPLACEMENT, clean_text

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EAST_ASIAN = ("gb18030", "big5", "shift_jis", "euc_kr")
_COMMON_SHARE = 0.8
"""Share of the non-ASCII characters that must be everyday ones for an East Asian guess."""


def load_text(data: bytes) -> Reading:
    """Text with headings known by their numbering."""
    return Reading(plain_sections(decode(data)))


def decode(data: bytes) -> str:
    """The text of some bytes, cleaned.

    The order is: byte order mark, UTF-8, an East Asian encoding whose reading is everyday text,
    the best guess of charset-normalizer. GBK text of a few words is too short for statistics, hence
    the third step.

    Raises:
        DocumentRefused: the bytes are no text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return clean_text(data.decode(encoding, "replace"))
    if b"\x00" in data[:4096]:
        raise DocumentRefused("not what its name says", "it is no text file; save it as UTF-8 text")
    try:
        return clean_text(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        if error.end >= len(data) and error.start >= len(data) - 3:
            return clean_text(data[: error.start].decode("utf-8") + REPLACEMENT)
    return clean_text(_guess(data))


def _guess(data: bytes) -> str:
    for encoding in _EAST_ASIAN:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _everyday_share(text) >= _COMMON_SHARE:
            return text
    best = from_bytes(data).best()
    if best is None:
        raise DocumentRefused("damaged", "its encoding is not recognised; save it as UTF-8 text")
    return str(best)


def _everyday_share(text: str) -> float:
    """The part of the non-ASCII characters that are everyday Chinese, kana or punctuation."""
    foreign = [c for c in text if c > "\x7f"]
    return sum(map(_everyday, foreign)) / len(foreign) if foreign else 0.0


def _everyday(char: str) -> bool:
    if "\u3000" <= char <= "\u30ff" or "\uff00" <= char <= "\uffef" or char in "“”‘’—…·":
        return True
    try:
        simplified = char.encode("gb2312")[0]
    except UnicodeEncodeError:
        simplified = 0
    try:
        traditional = char.encode("big5")[0]
    except UnicodeEncodeError:
        traditional = 0
    return 0xB0 <= simplified <= 0xD7 or 0xA4 <= traditional <= 0xC6

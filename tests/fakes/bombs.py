"""Small hostile files of every format that is read: they unpack, nest, loop or claim without end.

As a program (`python -m tests.fakes.bombs FOLDER`) it reads every file of a folder with a reader of
its own and prints `{"files": {name: [outcome, CPU seconds]}, "peak": bytes}`.
"""

from __future__ import annotations

import io
import json
import random
import resource
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import docx
import openpyxl
import pptx

from rag.documents import DocumentRefused
from rag.loaders.isolated import IsolatedReader

MANY = 200 * 2**20
_ENTITIES = '<!DOCTYPE x [<!ENTITY a0 "lol">' + "".join(
    f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)
)


def bombs() -> Iterator[tuple[str, bytes]]:
    """Name and bytes; none is larger than a few megabytes, but one that is too large."""
    yield from _word()
    yield from _excel()
    yield from _slides()
    yield from _pdf()
    yield from _text()


def _word() -> Iterator[tuple[str, bytes]]:
    whole = io.BytesIO()
    docx.Document().save(whole)
    part = "word/document.xml"
    body = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    yield "inflates.docx", _with(whole, {part: bytes(MANY)})
    yield "deep.docx", _with(whole, {part: body + b"<w:p>" * 500_000})
    yield "entities.docx", _with(whole, {part: _ENTITIES.encode() + b"]><x>&a9;</x>"})
    cells = b"<w:tbl>" + b"<w:tr><w:tc><w:p/></w:tc></w:tr>" * 300_000 + b"</w:tbl>"
    yield "table.docx", _with(whole, {part: body + b"<w:body>" + cells + b"</w:body></w:document>"})
    yield "lies.docx", _lying(_with(whole, {part: bytes(MANY)}))


def _excel() -> Iterator[tuple[str, bytes]]:
    whole = io.BytesIO()
    book = openpyxl.Workbook()
    book.worksheets[0].append(["text"])
    book.save(whole)
    part = "xl/worksheets/sheet1.xml"
    head = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b'<dimension ref="A1:XFD1048576"/><sheetData>'
    )
    end = b"</sheetData></worksheet>"
    far = b'<row r="999999999"><c r="A999999999"><v>1</v></c></row>'
    wide = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 9999))
    yield "inflates.xlsx", _with(whole, {part: head + bytes(MANY)})
    yield "far_row.xlsx", _with(whole, {part: head + far + end})
    yield "wide_rows.xlsx", _with(whole, {part: head + wide + end})
    strings = _ENTITIES.encode() + b"]><sst><si><t>&a9;</t></si></sst>"
    yield "entities.xlsx", _with(whole, {"xl/sharedStrings.xml": strings})


def _slides() -> Iterator[tuple[str, bytes]]:
    whole = io.BytesIO()
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[6])
    deck.save(whole)
    part = "ppt/slides/slide1.xml"
    names = (
        b'<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">'
        b"<p:cSld><p:spTree>"
    )
    groups = b"<p:grpSp>" * 200 + b"</p:grpSp>" * 200
    end = b"</p:spTree></p:cSld></p:sld>"
    yield "inflates.pptx", _with(whole, {part: names + bytes(MANY)})
    yield "groups.pptx", _with(whole, {part: names + groups + end})


def _pdf() -> Iterator[tuple[str, bytes]]:
    yield "inflates.pdf", pdf_page(zlib.compress(b" " * MANY), "/Filter /FlateDecode")
    twice = zlib.compress(zlib.compress(bytes(4 * MANY), 9), 9)
    yield "twice.pdf", pdf_page(twice, "/Filter [/FlateDecode /FlateDecode]")
    lines = zlib.compress(b"0 0 m 9 9 l S\n" * 400_000)
    yield "lines.pdf", pdf_page(lines, "/Filter /FlateDecode")
    yield "pages.pdf", pdf_page(b"", "", kids="3 0 R " * 300_000)
    yield "own_parent.pdf", pdf_page(b"", "", kids="2 0 R 3 0 R")
    yield "nested.pdf", pdf_page(b"[" * 400_000, "")
    yield (
        "image.pdf",
        pdf_page(b"BI /W 99999 /H 99999 /BPC 8 /CS /RGB ID " + bytes(999) + b" EI", ""),
    )


def _text() -> Iterator[tuple[str, bytes]]:
    yield "deep.html", b"<div>" * 400_000
    yield "tables.html", b"<table><tr><td>" * 50_000
    yield "quotes.md", b">" * 100_000 + b" x"
    yield "brackets.md", b"[" * 60_000 + b"](" * 60_000
    anchors = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    yield "aliases.md", f"---\n{anchors}title: A\n---\ntext".encode()
    yield "yaml.md", b"---\na: " + b"[" * 100_000 + b"\n---\ntext"
    yield "json.txt", b"[" * 2_000_000
    yield "noise.txt", random.Random(5).randbytes(3_000_000).replace(b"\0", b"x")
    yield "large.txt", b"x" * (51 * 2**20)


def pdf_page(content: bytes, filters: str, kids: str = "3 0 R") -> bytes:
    """A PDF with one page of this content stream; found without a table of references."""
    stream = f"<< /Length {len(content)} {filters} >>".encode()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count 1 /Kids [{kids}] >>".encode(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>",
        stream + b"\nstream\n" + content + b"\nendstream",
    )
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 5\n0000000000 65535 f \n"
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % table)


def _with(whole: io.BytesIO, parts: Mapping[str, bytes]) -> bytes:
    """The archive with these parts in place of its own."""
    out = io.BytesIO()
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), *parts]):
            new.writestr(name, parts.get(name) or old.read(name))
    return out.getvalue()


def _lying(archive: bytes) -> bytes:
    """The same with entries that say they unpack to a kilobyte."""
    size = MANY.to_bytes(4, "little")
    return archive.replace(size, (1024).to_bytes(4, "little"))


def main() -> None:
    """Read a folder's files, each with a process of its own, and print what they cost."""
    done: dict[str, tuple[str, float]] = {}
    for path in sorted(Path(sys.argv[1]).iterdir()):
        before = _cpu()
        with IsolatedReader() as reader:
            try:
                outcome = f"read {len(reader.read(path).text)}"
            except DocumentRefused as refusal:
                outcome = refusal.reason
        done[path.name] = outcome, round(_cpu() - before, 2)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"files": done, "peak": peak}))  # noqa: T201  its answer


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

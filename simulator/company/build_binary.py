"""Writes the Word and PDF documents of the sample company from the texts in binary_sources.json.

Run it after a change of the texts: `python simulator/company/build_binary.py`.
"""

from __future__ import annotations

import html
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Required, TypedDict, cast

from docx import Document

HERE = Path(__file__).resolve().parent
CHROMIUM = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
]


class Part(TypedDict, total=False):
    """One heading with what stands below it; `rows` is a table whose first row is its head."""

    heading: Required[str]
    text: list[str]
    steps: list[str]
    rows: list[list[str]]


class Source(TypedDict):
    """One document: `file` below kb/, its title and its parts."""

    file: str
    title: str
    parts: list[Part]


def write_word(source: Source, target: Path) -> None:
    """Real headings, numbered lists and tables, as Word users write them."""
    document = Document()
    document.add_heading(source["title"], 0)
    for part in source["parts"]:
        document.add_heading(part["heading"], 1)
        for paragraph in part.get("text", []):
            document.add_paragraph(paragraph)
        for step in part.get("steps", []):
            document.add_paragraph(step, style="List Number")
        rows = part.get("rows", [])
        if rows:
            table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
            for cells, values in zip(table.rows, rows, strict=True):
                for cell, value in zip(cells.cells, values, strict=True):
                    cell.text = value
    document.save(str(target))


def page(source: Source) -> str:
    """The document as one HTML page to be printed."""
    out = ["<meta charset='utf-8'><style>table{border-collapse:collapse}td{border:1px solid;"]
    out.append(f"padding:4px}}</style><h1>{html.escape(source['title'])}</h1>")
    for part in source["parts"]:
        out.append(f"<h2>{html.escape(part['heading'])}</h2>")
        out += [f"<p>{html.escape(text)}</p>" for text in part.get("text", [])]
        steps = "".join(f"<li>{html.escape(step)}</li>" for step in part.get("steps", []))
        out.append(f"<ol>{steps}</ol>" if steps else "")
        lines = (
            "".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in part.get("rows", [])
        )
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        out.append(f"<table>{table}</table>" if table else "")
    return "".join(out)


def write_pdf(source: Source, target: Path) -> None:
    """Printed by Chromium, so that fonts are embedded and text can be extracted."""
    with tempfile.TemporaryDirectory() as folder:
        paper = Path(folder) / "page.html"
        paper.write_text(page(source), "utf-8")
        subprocess.run(  # noqa: S603 - a fixed program and our own file
            [
                *CHROMIUM,
                f"--user-data-dir={folder}/profile",
                f"--print-to-pdf={target}",
                str(paper),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


def main() -> None:
    """Writes every document of binary_sources.json."""
    sources = cast("list[Source]", json.loads((HERE / "binary_sources.json").read_text("utf-8")))
    for source in sources:
        target = HERE / "kb" / source["file"]
        write = write_word if target.suffix == ".docx" else write_pdf
        write(source, target)


if __name__ == "__main__":
    main()

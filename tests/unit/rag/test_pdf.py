"""PDF pages become one text in reading order. The files are written here, line by line."""

from __future__ import annotations

from rag.loaders import load

Line = tuple[float, float, float, str]
"""x, y from the bottom, letter size, words."""


def pdf(*pages: list[Line]) -> bytes:
    """A PDF with Helvetica text at given places."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, lines in enumerate(pages):
        drawn = "\n".join(f"BT /F1 {s} Tf {x} {y} Td ({t}) Tj ET" for x, y, s, t in lines)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * n} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    out, places = "%PDF-1.4\n", list[int]()
    for n, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{n} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return (out + f"xref\n0 {size}\n0000000000 65535 f \n{table}" + tail).encode("latin-1")


def test_a_sentence_over_two_pages_stays_one() -> None:
    first: list[Line] = [(50, 750, 20, "Travel"), (50, 700, 10, "The limit for a night in a hotel")]
    second: list[Line] = [(50, 750, 10, "in Berlin is 165 euro including breakfast.")]
    reading = load("a.pdf", pdf(first, second))
    assert reading.sections[0].path == ("Travel",)
    assert reading.text == (
        "The limit for a night in a hotel in Berlin is 165 euro including breakfast."
    )


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [(50.0, 700.0 - 15 * n, 10.0, f"left line number {n} goes on") for n in range(8)]
    right = [(330.0, 700.0 - 15 * n, 10.0, f"right line number {n} goes on") for n in range(8)]
    text = load("a.pdf", pdf([*left, *right])).text
    assert text.index("left line number 7") < text.index("right line number 0")
    assert "left line number 0 goes on left line number 1" in text

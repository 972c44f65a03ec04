"""HTML pages: headings, paragraphs, lists, tables; navigation and scripts left out."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag

from rag.documents import Block, DocumentRefused, Reading
from rag.loaders.outline import Outline, table_block
from rag.loaders.plain_text import decode

_UNREAD = ("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form")
_GROUPS = frozenset(
    (
        *("html", "body", "main", "article", "section", "div", "p", "ul", "ol", "dl"),
        *("blockquote", "figure", "details", "td", "th"),
    )
)
_HEADING = re.compile(r"h[1-6]")
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_DEEPEST = 200


def load_html(data: bytes) -> Reading:
    """The page's text in reading order.

    Raises:
        DocumentRefused: the page is nested deeper than a page for people is.
    """
    soup = BeautifulSoup(_decode(data), "html.parser")
    for unread in soup(_UNREAD):
        unread.decompose()
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    if soup.head:
        soup.head.decompose()
    outline = Outline()
    _walk(outline, soup.body or soup, 0)
    return Reading(outline.sections(), title)


def _decode(data: bytes) -> str:
    named = _CHARSET.search(data[:2048])
    try:
        return data.decode(named.group(1).decode("ascii")) if named else decode(data)
    except (LookupError, UnicodeDecodeError):
        return decode(data)


def _walk(outline: Outline, parent: Tag, depth: int) -> None:
    if depth > _DEEPEST:
        raise DocumentRefused("damaged", "its elements are nested too deep; save the page again")
    words: list[str] = []
    for child in parent.children:
        if isinstance(child, Tag) and (child.name in _GROUPS or _own_block(child)):
            _flush(outline, words)
            _take(outline, child, depth)
        else:
            words.append(_words(child))
    _flush(outline, words)


def _own_block(tag: Tag) -> bool:
    return bool(_HEADING.fullmatch(tag.name)) or tag.name in ("table", "pre", "li", "dt", "dd")


def _take(outline: Outline, tag: Tag, depth: int) -> None:
    if _HEADING.fullmatch(tag.name):
        outline.heading(int(tag.name[1]), tag.get_text())
    elif tag.name == "table":
        outline.block(_table(tag))
    elif tag.name == "pre":
        outline.block(Block(tag.get_text(), "code"))
    elif tag.name in ("ul", "ol") and not tag.find(("table", "pre", "ul", "ol")):
        items = (" ".join(li.get_text().split()) for li in tag.find_all("li"))
        outline.text("\n".join(f"- {item}" for item in items if item))
    else:
        _walk(outline, tag, depth + 1)


def _words(element: PageElement) -> str:
    if isinstance(element, Tag):
        return "\n" if element.name == "br" else element.get_text()
    return str(element) if type(element) is NavigableString else ""


def _flush(outline: Outline, words: list[str]) -> None:
    lines = (" ".join(line.split()) for line in "".join(words).split("\n"))
    outline.text(" ".join(line for line in lines if line))
    words.clear()


def _table(table: Tag) -> Block:
    rows = [[cell.get_text(" ") for cell in row.find_all(("td", "th"))] for row in table("tr")]
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    return table_block(filled[0], filled[1:]) if filled else Block("", "table")

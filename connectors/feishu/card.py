"""Answer cards as card JSON 2.0: header by state, text, progress, sources (FEISHU.md §4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.domain import Language, Source
from agent.ports import Control, Frame
from connectors import wording
from connectors.feishu.markup import (
    TABLES,
    card_writer,
    plain_writer,
    safe_url,
    without_schemes,
)
from connectors.markup.pages import pages
from connectors.markup.renderer import document
from connectors.markup.tree import Block, CitationMark, Words, own_line

LIMIT: Final = 28_000
"""Bytes of a card's JSON; the platform takes about 30 KB."""
TEXT_LIMIT: Final = 20_000
"""Bytes of an answer's text on one card, with room for sources, notice and the JSON around."""
ANSWER: Final = "answer"
PROGRESS: Final = "progress"
_SOURCES_LIMIT: Final = 5_000
_SUMMARY: Final = 60
_COLOURS: Final[dict[wording.CardState, str]] = {
    "working": "blue",
    "done": "green",
    "refused": "grey",
    "failed": "red",
}

Card = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CardText:
    """What stands on one card of a finished answer."""

    text: str
    sources: str = ""
    notice: str = ""
    controls: tuple[Control, ...] = ()


def size(text: str) -> int:
    """Bytes of a text inside a card's JSON, which is sent as a string of JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def streaming_card(language: Language, text: str, progress: str) -> Card:
    """The card of an answer that is being written."""
    return _card(
        language,
        "working",
        [_markdown(ANSWER, text), _markdown(PROGRESS, progress, small=True)],
        streaming=True,
    )


def final_card(language: Language, state: wording.CardState | None, content: CardText) -> Card:
    """The card of a finished answer; without a state it has no heading."""
    elements = [_markdown(ANSWER, content.text)] if content.text else []
    if content.notice:
        elements.append(_markdown("notice", content.notice, small=True))
    if content.sources:
        elements.append({"tag": "hr", "element_id": "line"})
        elements.append(_markdown("sources", content.sources, small=True))
    if content.controls:
        elements.append(button_row(content.controls))
    return _card(language, state, elements or [_markdown(ANSWER, " ")], streaming=False)


def note_card(text: str, controls: Sequence[Control]) -> Card:
    """A card of our own words with buttons, without a header."""
    return {
        "schema": "2.0",
        "config": {"update_multi": True},
        "body": {"elements": [_markdown("note", plain(text)), button_row(controls)]},
    }


def button_row(controls: Sequence[Control]) -> Card:
    """Buttons beside each other; each opens its page or carries action and turn (FEISHU.md 2.6)."""
    return {
        "tag": "column_set",
        "element_id": "controls",
        "flex_mode": "flow",
        "horizontal_spacing": "8px",
        "columns": [
            {"tag": "column", "width": "auto", "elements": [_button(n, control)]}
            for n, control in enumerate(controls)
        ],
    }


def _button(number: int, control: Control) -> Card:
    return {
        "tag": "button",
        "element_id": f"control{number}",
        "text": {"tag": "plain_text", "content": control.label},
        "type": "default",
        "size": "small",
        "behaviors": [_behavior(control)],
    }


def _behavior(control: Control) -> Card:
    if control.url:
        return {"type": "open_url", "default_url": control.url}
    return {"type": "callback", "value": {"a": control.action, "t": control.turn}}


def summary(language: Language, state: wording.CardState | None, text: str) -> str:
    """What the chat list shows for the card: its title, or how our own words begin."""
    if state is not None:
        return wording.state_title(language, state)
    return " ".join(text.split())[:_SUMMARY]


def _card(
    language: Language, state: wording.CardState | None, elements: list[Card], *, streaming: bool
) -> Card:
    config: Card = {"streaming_mode": streaming, "update_multi": True}
    body: Card = {"elements": elements}
    if state is None:
        return {"schema": "2.0", "config": config, "body": body}
    title = wording.state_title(language, state)
    return {
        "schema": "2.0",
        "config": config | {"summary": {"content": title}},
        "header": {
            "title": {"tag": "plain_text", "content": title},
            "template": _COLOURS[state],
        },
        "body": body,
    }


def _markdown(element_id: str, content: str, *, small: bool = False) -> Card:
    element: Card = {"tag": "markdown", "element_id": element_id, "content": content}
    return element | {"text_size": "notation"} if small else element


def card_texts(frame: Frame, tables: int = TABLES) -> tuple[CardText, ...]:
    """A finished answer as the texts of one or more cards; sources and notice on the last.

    Args:
        frame: the last frame.
        tables: how many native tables a card may have; 0 shows all as code.
    """
    blocks, numbering = document(frame.text, frame.sources or {})

    def written(run: Sequence[Block]) -> int:
        return size(card_writer(tables).blocks(run))

    texts = [card_writer(tables).blocks(page) for page in pages(blocks, written, TEXT_LIMIT)]
    sources = source_list(frame.language, numbering.cited)
    notice = plain(frame.notice)
    more = plain(wording.goes_on(frame.language))
    return (
        *(CardText(text, notice=more) for text in texts[:-1]),
        CardText(texts[-1], sources, notice, tuple(frame.controls)),
    )


def plain_text(frame: Frame) -> str:
    """A finished answer as the words of a text message, for when no card is taken."""
    blocks, numbering = document(frame.text, frame.sources or {})
    writer = plain_writer()
    sources = (
        writer.inline((Words(f"[{n}] {source.title or source.source}"),))
        for n, source in enumerate(numbering.cited, 1)
    )
    notice = "\n".join(writer.inline((Words(line),)) for line in frame.notice.split("\n"))
    parts = (writer.blocks(blocks), "\n".join(sources), notice)
    return without_schemes("\n\n".join(part for part in parts if part))


def plain(text: str) -> str:
    """Words of our own as card markdown: nothing in them is a mark, permissions are code."""
    lines = text.split("\n")
    return "\n".join(card_writer().inline(own_line(line)) for line in lines)


def source_list(language: Language, cited: Sequence[Source]) -> str:
    """The numbered sources with icon, title, kind, date and link; "" without any."""
    if not cited:
        return ""
    lines = [f"**{wording.sources_title(language)}**"]
    for n, source in enumerate(cited, 1):
        line = _source_line(language, n, source)
        if size("\n".join((*lines, line))) > _SOURCES_LIMIT:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def _source_line(language: Language, n: int, source: Source) -> str:
    number = card_writer().inline((CitationMark(n, ""),), line_start=False)
    icon = wording.source_icon(source.kind, private=source.private)
    words = " ".join((source.title or source.source).split())[:120]
    title = card_writer().inline((Words(words),), line_start=False)
    address = safe_url(source.url)
    shown = f"[{title}]({address})" if address else title
    facts = plain(wording.source_facts(language, source))
    return f"{number} {icon} {shown}" + (f" · {facts}" if facts else "")

"""Slack messages of a finished answer: markdown blocks, or mrkdwn sections when these are refused.

Limits (SLACK.md §3): section 3,000 characters, markdown block 12,000, all blocks of a message about
13,200 together, 50 blocks. A page keeps to 11,000 with its sources and notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent.domain import Language, Source
from agent.ports import Control, Frame
from connectors import wording
from connectors.markup.pages import pages, split_exact
from connectors.markup.renderer import document
from connectors.markup.tree import Block, own_line
from connectors.markup.writer import Writer
from connectors.slack.markup import markdown_writer, mrkdwn_writer, safe_url

PAGE: Final = 11_000
SECTION: Final = 3_000
FALLBACK: Final = 3_000
"""Characters of the text beside blocks, which only notifications show."""
NOTHING: Final = "…"
"""Stands for an answer without any visible word: Slack takes no message without text."""
_SOURCES_LIMIT: Final = 2_800


@dataclass(frozen=True, slots=True)
class Page:
    """One message of a finished answer, written both ways. `tail` is sources and notice, mrkdwn."""

    markdown: str
    mrkdwn: str
    tail: tuple[str, ...] = ()
    controls: tuple[Control, ...] = ()

    @property
    def tail_blocks(self) -> list[dict[str, Any]]:
        """Sources, notice and controls as blocks."""
        return [*map(section, self.tail), *control_blocks(self.controls)]

    def rich(self) -> dict[str, Any]:
        """Text and blocks with standard markdown."""
        blocks = [{"type": "markdown", "text": self.markdown}] if self.markdown else []
        return {"text": self._short(), "blocks": [*blocks, *self.tail_blocks]}

    def sections(self) -> dict[str, Any]:
        """Text and blocks in the older form."""
        texts = split_exact(self.mrkdwn, SECTION)
        return {"text": self._short(), "blocks": [*map(section, texts), *self.tail_blocks]}

    def bare(self) -> dict[str, Any]:
        """Text alone."""
        return {"text": "\n\n".join((self.mrkdwn, *self.tail)), "blocks": []}

    def _short(self) -> str:
        parts = split_exact(self.mrkdwn or "\n".join(self.tail), FALLBACK)
        return parts[0] if parts else NOTHING


def control_blocks(controls: Sequence[Control]) -> list[dict[str, Any]]:
    """Buttons as blocks; an opinion pro and con are Slack's own pair of feedback buttons."""
    named = {control.action: control for control in controls}
    blocks: list[dict[str, Any]] = []
    if "helpful" in named and "unhelpful" in named:
        pair = {
            "type": "feedback_buttons",
            "action_id": "plumbline_feedback",
            "positive_button": _choice(named.pop("helpful")),
            "negative_button": _choice(named.pop("unhelpful")),
        }
        blocks.append({"type": "context_actions", "elements": [pair]})
    if named:
        buttons = [
            {"type": "button", "action_id": f"plumbline_{c.action}", **_choice(c), **_address(c)}
            for c in named.values()
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return blocks


def _choice(control: Control) -> dict[str, Any]:
    return {
        "text": {"type": "plain_text", "text": control.label},
        "value": f"{control.action} {control.turn}",
        "accessibility_label": control.label,
    }


def _address(control: Control) -> dict[str, Any]:
    return {"url": control.url} if control.url else {}


def section(text: str) -> dict[str, Any]:
    """A section block."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def answer_pages(frame: Frame) -> tuple[Page, ...]:
    """A finished answer as one or more messages; sources and notice stand on the last."""
    blocks, numbering = document(frame.text, frame.sources or {})
    rich, plain = markdown_writer(), mrkdwn_writer()
    tail = tuple(
        text
        for text in (source_list(frame.language, numbering.cited), own_words(frame.notice))
        if text
    )

    def written(run: Sequence[Block]) -> int:
        return max(len(rich.blocks(run)), len(plain.blocks(run)))

    cut = pages(blocks, written, PAGE - sum(map(len, tail)))
    return tuple(
        Page(rich.blocks(page), plain.blocks(page))
        if n < len(cut) - 1
        else Page(rich.blocks(page), plain.blocks(page), tail, tuple(frame.controls))
        for n, page in enumerate(cut)
    )


def own_words(text: str, writer: Writer | None = None) -> str:
    """Words of our own in mrkdwn (or by `writer`): no mark, no address, permissions as code."""
    used = writer or mrkdwn_writer()
    return "\n".join(used.inline(own_line(line)) for line in text.split("\n"))


def source_list(language: Language, cited: Sequence[Source]) -> str:
    """The numbered sources with icon, title, kind, date and link; "" without any."""
    if not cited:
        return ""
    text = f"*{wording.sources_title(language)}*"
    for n, source in enumerate(cited, 1):
        line = _source_line(language, n, source)
        if len(text) + len(line) > _SOURCES_LIMIT:
            return text + "\n…"
        text += "\n" + line
    return text


def _source_line(language: Language, n: int, source: Source) -> str:
    icon = wording.source_icon(source.kind, private=source.private)
    words = " ".join((source.title or source.source).split())[:120]
    address = safe_url(source.url).replace("&", "&amp;")
    facts = own_words(wording.source_facts(language, source))
    title = own_words(words)
    shown = f"<{address}|{title.replace('`', '').replace('|', '¦')}>" if address else title
    return f"[{n}] {icon} {shown}" + (f" · {facts}" if facts else "")

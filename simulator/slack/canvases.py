"""Documents and meeting notes as canvases, and their text (SLACK.md section 5)."""

import hashlib
import html
from dataclasses import dataclass
from typing import Any

from simulator.company import Company, Meeting
from simulator.slack.call import Call, Method
from simulator.slack.errors import SlackError
from simulator.state.workspace import BOT

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Canvas:
    """One canvas; readers None means everyone."""

    id: str
    title: str
    owner: str
    readers: tuple[str, ...] | None
    updated: float
    text: str

    def open_to(self, login: str) -> bool:
        """Whether a person (or the bot) may read it."""
        return self.readers is None or (login != BOT and login in (self.owner, *self.readers))


def _id(key: str) -> str:
    return "F0" + hashlib.sha256(key.encode()).hexdigest()[:9].upper()


def _notes(company: Company, meeting: Meeting) -> str:
    chapters = [f"## {row['title']}\n{row['text']}" for row in meeting.chapters]
    todos = [f"- [ ] {row['text']}" for row in meeting.todos]
    said = [f"**{company.shown(row['speaker'])}**: {row['text']}" for row in meeting.transcript]
    return "\n\n".join([f"# {meeting.title}", meeting.summary, *chapters, "\n".join(todos), *said])


def all_canvases(company: Company) -> list[Canvas]:
    """Return the documents and the notes of the meetings as canvases."""
    papers = [
        Canvas(_id(d.id), d.title, d.owner, d.readers, d.updated, f"# {d.title}\n\n{d.text}")
        for d in company.documents
    ]
    notes = [
        Canvas(_id(m.token), m.title, m.owner, m.participants, m.started, _notes(company, m))
        for m in company.meetings
    ]
    return papers + notes


def get_content(call: Call) -> Json:
    """canvases.getContent as markdown or html.

    Raises:
        SlackError: canvas_not_found, also for one the caller may not read.
    """
    wanted = call.need("canvas_id", "canvas_not_found")
    for canvas in all_canvases(call.side.world.company):
        if canvas.id == wanted and canvas.open_to(call.caller):
            kind = call.text("content_type") or "markdown"
            if kind not in {"markdown", "html"}:
                raise SlackError("invalid_content_type")
            text = canvas.text if kind == "markdown" else f"<pre>{html.escape(canvas.text)}</pre>"
            return {"content": text}
    raise SlackError("canvas_not_found")


METHODS = {"canvases.getContent": Method(get_content)}

"""Load the invented company: people, chats, documents and minutes from simulator/company/."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DATA = Path(__file__).parent / "company"


@dataclass(frozen=True, slots=True)
class Person:
    """One employee with the ids both platforms know the person by."""

    login: str
    name: str
    name_zh: str
    title: str
    title_zh: str
    department: str
    language: str
    time_zone: str
    groups: tuple[str, ...]
    open_id: str
    union_id: str
    user_id: str
    slack_id: str
    avatar_color: str

    @property
    def shown(self) -> str:
        """The name colleagues see: Chinese for Chinese speakers."""
        return self.name_zh if self.language == "zh" else self.name


@dataclass(frozen=True, slots=True)
class Document:
    """One personal or team document; readers None means everyone in the company."""

    id: str
    type: str
    title: str
    owner: str
    readers: tuple[str, ...] | None
    updated: float
    url: str
    space: str
    text: str

    def open_to(self, login: str) -> bool:
        """Whether a person may read it."""
        return self.readers is None or login == self.owner or login in self.readers


@dataclass(frozen=True, slots=True)
class Meeting:
    """One recorded meeting; chapters, todos and transcript are the raw rows of minutes.json."""

    token: str
    title: str
    owner: str
    participants: tuple[str, ...]
    started: float
    duration_s: int
    url: str
    summary: str
    chapters: tuple[Json, ...]
    todos: tuple[Json, ...]
    transcript: tuple[Json, ...]

    def open_to(self, login: str) -> bool:
        """Whether a person may read it: owner and participants."""
        return login == self.owner or login in self.participants


@dataclass(frozen=True, slots=True)
class Company:
    """Everything the data folder holds; chats stay raw because each platform reads its half."""

    people: tuple[Person, ...]
    chats: tuple[Json, ...]
    documents: tuple[Document, ...]
    meetings: tuple[Meeting, ...]

    def person(self, login: str) -> Person | None:
        """Return the person with a login, None for a stranger."""
        return next((p for p in self.people if p.login == login), None)

    def by_id(self, any_id: str) -> Person | None:
        """Return the person behind an open_id, union_id, user_id or Slack id."""
        return next(
            (p for p in self.people if any_id in (p.open_id, p.union_id, p.user_id, p.slack_id)),
            None,
        )

    def shown(self, login: str) -> str:
        """Return the name colleagues see for a login; strangers keep their login."""
        person = self.person(login)
        return person.shown if person else login


def seconds(moment: str) -> float:
    """Read an ISO time or date; a value without zone counts as Shanghai office time."""
    parsed = datetime.fromisoformat(moment)
    if parsed.tzinfo is None:
        parsed = datetime.fromisoformat(f"{parsed.isoformat()}+08:00")
    return parsed.timestamp()


def _rows(folder: Path, name: str) -> list[Json]:
    path = folder / name
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def _person(row: Json) -> Person:
    return Person(
        login=row["login"],
        name=row["name"],
        name_zh=row["name_zh"],
        title=row["title"],
        title_zh=row["title_zh"],
        department=row["department"],
        language=row["language"],
        time_zone=row["time_zone"],
        groups=tuple(row["groups"]),
        open_id=row["feishu"]["open_id"],
        union_id=row["feishu"]["union_id"],
        user_id=row["feishu"]["user_id"],
        slack_id=row["slack"]["user_id"],
        avatar_color=row["avatar_color"],
    )


def _document(row: Json) -> Document:
    readers = row["readers"]
    return Document(
        id=row["id"],
        type=row["type"],
        title=row["title"],
        owner=row["owner"],
        readers=None if readers == "everyone" else tuple(readers),
        updated=seconds(row["updated"]),
        url=row["url"],
        space=row.get("space") or "",
        text=row["text"],
    )


def _meeting(row: Json) -> Meeting:
    return Meeting(
        token=row["token"],
        title=row["title"],
        owner=row["owner"],
        participants=tuple(row["participants"]),
        started=seconds(row["started"]),
        duration_s=int(row["duration_s"]),
        url=row["url"],
        summary=row["summary"],
        chapters=tuple(row["chapters"]),
        todos=tuple(row["todos"]),
        transcript=tuple(row["transcript"]),
    )


def load_company(folder: Path = DATA) -> Company:
    """Read the data folder; documents and minutes may be missing, people may not.

    Raises:
        ValueError: people.json is missing or empty.
    """
    people = tuple(_person(row) for row in _rows(folder, "people.json"))
    if not people:
        raise ValueError(f"{folder / 'people.json'} names nobody: put the company data back")
    return Company(
        people,
        tuple(_rows(folder, "chats.json")),
        tuple(_document(row) for row in _rows(folder, "docs.json")),
        tuple(_meeting(row) for row in _rows(folder, "minutes.json")),
    )

"""The sample company agrees with itself: readers, successors, counts and labelled answers."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

COMPANY = Path(__file__).resolve().parents[2] / "simulator" / "company"
KB = COMPANY / "kb"
SPACES = {"hr", "finance", "it", "product", "incidents", "legal", "facilities"}
KINDS = {"policy", "manual", "faq", "incident", "contract", "product", "guide"}
REQUIRED = {"title", "kind", "language", "version", "status", "updated", "owner", "url"}
BINARY = {".docx", ".pdf"}

Record = dict[str, Any]


def _records(name: str) -> list[Record]:
    return cast("list[Record]", json.loads((COMPANY / name).read_text("utf-8")))


def _groups() -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for person in _records("people.json"):
        for group in person["groups"]:
            groups.setdefault(group, set()).add(person["login"])
    return groups


def _text(path: Path) -> str:
    return path.read_text("gbk" if path.suffix == ".txt" else "utf-8")


def _kb() -> dict[str, tuple[Path, Record, str]]:
    found: dict[str, tuple[Path, Record, str]] = {}
    for path in sorted(KB.glob("*/*")):
        if path.suffix == ".yaml":
            continue
        assert path.name not in found, f"two documents are called {path.name}"
        body = "" if path.suffix in BINARY else _text(path)
        if path.suffix == ".md":
            _, head, body = body.split("---\n", 2)
        else:
            head = path.with_name(path.name + ".meta.yaml").read_text("utf-8")
        found[path.name] = path, cast("Record", yaml.safe_load(head)), body
    return found


def _space_of(path: Path) -> Record:
    return cast("Record", yaml.safe_load((path.parent / "_space.yaml").read_text("utf-8")))


def _allowed(labels: list[str]) -> set[str]:
    people = _records("people.json")
    allowed: set[str] = set()
    for label in labels:
        if label == "everyone":
            return {person["login"] for person in people}
        kind, _, rest = label.partition(":")
        if kind == "group":
            assert rest in _groups(), label
            allowed |= _groups()[rest]
            continue
        one = {
            person["login"]
            for person in people
            if rest
            in (f"feishu:{person['feishu']['open_id']}", f"slack:{person['slack']['user_id']}")
        }
        assert one, f"nobody is {label}"
        allowed |= one
    return allowed


def _sources(asks: str) -> dict[str, tuple[str, set[str]]]:
    """Id to (text, who may read it) of one kind of source."""
    if asks == "kb":
        return {
            name: (body, _allowed(head.get("readers") or _space_of(path)["readers"]))
            for name, (path, head, body) in _kb().items()
        }
    if asks == "chat":
        return {
            chat["id"]: ("\n".join(m["text"] for m in chat["messages"]), set(chat["members"]))
            for chat in _records("chats.json")
        }
    everyone = _allowed(["everyone"])
    if asks == "docs":
        return {
            doc["id"]: (
                doc["text"],
                everyone if doc["readers"] == "everyone" else set(doc["readers"]),
            )
            for doc in _records("docs.json")
        }
    return {
        minutes["token"]: (json.dumps(minutes, ensure_ascii=False), set(minutes["participants"]))
        for minutes in _records("minutes.json")
    }


def test_every_document_states_what_it_is() -> None:
    logins = _allowed(["everyone"])
    for name, (path, head, _) in _kb().items():
        assert set(head) >= REQUIRED, name
        assert path.parent.name in SPACES, name
        assert head["kind"] in KINDS, name
        assert head["language"] in {"zh", "en"}, name
        assert head["status"] in {"current", "obsolete"}, name
        assert head["owner"] in logins, name
        assert _allowed(head.get("readers") or _space_of(path)["readers"]), name


def test_the_knowledge_base_is_large_enough_and_bilingual() -> None:
    documents = _kb()
    languages = Counter(head["language"] for _, head, _ in documents.values())
    assert len(documents) >= 70
    assert 0.4 <= languages["zh"] / len(documents) <= 0.6
    assert {path.parent.name for path, _, _ in documents.values()} == SPACES
    assert sum("readers" in head for _, head, _ in documents.values()) >= 10


def test_an_obsolete_document_names_its_current_successor() -> None:
    documents = _kb()
    obsolete = {n: h for n, (_, h, _) in documents.items() if h["status"] == "obsolete"}
    assert len({head["group"] for head in obsolete.values()}) >= 6
    for name, head in obsolete.items():
        path, successor, _ = documents[head["obsolete_by"]]
        assert successor["status"] == "current", name
        assert successor["group"] == head["group"], name
        assert path.parent == documents[name][0].parent, name
        assert str(successor["updated"]) > str(head["updated"]), name


def test_chats_documents_and_minutes_name_known_people() -> None:
    logins = _allowed(["everyone"])
    chats = _records("chats.json")
    assert sum(chat["feishu"]["kind"] != "direct" for chat in chats) >= 8
    assert any(chat["feishu"]["kind"] == "topic_group" for chat in chats)
    assert sum(len(chat["messages"]) for chat in chats) >= 150
    for chat in chats:
        assert set(chat["members"]) <= logins
        assert {message["author"] for message in chat["messages"]} <= set(chat["members"])
        for place, message in enumerate(chat["messages"]):
            root = message.get("thread")
            assert root is None or (root < place and "thread" not in chat["messages"][root])
    docs, minutes = _records("docs.json"), _records("minutes.json")
    assert len(docs) >= 20
    assert len(minutes) >= 8
    for doc in docs:
        assert doc["readers"] == "everyone" or doc["owner"] in doc["readers"], doc["id"]
    for meeting in minutes:
        assert {part["speaker"] for part in meeting["transcript"]} <= set(meeting["participants"])
        assert all(todo["owner"] in logins for todo in meeting["todos"])
    every_id = [chat["id"] for chat in chats] + [doc["id"] for doc in docs]
    assert len(every_id) == len(set(every_id))


@pytest.mark.parametrize("asks", ["kb", "chat", "docs", "minutes"])
def test_a_labelled_answer_stands_where_the_label_says(asks: str) -> None:
    sources = _sources(asks)
    asked = [question for question in _records("questions.json") if question["asks"] == asks]
    assert asked
    for question in asked:
        assert question["expected"], question["id"]
        assert question["answer_contains"], question["id"]
        together = "\n".join(sources[name][0] for name in question["expected"])
        for value in question["answer_contains"]:
            assert value in together, (question["id"], value)
        if "allowed" in question:
            for name in question["expected"]:
                assert sources[name][1] == set(question["allowed"]), question["id"]
        if question["kind"] == "restricted":
            assert "allowed" in question, question["id"]


def test_an_obsolete_question_expects_only_current_documents() -> None:
    documents = _kb()
    for question in _records("questions.json"):
        if question["asks"] == "kb":
            for name in question["expected"]:
                assert documents[name][1]["status"] == "current", question["id"]


def test_a_conflict_question_has_one_value_in_each_document() -> None:
    documents = _kb()
    for question in _records("questions.json"):
        if question["kind"] == "conflict":
            pairs = zip(question["expected"], question["answer_contains"], strict=True)
            for name, value in pairs:
                assert value in documents[name][2], (question["id"], name)


def test_there_are_enough_questions_of_every_kind() -> None:
    questions = _records("questions.json")
    kinds = Counter(question["kind"] for question in questions)
    least = {"absent": 10, "restricted": 8, "obsolete": 6, "conflict": 6, "cross-language": 8}
    assert len(questions) >= 60
    for kind, number in {**least, "follow-up": 6, "exact-token": 4}.items():
        assert kinds[kind] >= number, kind
    ids = [question["id"] for question in questions]
    assert len(ids) == len(set(ids))
    for question in questions:
        assert (question["kind"] == "follow-up") == ("after" in question), question["id"]
        assert question.get("after", ids[0]) in ids
        assert (question["asks"] == "none") == (question["kind"] == "absent"), question["id"]


def test_the_group_file_lists_exactly_the_people_of_each_group() -> None:
    groups = tomllib.loads((COMPANY / "plumbline.toml").read_text("utf-8"))["groups"]
    assert set(groups) == set(_groups())
    for name, members in groups.items():
        assert _allowed([f"person:{member}" for member in members]) == _groups()[name]
        assert len(members) == 2 * len(_groups()[name])

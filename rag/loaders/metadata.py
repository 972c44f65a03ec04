"""What is known of a document beside its text: front matter, sidecar file, the space's defaults."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar, cast

import yaml

from agent.domain import EVERYONE, DocumentStatus, Language
from rag.documents import Document, DocumentRefused, Reading, source_id
from rag.text import clean_text, language_of

_T = TypeVar("_T", bound=str)

_LABEL = re.compile(r"group:\S(.*\S)?|person:(feishu|slack):[^\s:]+")

SPACE_FILE = "_space.yaml"
SIDECAR_ENDING = ".meta.yaml"
_STATUSES: Mapping[str, DocumentStatus] = {
    "current": "current",
    "obsolete": "obsolete",
    "draft": "draft",
}
_LANGUAGES: Mapping[str, Language] = {"zh": "zh", "en": "en"}


@dataclass(frozen=True, slots=True)
class SpaceDefaults:
    """What a space gives the documents that do not say it themselves.

    Empty `readers` mean that nothing was said of them yet; nobody reads a document of such a space.
    """

    name: str
    readers: frozenset[str] = frozenset()
    kind: str = ""


def parse_properties(text: str) -> dict[str, object]:
    """A YAML mapping with text keys; {} for an empty text.

    Raises:
        DocumentRefused: it is no YAML mapping.
    """
    try:
        value: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        where = str(error).replace("\n", " ")[:120]
        raise _unclear(f"mend the YAML ({where})") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unclear("write it as `name: value` lines")
    return {str(key): item for key, item in cast("dict[object, object]", value).items()}


def space_defaults(folder: Path, name: str) -> SpaceDefaults:
    """What the folder's `_space.yaml` says; the readers are empty when it names none.

    Raises:
        DocumentRefused: the file is no YAML mapping or its readers are no labels.
    """
    path = folder / SPACE_FILE
    values = parse_properties(path.read_text("utf-8")) if path.is_file() else {}
    return SpaceDefaults(name, reader_labels(values.get("readers")), _word(values, "kind"))


def sidecar(path: Path) -> dict[str, object]:
    """The properties in `NAME.meta.yaml` beside a file; {} when there is none.

    Raises:
        DocumentRefused: the sidecar is no YAML mapping.
    """
    beside = path.with_name(path.name + SIDECAR_ENDING)
    return parse_properties(beside.read_text("utf-8")) if beside.is_file() else {}


def describe(
    external: str, reading: Reading, beside: Mapping[str, object], space: SpaceDefaults
) -> Document:
    """The document record: the sidecar wins over the front matter, both over the space.

    Raises:
        DocumentRefused: a value is not understood. Readers are never guessed: a document whose
            readers are not understood is not taken in.
    """
    values = {**reading.properties, **beside}
    successor = _word(values, "obsolete_by")
    status = _one_of(values, "status", _STATUSES) or ("obsolete" if successor else "current")
    own = reader_labels(values.get("readers"))
    title = _word(values, "title") or reading.title or PurePosixPath(external).stem
    return Document(
        source=source_id(space.name, external),
        space=space.name,
        external=external,
        title=title,
        kind=_word(values, "kind") or space.kind,
        language=_one_of(values, "language", _LANGUAGES) or language_of(reading.text),
        version=_word(values, "version"),
        status=status,
        updated=_word(values, "updated"),
        url=_word(values, "url"),
        owner=_word(values, "owner"),
        group=_word(values, "group"),
        obsolete_by=source_id(space.name, _beside(external, successor)) if successor else "",
        readers=own or space.readers,
        inherited=not own,
    )


def _beside(external: str, name: str) -> str:
    return str(PurePosixPath(external).parent / name)


def _word(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (str, int, float)):
        return clean_text(str(value)).strip()
    raise _unclear(f"`{name}` must be one value, not a list")


def _one_of(values: Mapping[str, object], name: str, known: Mapping[str, _T]) -> _T | None:
    word = _word(values, name)
    if word and word not in known:
        raise _unclear(f"`{name}` must be one of {', '.join(known)}")
    return known.get(word)


def reader_labels(value: object) -> frozenset[str]:
    """Reader labels as somebody wrote them; the empty set when none are named.

    Raises:
        DocumentRefused: one of them is no label.
    """
    if value is None:
        return frozenset()
    labels = cast("Sequence[object]", [value] if isinstance(value, str) else value)
    if not isinstance(value, (str, list)) or not labels:
        raise _unclear("`readers` must be a list of labels, or be left out")
    return frozenset(_label(label) for label in labels)


def _label(label: object) -> str:
    if isinstance(label, str) and (label == EVERYONE or _LABEL.fullmatch(label)):
        return label
    raise _unclear(
        "a reader is `everyone`, `group:NAME`, `person:feishu:ou_…` or `person:slack:U…`"
    )


def _unclear(next_step: str) -> DocumentRefused:
    return DocumentRefused("metadata not understood", next_step)

"""The values of the knowledge base: a file's reading, its chunks, and why a file is refused."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent.domain import EVERYONE, DocumentStatus, Language, Passage
from agent.errors import ForPerson

Vectors = NDArray[np.float32]
"""Unit vectors, one a row: (texts, dimensions). A single vector has the shape (dimensions,)."""

RefusalReason = Literal[
    "empty",
    "no text",
    "no text layer",
    "needs a password",
    "damaged",
    "not what its name says",
    "type not read",
    "too large",
    "unpacks too large",
    "needs too much memory",
    "takes too long",
    "metadata not understood",
]


class DocumentRefused(ForPerson):
    """A file is not taken in. `reason` is fixed words, `next_step` is for the uploader."""

    code = "PL-320"

    def __init__(self, reason: RefusalReason, next_step: str) -> None:
        super().__init__(f"{reason}: {next_step}")
        self.reason: RefusalReason = reason
        self.next_step = next_step


class IndexMismatch(ForPerson):
    """The index was built by another embedder, or by a newer version of this program."""

    code = "PL-321"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section: a paragraph, a list, a table of `name: value` lines or code."""

    text: str
    kind: Literal["text", "table", "code"] = "text"


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading. `path` is the headings above it, outermost first."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A file as its loader read it: clean text in reading order, and what the file says of itself.

    `title` is "" when the file names none; `properties` are its front matter, {} for most.
    """

    sections: tuple[Section, ...]
    title: str = ""
    properties: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def text(self) -> str:
        """All words of the body."""
        return "\n\n".join(b.text for s in self.sections for b in s.blocks)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is indexed; every chunk inherits all of it.

    `source` is the id that answers cite, `external` the path under the space's folder.
    `group` joins the versions of one thing, `obsolete_by` is the source id of the successor; both
    may be "". `inherited` says that the readers are the space's. `fingerprint` changes with
    anything that changes the index: bytes, metadata, embedder, chunking.
    """

    source: str
    space: str
    external: str
    title: str
    kind: str = ""
    language: Language = "en"
    version: str = ""
    status: DocumentStatus = "current"
    updated: str = ""
    url: str = ""
    owner: str = ""
    group: str = ""
    obsolete_by: str = ""
    readers: frozenset[str] = frozenset((EVERYONE,))
    inherited: bool = False
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document. The first `overlap` characters repeat the end of the one before."""

    position: int
    text: str
    place: str = ""
    overlap: int = 0


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as the index gives it back, with its document."""

    document: Document
    chunk: Chunk

    @property
    def key(self) -> tuple[str, int]:
        """What tells one chunk from another in an index."""
        return self.document.source, self.chunk.position

    def passage(self, score: float) -> Passage:
        """The chunk as evidence; `score` is calibrated, 0..1.

        Where a document has no address, its path says what it is.
        """
        document = self.document
        return Passage(
            source=document.source,
            title=document.title,
            text=self.chunk.text.strip(),
            url=document.url or f"{document.space}/{document.external}",
            kind=document.kind,
            place=self.chunk.place,
            updated=document.updated,
            version=document.version,
            status=document.status,
            readers=document.readers,
            score=score,
        )


def source_id(space: str, external: str) -> str:
    """The id a document is cited by: the same for the same path under the same space's folder.

    The source of a folder is its space, so that a moved root folder changes no id.
    """
    digest = hashlib.sha256(f"{space}/{external}".encode()).digest()
    return "kb-" + base64.b32encode(digest).decode().lower()[:10]


def searched_text(document: Document, chunk: Chunk) -> str:
    """What is embedded and searched: title and headings in front of the text."""
    head = " > ".join(part for part in (document.title, chunk.place) if part)
    return f"{head}\n{chunk.text}" if head else chunk.text

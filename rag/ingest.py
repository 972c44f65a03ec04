"""A folder into a space: only what changed is read, embedded and indexed; what is gone goes."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.domain import EVERYONE
from agent.errors import ForPerson
from rag.catalog import Catalog, CatalogEntry, Space, complete, copies
from rag.chunk_profiles import chunked
from rag.documents import (
    Chunk,
    Document,
    DocumentRefused,
    Reading,
    Vectors,
    searched_text,
    source_id,
)
from rag.loaders import check_size
from rag.loaders.isolated import IsolatedReader, Limits
from rag.loaders.metadata import (
    SIDECAR_ENDING,
    SPACE_FILE,
    SpaceDefaults,
    describe,
    sidecar,
    space_defaults,
)
from rag.near_duplicates import sketch
from rag.ports import Embedder, SearchIndex

Progress = Callable[[int, int, str], None]
"""Told after each file: how many are done, how many there are, the file's path in the folder."""

_SPACE_NAME = re.compile(r"\w[\w.-]{0,63}")

_PIPELINE = "4"
"""Grows with any change of reading or chunking that should index every document anew."""


@dataclass(slots=True)
class IngestReport:
    """What a run did, as paths inside the folder.

    `refused` maps a path to its reason and next step. `kept` holds documents that are not in the
    folder but stay, because nothing in the folder was known: it is another folder, or an empty one.
    `relabelled` got other readers with their space; what was not read anew counts as changed.
    `copies` maps a document that says nearly the same as another one of the space to that one.
    """

    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    relabelled: set[str] = field(default_factory=set[str])
    copies: dict[str, str] = field(default_factory=dict[str, str])
    chunks: int = 0

    @property
    def usable(self) -> bool:
        """Whether anything of the folder can be found now, or nothing had to be done."""
        return bool(self.added or self.changed or self.unchanged) or not self.refused


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    external: str
    source: str


@dataclass(frozen=True, slots=True)
class _Taken:
    """A file that was read, ready for the index."""

    document: Document
    hash: str
    chunks: tuple[Chunk, ...]
    vectors: Vectors
    sketch: str


class Ingestion:
    """One pipeline for every way that documents come in."""

    def __init__(
        self,
        index: SearchIndex,
        embedder: Embedder,
        catalog: Catalog,
        limits: Limits = Limits(),  # noqa: B008  frozen
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._catalog = catalog
        self._limits = limits

    async def add(
        self, path: Path, space: str, progress: Progress | None = None, *, replace: bool = False
    ) -> IngestReport:
        """Take in a folder, or a single file, as part of a space.

        A folder is the whole space: documents of the space that are gone from it are removed,
        unless nothing in it is known and `replace` is not set. A single file removes nothing. A bad
        file is refused with its reason and never stops the others.

        Raises:
            DocumentRefused: the space's own `_space.yaml` is not understood.
            BadSpaceName: the name can not be one.
            IndexMismatch: the index belongs to another embedder.
        """
        check_space_name(space)
        said, files, whole = await asyncio.to_thread(_survey, path, space)
        defaults, relabelled = await self._opened(said)
        known = {entry.source: entry for entry in await self._catalog.entries(space)}
        indexed = await self._index.fingerprints(space)
        report = IngestReport()
        with IsolatedReader(self._limits) as reader:
            for done, file in enumerate(files, start=1):
                entry = known.get(file.source)
                current = indexed.get(file.source, "")
                if file.source in relabelled:
                    report.relabelled.add(file.external)
                await self._take(file, reader, defaults, entry, current, report)
                if progress is not None:
                    progress(done, len(files), file.external)
        if whole:
            here = {file.source for file in files}
            gone = [entry for source, entry in known.items() if source not in here]
            recognised = replace or not here.isdisjoint(known)
            await self._sweep(gone, recognised=recognised, report=report)
        await self._opened(said)  # an operator may have set other readers meanwhile
        report.copies = copies(await self._catalog.entries(space))
        return report

    async def set_readers(self, space: Space) -> frozenset[str]:
        """Let these people read a space; the ids of the documents that this changed.

        The index comes first: nobody finds a document whose readers were taken away, even if this
        breaks off before the catalog says so.

        Raises:
            BadSpaceName: the name can not be one.
        """
        check_space_name(space.name)
        known = await self._catalog.space(space.name)
        before = known.readers if known else frozenset[str]()
        changed = await self._index.set_readers(space.name, space.readers, before)
        await self._catalog.set_readers(space)
        return changed

    async def _opened(self, said: SpaceDefaults) -> tuple[SpaceDefaults, frozenset[str]]:
        """The space's defaults with the readers that hold, and what got other readers by it.

        What an operator set comes first, then the folder's own word, then what held so far; a new
        space of which nobody said anything is for everyone.
        """
        known = await self._catalog.space(said.name)
        readers = said.readers
        if known is not None and (known.by_hand or not readers):
            readers = known.readers
        readers = readers or frozenset((EVERYONE,))
        by_hand = known is not None and known.by_hand
        changed = await self.set_readers(Space(said.name, readers, by_hand))
        return dataclasses.replace(said, readers=readers), changed

    async def remove(self, space: str, sources: Sequence[str] = ()) -> tuple[str, ...]:
        """Remove these documents of a space, or all of it; the paths of what was removed."""
        entries = await self._catalog.entries(space)
        chosen = [entry for entry in entries if not sources or entry.source in sources]
        for entry in chosen:
            await self._forget(entry)
        return tuple(entry.external for entry in chosen)

    async def _sweep(
        self, gone: Sequence[CatalogEntry], *, recognised: bool, report: IngestReport
    ) -> None:
        for entry in gone:
            if recognised:
                await self._forget(entry)
                report.removed.append(entry.external)
            else:
                report.kept.append(entry.external)

    async def _forget(self, entry: CatalogEntry) -> None:
        """Out of the index first, so that a crash leaves an entry that is swept again."""
        await self._index.delete([entry.source])
        await self._catalog.put(
            CatalogEntry(entry.source, entry.space, entry.external, "removed", entry.title)
        )

    async def _take(
        self,
        file: _File,
        reader: IsolatedReader,
        space: SpaceDefaults,
        entry: CatalogEntry | None,
        indexed: str,
        report: IngestReport,
    ) -> None:
        try:
            fingerprint, content_hash = await asyncio.to_thread(self._fingerprint, file, space)
            if self._is_current(entry, fingerprint, indexed):
                self._report_current(entry, file, report)
                return
            reading = await asyncio.to_thread(reader.read, file.path)
            taken = await asyncio.to_thread(
                self._prepare, file, reading, space, fingerprint, content_hash
            )
        except DocumentRefused as refusal:
            await self._refuse(file, space, entry, refusal, report)
            return
        except OSError as error:
            refusal = DocumentRefused("damaged", f"the file can not be read: {error.strerror}")
            await self._refuse(file, space, entry, refusal, report)
            return
        pending = dataclasses.replace(complete(taken.document, "", 0), state="indexing")
        await self._catalog.put(dataclasses.replace(pending, fingerprint=""))
        await self._index.upsert(taken.document, taken.chunks, taken.vectors, self._embedder.name)
        indexed_now = complete(taken.document, taken.hash, len(taken.chunks), taken.sketch)
        await self._catalog.put(indexed_now)
        report.chunks += len(taken.chunks)
        known = entry is not None and entry.state != "refused"
        (report.changed if known else report.added).append(file.external)

    @staticmethod
    def _is_current(entry: CatalogEntry | None, fingerprint: str, indexed: str) -> bool:
        """A refused file is not tried again until it changes; an indexed one has to be there."""
        if entry is None or entry.fingerprint != fingerprint:
            return False
        return entry.state == "refused" or (entry.state == "indexed" and indexed == fingerprint)

    @staticmethod
    def _report_current(entry: CatalogEntry | None, file: _File, report: IngestReport) -> None:
        if entry is not None and entry.state == "refused":
            report.refused[file.external] = entry.reason
        elif file.external in report.relabelled:
            report.changed.append(file.external)
        else:
            report.unchanged.append(file.external)

    async def _refuse(
        self,
        file: _File,
        space: SpaceDefaults,
        entry: CatalogEntry | None,
        refusal: DocumentRefused,
        report: IngestReport,
    ) -> None:
        """A version that can not be read takes the version before it out of the index too."""
        if entry is not None:
            await self._index.delete([file.source])
        report.refused[file.external] = str(refusal)
        fingerprint = await asyncio.to_thread(self._fingerprint_or_none, file, space)
        await self._catalog.put(
            CatalogEntry(
                source=file.source,
                space=space.name,
                external=file.external,
                state="refused",
                reason=str(refusal),
                fingerprint=fingerprint,
            )
        )

    # --- off the event loop --------------------------------------------------------------------

    def _fingerprint(self, file: _File, space: SpaceDefaults) -> tuple[str, str]:
        """What changes with anything that the index depends on, and the hash of the bytes alone."""
        check_size(file.path.stat().st_size)
        with file.path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        beside = file.path.with_name(file.path.name + SIDECAR_ENDING)
        parts = [
            content,
            beside.read_text("utf-8", "replace") if beside.is_file() else "",
            space.kind,
            [self._embedder.name, _PIPELINE],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest(), content

    def _fingerprint_or_none(self, file: _File, space: SpaceDefaults) -> str:
        try:
            return self._fingerprint(file, space)[0]
        except (DocumentRefused, OSError):
            return ""

    def _prepare(
        self,
        file: _File,
        reading: Reading,
        space: SpaceDefaults,
        fingerprint: str,
        content_hash: str,
    ) -> _Taken:
        described = describe(file.external, reading, sidecar(file.path), space)
        document = dataclasses.replace(described, fingerprint=fingerprint)
        chunks = chunked(reading.sections, document.kind, document.language)
        texts = [searched_text(document, chunk) for chunk in chunks]
        vectors = self._embedder.embed_passages(texts)
        return _Taken(document, content_hash, chunks, vectors, sketch(reading.text))


class BadSpaceName(ForPerson):
    """A space can not have this name."""

    code = "PL-322"


def check_space_name(name: str) -> None:
    """Refuse a name that can not stand in keys and filters.

    Raises:
        BadSpaceName: it has other characters than letters, digits, `_`, `-` and dots, or too many.
    """
    if not _SPACE_NAME.fullmatch(name):
        raise BadSpaceName(
            f"a space can not be called {name!r}: use up to 64 letters, digits, dashes and dots"
        )


def _survey(path: Path, space: str) -> tuple[SpaceDefaults, list[_File], bool]:
    """The space's defaults, the files to take in, and whether they are the whole space."""
    whole = path.is_dir()
    return space_defaults(path if whole else path.parent, space), _walk(path, space), whole


def _walk(path: Path, space: str) -> list[_File]:
    """The files to take in, in a fixed order; hidden ones and metadata files are none."""
    if not path.is_dir():
        return [_File(path, path.name, source_id(space, path.name))]
    found: list[_File] = []
    for file in sorted(path.rglob("*")):
        relative = file.relative_to(path)
        hidden = any(part.startswith((".", "~$")) for part in relative.parts)
        metadata = file.name == SPACE_FILE or file.name.endswith(SIDECAR_ENDING)
        if file.is_file() and not hidden and not metadata:
            external = relative.as_posix()
            found.append(_File(file, external, source_id(space, external)))
    return found

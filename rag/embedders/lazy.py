"""What both embedded embedders share: loading once, clean input, zeros for texts without words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from rag.documents import Vectors
from rag.text import clean_text

Encode = Callable[[list[str]], Vectors]


class LazyEncoder:
    """Runs a model that `load` makes when the first text comes; safe from several threads.

    `load` gives the encoder of passages and the one of questions. One call runs at a time: both
    models use one thread, and a second one at the same time would only make both slower.
    """

    def __init__(self, load: Callable[[], tuple[Encode, Encode]], dimensions: int) -> None:
        self._load = load
        self._dimensions = dimensions
        self._encoders: tuple[Encode, Encode] | None = None
        self._lock = threading.Lock()

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one a text, in order; a text without words gets the zero vector."""
        return self._run(texts, 0)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The same in the role of a question."""
        return self._run(texts, 1)

    def _run(self, texts: Sequence[str], role: int) -> Vectors:
        cleaned = [clean_text(text).strip() for text in texts]
        vectors = np.zeros((len(cleaned), self._dimensions), dtype=np.float32)
        spoken = [i for i, text in enumerate(cleaned) if text]
        if spoken:
            with self._lock:
                if self._encoders is None:
                    self._encoders = self._load()
                vectors[spoken] = self._encoders[role]([cleaned[i] for i in spoken])
        return vectors

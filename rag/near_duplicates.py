"""Documents that say nearly the same, found by small sketches of their texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

_SHINGLE = 5
"""Characters that are compared as one; white space and case do not count."""
_KEPT = 64
"""Hashes in a sketch: the share of common shingles is known to about 0.05."""
_NEARLY = 0.8
"""Share of all shingles of two documents that both must have (Jaccard)."""
_CLOSEST = 5
_DIGITS = 8


def sketch(text: str) -> str:
    """The smallest hashes of a text's shingles, hexadecimal in order; "" for a text of no length.

    Of two texts' smallest hashes taken together, the share that both have estimates the share of
    shingles that both have (bottom-k sketch, Broder 1997).
    """
    letters = "".join(text.lower().split())
    codes = np.frombuffer(letters.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    windows = max(len(codes) - _SHINGLE + 1, 0)
    hashes = np.zeros(windows, dtype=np.uint64)
    for offset in range(_SHINGLE):
        hashes = hashes * np.uint64(0x100000001B3) + codes[offset : offset + windows]
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):  # the finaliser of MurmurHash3
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    smallest = np.unique(hashes >> np.uint64(32))[:_KEPT]
    return "".join(f"{int(value):0{_DIGITS}x}" for value in smallest)


def near_duplicates(sketches: Mapping[str, str]) -> dict[str, str]:
    """Which names stand for nearly the same text as an earlier one, and which one that is.

    The first of several in the order given is the original of the others.
    """
    originals: dict[str, frozenset[str]] = {}
    having: defaultdict[str, list[str]] = defaultdict(list)
    found: dict[str, str] = {}
    for name, text in sketches.items():
        hashes = [text[at : at + _DIGITS] for at in range(0, len(text), _DIGITS)]
        shared = Counter(original for value in hashes for original in having[value])
        for original, _ in shared.most_common(_CLOSEST):
            if _resemblance(hashes, originals[original]) >= _NEARLY:
                found[name] = original
                break
        else:
            originals[name] = frozenset(hashes)
            for value in hashes:
                having[value].append(name)
    return found


def _resemblance(one: Sequence[str], other: frozenset[str]) -> float:
    smallest = sorted(other.union(one))[:_KEPT]
    return len(other.intersection(one).intersection(smallest)) / len(smallest)

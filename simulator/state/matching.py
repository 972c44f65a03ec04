"""Keyword search over small texts, Chinese by character pairs and the rest by words."""

import re

_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_WORDS = (
    "a an and are as at be by did do does for from how in is it of on or our that the this to was "
    "we were what when where which who why will with you your"
)
_DULL = frozenset(_WORDS.split())


def terms(text: str) -> frozenset[str]:
    """Split text into lower-case words and Chinese character pairs."""
    found: set[str] = set()
    for piece in _WORD.findall(text.lower()):
        if piece[0] < "\u3400" or len(piece) == 1:
            found.add(piece)
        else:
            found.update(piece[i : i + 2] for i in range(len(piece) - 1))
    return frozenset(found - _DULL) or frozenset(found)


def score(query: str, text: str) -> float:
    """Return the share of the query's terms that stand in text, 0 to 1; an empty query is 1."""
    wanted = terms(query)
    if not wanted:
        return 1.0
    return len(wanted & terms(text)) / len(wanted)


def excerpt(query: str, text: str, width: int = 200) -> str:
    """Cut the part of text around the first term of the query that stands in it."""
    low = text.lower()
    places = [low.find(term) for term in terms(query)]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, first - width // 3)
    return text[start : start + width].replace("\n", " ").strip()


def highlight(query: str, text: str) -> str:
    """Wrap the query's terms in <h> tags as Feishu's search answers do."""
    wanted = sorted(terms(query), key=len, reverse=True)
    if not wanted:
        return text
    pattern = re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE)
    return pattern.sub(lambda hit: f"<h>{hit.group(0)}</h>", text)

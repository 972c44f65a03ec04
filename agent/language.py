"""Tells Chinese from English questions, so that the answer comes in the asker's language."""

from __future__ import annotations

import re

from agent.domain import Language

_NOISE = re.compile(r"https?://\S+|`[^`]*`|@\S+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3040-\u30ff]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_GRAMMAR = re.compile(
    r"(a|an|and|are|can|do|does|for|have|how|i|in|is|it|me|my|of|on|or|please|tell|that|the|their|"
    r"there|these|this|to|was|we|were|what|when|where|which|who|why|will|with|you|your)"
)


def detect(text: str, default: Language = "en") -> Language:
    """The language of a question; `default` when it has no letters at all.

    Chinese questions are full of Latin product names, English ones quote Chinese titles. So Han
    letters are weighed against Latin words, of which the grammatical ones count for three and all
    others for a half. Addresses, code and mentions have no say. Japanese counts as not Chinese.
    """
    plain = _NOISE.sub(" ", text)
    han = len(_HAN.findall(plain))
    words = [word.lower() for word in _WORD.findall(plain)]
    if not han and not words:
        return default
    if _KANA.search(plain):
        return "en"
    latin = sum(3.0 if _GRAMMAR.fullmatch(word) else 0.5 for word in words)
    return "zh" if han and han >= latin else "en"

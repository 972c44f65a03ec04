"""Text as the knowledge base sees it: cleaning, language, and the terms that are searched for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from agent.domain import Language

REPLACEMENT = "\ufffd"
"""Stands where a character was lost, so that a reader sees the loss."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CONTROL = re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff]")
_LINE_BREAK = re.compile("\r\n?|[\x0c\x85\u2028\u2029]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LOST = re.compile("[\x00\ud800-\udfff]")

_RUN = re.compile(
    f"(?P<han>[{_HAN}]+)"
    r"|(?P<exact>[a-z0-9]+(?:[-._/][a-z0-9]+)+)"
    r"|(?P<word>\w+)"
)
_CODE = re.compile(r"([a-z]{1,6})-?(\d{2,})")
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_HAN_ONE = re.compile(f"[{_HAN}]")
_LATIN_WORD = re.compile(r"[^\W\d_]+")

_ASKING_ZH = re.compile(
    "怎么办|怎么样|怎样|怎么|如何|什么|为何|有多少|多少|多久|有哪些|哪些|哪个|哪里|哪儿|有几|几点|几个|几|"
    "是否|能不能|可不可以|可以|请问|是不是|有没有|我们|我|你|吗|呢|吧|啊|谁|是|"
    "(?<!目)的|了(?!解|结)|(?<![存现所])在(?![线职编岗校途建])|(?<!总)和(?!解)|(?<!参)与(?!会)"
)
_ASKING_EN = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by can could did do doe for from had has have how i if in is "
        "it many me much my of on or our please s shall should t tell than that the their them "
        "there these they this to us was we were what when where which who whom whose why will "
        "with would you your",
    )
)


def clean_text(text: str) -> str:
    r"""Text that every store, request and log can carry.

    NUL and lone surrogates become U+FFFD, halves of a valid pair are joined, other control
    characters become a space, line breaks become `\n`.
    """
    joined = _PAIR.sub(_join_pair, text)
    return _CONTROL.sub(" ", _LINE_BREAK.sub("\n", _LOST.sub(REPLACEMENT, joined)))


def _join_pair(match: re.Match[str]) -> str:
    return match.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def language_of(text: str) -> Language:
    """The language a text is written in: Chinese when Han characters outnumber Latin words by half.

    Text without letters counts as English.
    """
    han = len(_HAN_ONE.findall(text))
    words = sum(1 for word in _LATIN_WORD.findall(text) if not _HAN_ONE.search(word))
    return "zh" if han and han >= words / 2 else "en"


def passage_terms(text: str) -> list[str]:
    """The terms of a passage in reading order, repeats kept.

    Chinese runs become bigrams (a lone character stays), other words are lower-cased, English
    plurals lose their s. Codes and clause numbers (E-203, X200, 4.2.1) are kept whole beside their
    parts, codes with a dash.
    """
    return list(_terms(_fold(text)))


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, words that only ask left out.

    When nothing else is left the asking words stay, so that no question has zero terms but one
    without letters and digits.
    """
    folded = _fold(text)
    told = dict.fromkeys(t for t in _terms(_ASKING_ZH.sub(" ", folded)) if t not in _ASKING_EN)
    return list(told or dict.fromkeys(_terms(folded)))


def without_seams(terms: list[str], known: Mapping[str, int]) -> list[str]:
    """A question's terms without Chinese pairs that are no words but the seam between two.

    A pair that no passage has, between two pairs that passages have (差住 in 出差住宿), tells
    nothing; nor does a lone character that is left over. `known` holds the number of passages by
    term.
    """
    firsts = {term[0] for term in terms if term in known}
    lasts = {term[-1] for term in terms if term in known}

    def seam(term: str) -> bool:
        if term in known or not _HAN_ONE.match(term):
            return False
        return len(term) == 1 or (term[0] in lasts and term[1] in firsts)

    return [term for term in terms if not seam(term)]


def exact_tokens(text: str) -> frozenset[str]:
    """Codes, model numbers and clause numbers in a text, in the form the index keeps them."""
    return frozenset(t for t in _terms(_fold(text)) if _CODE.fullmatch(t) or _DOTTED.fullmatch(t))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", clean_text(text)).casefold()


def _terms(folded: str) -> Iterator[str]:
    for match in _RUN.finditer(folded):
        if match.lastgroup == "han":
            yield from _bigrams(match.group())
        elif match.lastgroup == "exact":
            yield _canonical(match.group())
            yield from map(_singular, re.split(r"[-._/]", match.group()))
        else:
            yield from _mixed(match.group())


def _mixed(word: str) -> Iterator[str]:
    """A run of word characters; Han inside it (`X200型`) is taken apart."""
    for part in re.split(f"([{_HAN}]+)", word):
        if _HAN_ONE.match(part):
            yield from _bigrams(part)
        elif part:
            yield _canonical(part)


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _canonical(token: str) -> str:
    code = _CODE.fullmatch(token)
    return f"{code.group(1)}-{code.group(2)}" if code else _singular(token)


def _singular(word: str) -> str:
    """An English word without its plural s, by the ending alone: hotels, policies."""
    if len(word) < 4 or not word.endswith("s") or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word if word.endswith(("ss", "us", "is")) else word[:-1]

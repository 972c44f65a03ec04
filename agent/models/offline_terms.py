"""What words two texts have in common, in Chinese, in English and across both."""

from __future__ import annotations

import re
from functools import lru_cache

_HAN_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_TOKEN = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_EXACT = re.compile(
    r"(?=.*\d)[a-z0-9]*[a-z][a-z0-9]*[-._][a-z0-9._-]+|[a-z]+\d{2,}[a-z0-9]*|(?!(?:19|20)\d\d$)\d{3,}"
)
GENERIC = frozenset(
    re.findall(
        r"\w+", "policy polici rule guid document 规定 制度 政策 说明 办法 要求 文件 标准 流程"
    )
)
"""Terms that nearly every document of a company holds."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

_ASKING_ZH = re.compile(
    "怎么办|意思|多长|多大|多高|多远|怎么样|怎样|怎么|如何|什么|为何|为什么|多少|多久|哪些|哪个|哪里|哪儿|几天|几个|是否|能不能|"
    "可不可以|可以|请问|帮我|告诉|是不是|有没有|我们|公司|[我你您吗呢吧啊的了是在和与谁要有请那会能]"
)
_ASKING_EN = frozenset(
    re.findall(
        r"\w+",
        "a about am an and any are as at be been by can company could did do does for from get "
        "give had has have how i if in is it its long many may me mean meaning much must my need "
        "of often on or our please set shall should tell than that the their them there these "
        "they this to up us was we were what when where which who whom why will with would you "
        "your",
    )
)

PLACES = (
    ("上海", "shanghai"), ("北京", "beijing"), ("深圳", "shenzhen"), ("广州", "guangzhou"),
    ("杭州", "hangzhou"), ("成都", "chengdu"), ("苏州", "suzhou"), ("南京", "nanjing"),
    ("武汉", "wuhan"), ("西安", "xi'an"), ("柏林", "berlin"), ("慕尼黑", "munich"),
    ("法兰克福", "frankfurt"), ("奥斯汀", "austin"), ("旧金山", "san francisco"),
    ("纽约", "new york"), ("德国", "germany"), ("美国", "united states"), ("中国", "china"),
)  # fmt: skip
"""Places in both languages, in lower case: a follow-up often changes nothing else."""

_PAIRS = (
    *PLACES,
    ("住宿", "hotel"), ("酒店", "hotel"), ("上限", "limit"), ("上限", "ceiling"),
    ("标准", "limit"), ("补贴", "allowance"), ("出差", "travel"), ("差旅", "travel"),
    ("报销", "expense"), ("报销", "claim"), ("费用", "expense"), ("发票", "invoice"),
    ("年假", "annual leave"), ("假期", "leave"), ("请假", "leave"), ("病假", "sick leave"),
    ("陪产假", "parental leave"), ("产假", "parental leave"), ("密码", "password"),
    ("错误", "error"), ("报错", "error"), ("打印机", "printer"), ("远程", "remote"),
    ("审批", "approval"), ("合同", "contract"), ("保修", "warranty"), ("电池", "battery"),
    ("加班", "overtime"), ("宴请", "hospitality"), ("团建", "team event"), ("机票", "flight"),
    ("高铁", "train"), ("租车", "rental car"), ("采购", "procurement"), ("入职", "onboarding"),
    ("事故", "incident"), ("故障", "incident"), ("服务台", "service desk"), ("会议室", "room"),
    ("每晚", "per night"), ("网关", "gateway"), ("证书", "certificate"), ("断开", "disconnect"),
)  # fmt: skip


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Words without their endings, exact tokens, and pairs of Chinese characters."""
    lower = text.lower()
    found = {_stem(t) for t in _TOKEN.findall(lower) if t not in _ASKING_EN}
    for run in _HAN_RUN.findall(_ASKING_ZH.sub(" ", lower)):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
        if len(run) == 1:
            found.add(run)
    return frozenset(found)


@lru_cache(maxsize=4096)
def evidence_terms(text: str) -> frozenset[str]:
    """The same of a text that is searched: no pair of characters is left out."""
    lower = text.lower()
    found = {_stem(part) for t in _TOKEN.findall(lower) for part in (t, *re.split(r"[-._]", t))}
    for run in _HAN_RUN.findall(lower):
        found.update(run)
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(found)


def translations(text: str) -> tuple[frozenset[frozenset[str]], ...]:
    """Field words of the text: for each the term sets that stand for it in either language."""
    lower, words = text.lower(), evidence_terms(text)
    found: dict[str, frozenset[frozenset[str]]] = {}
    for zh, en in _PAIRS:
        for name, here in ((zh, zh in lower), (en, terms(en) <= words)):
            if here:
                found[name] = frozenset(terms(n) for n in _meanings(name))
    return tuple(dict.fromkeys(found.values()))


def in_other_language(text: str) -> str:
    """The text's field words as a short question in the other language; empty below two words."""
    lower = text.lower()
    from_zh = bool(_HAN_RUN.search(lower))
    found: dict[str, str] = {}
    for zh, en in _PAIRS:
        here, there = (zh, en) if from_zh else (en, zh)
        if here in lower and (from_zh or terms(here) <= evidence_terms(text)):
            found.setdefault(here, there)
    place = next((t for h, t in found.items() if any(h in pair for pair in PLACES)), "")
    names = sorted((h for h, t in found.items() if t != place), key=lower.find)
    words = [found[h] for h in names]
    if len(found) < 2 or not words:
        return ""
    if from_zh:
        return f"What is the {' '.join(words)}{' in ' + place.title() if place else ''}?"
    return f"{place + '的' if place else ''}{''.join(words)}是多少？"


@lru_cache(maxsize=256)
def _meanings(name: str) -> frozenset[str]:
    """The word, its translations, and the words that translate to the same."""
    there = {b if name == a else a for a, b in _PAIRS if name in (a, b)}
    back = {b if t == a else a for t in there for a, b in _PAIRS if t in (a, b)}
    return frozenset({name, *there, *back})


def exact_tokens(text: str) -> frozenset[str]:
    """Codes and numbers that an answer must hold: `e-203`, `x200`, `809`; no years, no counts."""
    return frozenset(t for t in _TOKEN.findall(text.lower()) if _EXACT.fullmatch(t))


def numbers(text: str) -> frozenset[str]:
    """All numbers of the text, without separators of thousands."""
    return frozenset(n.replace(",", "") for n in _NUMBER.findall(text))


def place_in(text: str) -> tuple[str, tuple[str, str]] | None:
    """The first known place as it is written in the text, and its names in both languages."""
    lower = text.lower()
    hits = [(lower.find(n), n, pair) for pair in PLACES for n in pair if n in lower]
    if not hits:
        return None
    at, name, pair = min(hits)
    return text[at : at + len(name)], pair


def _stem(word: str) -> str:
    if not word.isalpha() or len(word) < 4:
        return word
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")

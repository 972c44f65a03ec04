"""What a conversation asks for now: small talk, a question, or a follow-up made whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.dialogue import Message, Text, ToolReply
from agent.language import detect
from agent.models.offline.terms import (
    exact_tokens,
    in_other_language,
    place_in,
    terms,
    things,
)

_CONTEXT = re.compile(r"<context>.*?</context>", re.DOTALL)
_LEAD = re.compile(
    r"^(?:and|so|what about|how about|what if it is|then|also|same for|but|"
    r"那么|那|还有|以及|换成|如果是|要是|至于)[\s,，]*",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:呢|怎么样)?[\s?？。.!！吗]*$")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|those|there|they|them|this one)\b|它|这个|那个|那边|这里|那里|其",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|thx|ok(?:ay)?|bye|great|"
    r"who are you|what can you do|help|你好|您好|嗨|大家好|早上好|下午好|晚上好|"
    r"谢谢(?:你|您)?|多谢|好的|辛苦了|再见|你是谁|你能做什么|你会什么|帮助)"
    r"(?:[\s,，]*(?:there|plumbline|bot|again|very much|a lot|all|啊|呀|了))*[\s!！.。~?？]*",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:please )?(?:tell me|what (?:is|are|does|do)|how (?:do|can|should) (?:i|we|you)|"
    r"where (?:is|are)|how (?:much|many|long|often)(?: is| are| does)?|who is|when is|is there|"
    r"are there|can i|do i)(?: the| a| an)? |^请问|(?:是什么|是多少|怎么办)$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z0-9]+(?:[-._][A-Za-z0-9]+)*")
MOST_VARIANTS = 4
_SHORT = 6
_SHORT_ZH = 12
_ASKS_ITSELF = re.compile(
    r"\b(?:how|what|when|where|who|which|why)\b|多少|多久|多长|什么|几|哪|怎", re.IGNORECASE
)
_PLACE_PHRASE = re.compile(r"\b(in|for|at|to|from) ([A-Z][\w'-]*)")


def words_of(message: Message) -> str:
    """What the person wrote, without the context lines; empty for tool results."""
    if message.role != "user" or any(isinstance(b, ToolReply) for b in message.blocks):
        return ""
    text = " ".join(b.text for b in message.blocks if isinstance(b, Text))
    return _CONTEXT.sub("", text).strip()


def questions(messages: Sequence[Message]) -> tuple[str, ...]:
    """All that the person wrote, oldest first."""
    return tuple(w for m in messages if (w := words_of(m)))


def is_small_talk(text: str) -> bool:
    """Greetings, thanks and the question what the bot can do; an empty message too."""
    return not text or bool(_SMALL_TALK.fullmatch(text))


def whole_question(asked: Sequence[str]) -> str:
    """The last question, made whole with those before it when it is a follow-up."""
    whole = ""
    for text in asked:
        if is_small_talk(text):
            continue
        whole = _join(whole, text) if whole and _follows(text) else text
    return whole


def variants(whole: str, asked: Sequence[str] = ()) -> tuple[str, ...]:
    """Two to four full sentences to search for: the question and other angles on it.

    A follow-up that asks for itself is searched with the question before it too; `asked` are all
    that the person wrote.
    """
    core = _ASKING.sub("", _TAIL.sub("", whole)).strip()
    zh = detect(whole) == "zh"
    told = [text for text in asked if not is_small_talk(text)]
    joint = [" ".join(told[-2:])] if len(told) > 1 and _is_joint(told[-1], whole) else []
    made = [
        whole,
        *joint,
        f"关于“{core}”的规定和说明。" if zh else f"The rules and details on: {core}.",
    ]
    exact = exact_tokens(whole)
    codes = " ".join(c for c in _CODE.findall(whole) if c.lower() in exact)
    if codes:
        made.append(
            f"{codes} 是什么意思，怎么处理？" if zh else f"What does {codes} mean and what to do?"
        )
    if other := in_other_language(whole):
        made.append(other)
    return tuple(dict.fromkeys(made))[:MOST_VARIANTS]


def _follows(text: str) -> bool:
    """Whether the words need the question before: a lead-in, something pointed at, or few words."""
    zh = detect(text) == "zh"
    short = len(text) <= _SHORT_ZH if zh else len(text.split()) <= _SHORT
    if not short:
        return bool(_LEAD.match(text) and len(terms(text)) <= _SHORT)
    if _LEAD.match(text) or _POINTS_BACK.search(text) or text.rstrip("?？ ").endswith("呢"):
        return True
    return len(terms(text)) <= 1 and not exact_tokens(text)


def _is_joint(text: str, whole: str) -> bool:
    """Whether a follow-up was made whole with names alone."""
    subject = _TAIL.sub("", _LEAD.sub("", text)).strip()
    return _follows(text) and whole.startswith(subject) and bool(_ASKS_ITSELF.search(subject))


def _join(before: str, text: str) -> str:
    """The question before with its place exchanged, else with the new words behind it."""
    subject = _TAIL.sub("", _LEAD.sub("", text)).strip()
    old, new = place_in(before), place_in(subject)
    if old and new:
        zh = detect(before) == "zh"
        name = new[1][0] if zh else new[0] if new[0].isascii() else new[1][1].title()
        return before.replace(old[0], name)
    if (was := exact_tokens(before)) and (now := exact_tokens(subject)) and len(now) == 1:
        return _exchanged(before, was, next(iter(now)))
    if _ASKS_ITSELF.search(subject) and len(terms(subject)) > 1:
        names = [t.said for t in things(before) if t.sure]
        return f"{subject}{', ' if names else ''}{' '.join(names)}?"
    there, here = _PLACE_PHRASE.search(before), _PLACE_PHRASE.search(subject)
    if there and here and len(terms(subject)) == 1:
        return before.replace(there[2], here[2])
    mark = "？" if detect(before) == "zh" else "?"
    joint = "，" if detect(before) == "zh" else ", "
    return f"{_TAIL.sub('', before)}{joint}{subject}{mark}" if subject else before


def _exchanged(before: str, codes: frozenset[str], code: str) -> str:
    """The question before with the new code in place of its last one."""
    last = max(codes, key=before.lower().rfind)
    at = before.lower().rfind(last)
    return before[:at] + code + before[at + len(last) :]

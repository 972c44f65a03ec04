"""What the bot says to presses and commands, and the words on its buttons, in both languages."""

from __future__ import annotations

from typing import Final, Literal

from agent.domain import Language, Platform

_Pair = dict[Language, str]

ButtonName = Literal["sources", "helpful", "unhelpful", "retry", "human"]
ReasonName = Literal["wrong", "incomplete", "outdated", "offtopic"]
Note = Literal[
    "gone",
    "not_yet",
    "superseded",
    "only_asker",
    "thanks",
    "noted",
    "why",
    "reason_noted",
    "again",
    "showing",
    "no_sources",
    "hidden_sources",
    "passing_on",
    "passed_on",
    "already_passed_on",
    "nobody",
    "working",
]

BUTTONS: Final[dict[ButtonName, _Pair]] = {
    "sources": {"zh": "查看原文", "en": "Sources"},
    "helpful": {"zh": "有帮助", "en": "Helpful"},
    "unhelpful": {"zh": "没帮助", "en": "Not helpful"},
    "retry": {"zh": "再答一次", "en": "Try again"},
    "human": {"zh": "问同事", "en": "Ask a human"},
}
REASONS: Final[dict[ReasonName, _Pair]] = {
    "wrong": {"zh": "答案不对", "en": "It is wrong"},
    "incomplete": {"zh": "不完整", "en": "Something is missing"},
    "outdated": {"zh": "已经过时", "en": "It is out of date"},
    "offtopic": {"zh": "答非所问", "en": "Not what I asked"},
}
_NOTES: Final[dict[Note, _Pair]] = {
    "gone": {
        "zh": "这个答案已经不在了，按钮失效。请再问一次。",
        "en": "This answer is no longer kept, so its buttons do nothing. Please ask again.",
    },
    "not_yet": {
        "zh": "这个答案还没写完，请稍后再点。",
        "en": "This answer is not finished yet. Please press again in a moment.",
    },
    "superseded": {
        "zh": "这个答案已被下面的新答案代替，请用新答案的按钮。",
        "en": "A newer answer stands below in place of this one. Please use its buttons.",
    },
    "only_asker": {
        "zh": "只有提问的人可以点这个按钮。您可以自己再问一次。",
        "en": "Only the person who asked can use this button. You can ask the question yourself.",
    },
    "thanks": {"zh": "谢谢，已记下。", "en": "Thank you, noted."},
    "noted": {"zh": "您的评价已经记下了。", "en": "Your opinion was noted already."},
    "why": {
        "zh": "已记下。哪里不好？选一个原因，我们就能改进。",
        "en": "Noted. What was wrong with it? Choose a reason, so that it can be mended.",
    },
    "reason_noted": {
        "zh": "谢谢，原因已记下。想多说几句，请发送 {feedback} 加上您的话。",
        "en": "Thank you, the reason is noted. To say more, send {feedback} and your words.",
    },
    "again": {"zh": "好的，正在重新回答。", "en": "All right, I am answering again."},
    "showing": {"zh": "原文单独发给您。", "en": "I am sending the passages to you alone."},
    "no_sources": {
        "zh": "这个答案没有保存原文。请再问一次。",
        "en": "No passages are kept with this answer. Please ask again.",
    },
    "hidden_sources": {
        "zh": "您没有权限查看这个答案的全部来源，所以原文不能给您看。请向资料负责人申请。",
        "en": (
            "You may not read every source of this answer, so its passages are not shown. Please "
            "ask the owners of the sources."
        ),
    },
    "passing_on": {
        "zh": "正在把您的问题转给负责的同事。",
        "en": "I am passing your question on to the colleagues in charge.",
    },
    "passed_on": {
        "zh": "您的问题已转给负责的同事，他们会直接联系您。",
        "en": "Your question was passed on to the colleagues in charge; they will get back to you.",
    },
    "already_passed_on": {
        "zh": "这个问题已经转给同事了，请等他们联系您。",
        "en": "This question was passed on already. The colleagues will get back to you.",
    },
    "nobody": {
        "zh": "还没有设置负责答疑的群，所以无法转交。请告诉管理员。",
        "en": (
            "No chat is set up for questions to colleagues, so it can not be passed on. Please "
            "tell your administrator."
        ),
    },
    "working": {"zh": "收到，正在处理……", "en": "Got it, working on it…"},
}
_REASON_KNOWN: Final[_Pair] = {
    "zh": "您的评价（没帮助：{reason}）已经记下了。改变主意的话，请点“有帮助”或另一个原因。",
    "en": (
        "Your opinion is noted already (not helpful: {reason}). If you have changed your mind, "
        "press Helpful or another reason."
    ),
}
_QUEUED: Final[_Pair] = {
    "zh": "您的问题已收到，前面还有 {n} 个问题，轮到后我会回答。（PL-401）",
    "en": "Got your question. {n} before it; I answer it when it is its turn. (PL-401)",
}
_DOUBLED: Final[_Pair] = {
    "zh": "同样的问题正在回答，我只回答一次，请看那里的答案。（PL-402）",
    "en": (
        "The same question is being answered already, so I answer it once; please see the answer "
        "there. (PL-402)"
    ),
}
_PASSAGES: Final[_Pair] = {"zh": "答案所依据的原文：", "en": "The passages behind the answer:"}
_ESCALATED: Final[_Pair] = {
    "zh": "需要同事帮忙回答：\n\n问题：{question}\n\n{answer}",
    "en": "asks for a colleague's help.\n\nQuestion: {question}\n\n{answer}",
}
_OUR_ANSWER: Final[_Pair] = {
    "zh": "我的回答：{answer}\n来源：{titles}",
    "en": "My answer: {answer}\nSources: {titles}",
}
_HELD_BACK: Final[_Pair] = {
    "zh": "我的回答用到了权限受限的资料，所以不在这里显示。",
    "en": "My answer draws on restricted sources, so it is not shown here.",
}
_NONE: Final[_Pair] = {"zh": "无", "en": "none"}


def command(platform: str, words: str) -> str:
    """A command as a person has to write it there."""
    return f"/plumb {words}" if platform == "slack" else f"/{words}"


def note(language: Language, name: Note, platform: Platform = "feishu") -> str:
    """One sentence for a person who pressed something; `platform` is where they write commands."""
    return _NOTES[name][language].replace("{feedback}", command(platform, "feedback"))


def reason_known(language: Language, reason: ReasonName) -> str:
    """A person says once more that an answer did not help, and has said why."""
    return _REASON_KNOWN[language].format(reason=REASONS[reason][language])


def codes() -> dict[str, dict[Language, str]]:
    """The texts of this file that carry a code, by code."""
    coded = {"PL-401": _QUEUED, "PL-402": _DOUBLED}
    return {code: dict(pair) for code, pair in coded.items()}


def queued(language: Language, before: int) -> str:
    """A question waits behind others of its chat or thread."""
    return _QUEUED[language].format(n=before)


def doubled(language: Language) -> str:
    """The same question was asked again while it was being answered."""
    return _DOUBLED[language]


def passages_title(language: Language) -> str:
    """Stands above the passages that the sources button shows."""
    return _PASSAGES[language]


def escalation(language: Language, question: str, answer: str, titles: str) -> str:
    """What colleagues read when a person asks for a human; an empty answer was held back."""
    words = _HELD_BACK[language]
    if answer:
        words = _OUR_ANSWER[language].format(answer=answer, titles=titles or _NONE[language])
    return _ESCALATED[language].format(question=question, answer=words)

"""Every text of ours that a person sees, in Chinese and English.

Names of people, sources and tools come in as values; nothing here is written by a model. A text
about a fault always says what to do next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from agent.domain import Attachment, Language, Source

ProgressKind = Literal["thinking", "searching", "reading", "writing"]
CardState = Literal["working", "done", "refused", "failed"]

_Pair = dict[Language, str]

_PROGRESS: Final[dict[ProgressKind, _Pair]] = {
    "thinking": {"zh": "正在思考……", "en": "Thinking…"},
    "searching": {"zh": "正在搜索{topic}……", "en": "Searching {topic}…"},
    "reading": {"zh": "正在阅读{topic}……", "en": "Reading {topic}…"},
    "writing": {"zh": "正在写答案……", "en": "Writing the answer…"},
}
_ANY_TOPIC: Final[_Pair] = {"zh": "资料", "en": "your company's sources"}
_STILL: Final[_Pair] = {
    "zh": "{line}（已用 {seconds} 秒，仍在进行）",
    "en": "{line} ({seconds} s so far, still working)",
}
_CLEARED: Final[_Pair] = {
    "zh": "好的，之前的对话已清空。请问下一个问题吧。",
    "en": "Done: I forgot the conversation so far. What would you like to ask next?",
}
_EMPTY: Final[_Pair] = {
    "zh": (
        "请把问题直接写给我，例如：“出差住宿标准是多少？”、“VPN 连不上怎么办？”。"
        "我根据公司的资料回答，并列出来源。发送“新话题”可以清空上下文。"
    ),
    "en": (
        'Write me your question, for example "What is the hotel limit for business trips?" or '
        '"The VPN does not connect, what can I do?". I answer from your company\'s documents and '
        'list the sources. Send "new" to clear the conversation.'
    ),
}
_UNSUPPORTED: Final[_Pair] = {
    "zh": "我还读不了{kind}。请把问题用文字写给我，或者把相关内容复制成文字发来。",
    "en": "I can not read {kind} yet. Please write the question as text, or paste the words of it.",
}
_MESSAGE_KINDS: Final[dict[str, _Pair]] = {
    "audio": {"zh": "语音消息", "en": "voice messages"},
    "media": {"zh": "视频", "en": "videos"},
    "video": {"zh": "视频", "en": "videos"},
    "sticker": {"zh": "表情包", "en": "stickers"},
    "file": {"zh": "这个文件", "en": "this file"},
    "folder": {"zh": "文件夹", "en": "folders"},
    "image": {"zh": "这张图片", "en": "this picture"},
    "interactive": {"zh": "这张卡片", "en": "this card"},
    "share_chat": {"zh": "群名片", "en": "group cards"},
    "share_user": {"zh": "个人名片", "en": "contact cards"},
    "location": {"zh": "位置消息", "en": "locations"},
}
_ANY_MESSAGE: Final[_Pair] = {"zh": "这种消息", "en": "this kind of message"}
_EXTERNAL: Final[_Pair] = {
    "zh": (
        "您好！我只为本公司的同事查内部资料，所以这个问题我无法回答。请直接联系您在本公司的联系人。"
    ),
    "en": (
        "Hello! I look things up in internal documents for this company's own people, so I can "
        "not answer this one for you. Please ask the person here whom you work with."
    ),
}
_SUMMARISE: Final[_Pair] = {
    "zh": "提问的人没有另写问题：请概括下面的内容，并回答其中提出的问题。",
    "en": (
        "The asker wrote no question of their own: summarise what is below and answer what is "
        "asked in it."
    ),
}
_FILES_UNREAD: Final[_Pair] = {
    "zh": "我还读不了附件（{names}），只根据您写的文字作答。",
    "en": "I can not read attachments yet ({names}), so I went by your words alone.",
}
_A_FILE: Final[dict[Literal["image", "file"], _Pair]] = {
    "image": {"zh": "图片", "en": "a picture"},
    "file": {"zh": "文件", "en": "a file"},
}
_FILES_NAMED: Final = 5
_OFFLINE: Final[_Pair] = {
    "zh": "由离线模型作答：只摘录找到的原文，不做推理。",
    "en": "Answered by the offline model: it quotes what was found and does not reason.",
}
_INCOMPLETE: Final[_Pair] = {
    "zh": "答案在中途断开，可能不完整。请再问一次，或把问题拆小。",
    "en": (
        "The answer broke off and may be incomplete. Please ask again, or ask for a smaller part."
    ),
}
_SHORTENED: Final[_Pair] = {
    "zh": "找到的内容太长，只读了一部分。要更完整的答案，请把问题拆小再问。",
    "en": (
        "There was too much to read, so results were shortened. For a fuller answer please ask "
        "for a smaller part."
    ),
}
_STEP_LIMIT: Final[_Pair] = {
    "zh": "这个问题用完了 {steps} 步的限额，以上是目前找到的内容。请把问题拆成几个小问题再问。",
    "en": (
        "This question used all of its {steps} steps; above is what was found so far. Please split "
        "it into smaller questions."
    ),
}
_REFUSAL: Final[_Pair] = {
    "zh": (
        "您可以：换一个说法或补充产品名、部门、日期再问；请相关部门的同事确认；"
        "如果您知道资料在哪里，请管理员把它加入知识库。"
    ),
    "en": (
        "What you can do: ask again with other words or with the product, department or date; ask "
        "a colleague of the department; or, if you know where it is written down, ask an "
        "administrator to add it to the knowledge base."
    ),
}
_PRIVATE: Final[_Pair] = {
    "zh": "我已私下回复您。",
    "en": "I answered you privately.",
}
_ERRORS: Final[dict[str, _Pair]] = {
    "PL-101": {
        "zh": "现在问题太多，服务要求稍等。请一分钟后再问一次。",
        "en": "There are too many questions right now. Please ask again in a minute.",
    },
    "PL-102": {
        "zh": "有一个服务暂时没有响应。请过几分钟再问一次；如果一直这样，请告诉管理员。",
        "en": (
            "A service did not respond. Please ask again in a few minutes; if it goes on, tell "
            "your administrator."
        ),
    },
    "PL-103": {
        "zh": "这条问题同时被处理了两次，这一次已停止。如果没有收到答案，请再问一次。",
        "en": (
            "This question was being answered twice at once, so this try stopped. If no answer "
            "came, please ask again."
        ),
    },
    "PL-301": {
        "zh": "机器人的设置有误，现在无法回答。请把错误代码告诉管理员。",
        "en": (
            "The bot is not set up correctly and can not answer. Please tell your administrator "
            "the code."
        ),
    },
    "PL-302": {
        "zh": "聊天平台拒绝了这次操作。请确认机器人在本群里并且可以发言；不行的话请告诉管理员。",
        "en": (
            "The chat platform refused this. Please check that the bot is in this chat and may "
            "write here; if so, tell your administrator."
        ),
    },
    "PL-303": {
        "zh": "模型因内容原因没有回答。请换一种说法再问。",
        "en": "The model declined because of the content. Please ask in other words.",
    },
    "PL-304": {
        "zh": "模型没有给出可用的答案。请再问一次；如果一直这样，请告诉管理员。",
        "en": (
            "The model gave no usable answer. Please ask again; if it goes on, tell your "
            "administrator."
        ),
    },
    "PL-307": {
        "zh": "这个问题和找到的资料太长，模型读不下。请把问题拆小再问，或发送“新话题”清空上下文。",
        "en": (
            "The question with what was found is too long for the model. Please ask for a smaller "
            'part, or send "new" to clear the conversation.'
        ),
    },
}
_ANY_ERROR: Final[_Pair] = {
    "zh": "出了意外的问题，这个问题没有答完。请再问一次；如果一直这样，请把错误代码告诉管理员。",
    "en": (
        "Something unexpected happened and the question was not answered. Please ask again; if it "
        "goes on, tell your administrator the code."
    ),
}
_WITH_CODE: Final[_Pair] = {"zh": "{text}（错误代码 {code}）", "en": "{text} (code {code})"}
_SOURCES: Final[_Pair] = {"zh": "来源", "en": "Sources"}
_CONTINUED: Final[_Pair] = {"zh": "（续）", "en": "(continued)"}
_GOES_ON: Final[_Pair] = {
    "zh": "答案较长，下一条消息继续。",
    "en": "The answer goes on in the next message.",
}
_STATES: Final[dict[CardState, _Pair]] = {
    "working": {"zh": "正在处理", "en": "Working on it"},
    "done": {"zh": "答案", "en": "Answer"},
    "refused": {"zh": "没有找到答案", "en": "No answer found"},
    "failed": {"zh": "没有完成", "en": "Not completed"},
}
_OBSOLETE: Final[_Pair] = {"zh": "已失效", "en": "obsolete"}
_DRAFT: Final[_Pair] = {"zh": "草稿", "en": "draft"}


_KINDS: Final[dict[str, tuple[str, _Pair]]] = {
    "policy": ("📘", {"zh": "制度", "en": "policy"}),
    "manual": ("📗", {"zh": "手册", "en": "manual"}),
    "faq": ("❓", {"zh": "问答", "en": "FAQ"}),
    "incident": ("🚨", {"zh": "事故", "en": "incident"}),
    "contract": ("📜", {"zh": "合同", "en": "contract"}),
    "product": ("📦", {"zh": "产品", "en": "product"}),
    "guide": ("🧭", {"zh": "指南", "en": "guide"}),
    "message": ("💬", {"zh": "消息", "en": "message"}),
    "docs": ("📄", {"zh": "文档", "en": "document"}),
    "docx": ("📄", {"zh": "文档", "en": "document"}),
    "wiki": ("📄", {"zh": "知识库", "en": "wiki"}),
    "minutes": ("🎙", {"zh": "妙记", "en": "minutes"}),
}
_LOCK: Final = "🔒"
_PAGE: Final = "📄"
_UNSEARCHED: Final[_Pair] = {
    "zh": "{topics}暂时没有响应，所以没有搜索到。请过几分钟再问一次。（PL-403）",
    "en": (
        "Could not be searched, because it did not respond: {topics}. Please ask again in a few "
        "minutes. (PL-403)"
    ),
}


def source_icon(kind: str, *, private: bool) -> str:
    """The icon of a source; a private one carries a lock."""
    return _LOCK if private else _KINDS.get(kind, (_PAGE, None))[0]


def source_facts(language: Language, source: Source) -> str:
    """What is said of a source behind its title: kind, date, status; "" when nothing is known."""
    kind = _KINDS[source.kind][1][language] if source.kind in _KINDS else ""
    facts = (kind, source.updated, status_mark(language, source.status))
    return " · ".join(fact for fact in facts if fact)


def progress(language: Language, kind: ProgressKind, topic: str = "") -> str:
    """What the bot is doing now; `topic` is a tool's topic in that language, "" for none."""
    return _PROGRESS[kind][language].format(topic=topic or _ANY_TOPIC[language])


def still(language: Language, line: str, seconds: float) -> str:
    """A progress line that has not changed for a while; `seconds` since the answer was begun."""
    return _STILL[language].format(
        line=line or progress(language, "writing"), seconds=round(seconds)
    )


def cleared(language: Language) -> str:
    """The thread's history was forgotten on the person's wish."""
    return _CLEARED[language]


def empty_question(language: Language) -> str:
    """A message without words: what can be asked."""
    return _EMPTY[language]


def unsupported(language: Language, kind: str) -> str:
    """A message whose kind (the platform's own word, such as audio) can not be read."""
    return _UNSUPPORTED[language].format(kind=_MESSAGE_KINDS.get(kind, _ANY_MESSAGE)[language])


def external(language: Language) -> str:
    """Told in both languages to a person of another company, their own first."""
    other: Language = "en" if language == "zh" else "zh"
    return f"{_EXTERNAL[language]}\n\n{_EXTERNAL[other]}"


def summarise(language: Language) -> str:
    """What the model is asked to do with material that came without a question."""
    return _SUMMARISE[language]


def files_unread(language: Language, files: Sequence[Attachment]) -> str:
    """Notice under an answer to a question whose attachments were not read."""
    names = [f.name or _A_FILE[f.kind][language] for f in files[:_FILES_NAMED]]
    names += ["…"] if len(files) > _FILES_NAMED else []
    joint = "、" if language == "zh" else ", "
    return _FILES_UNREAD[language].format(names=joint.join(names))


def error(language: Language, code: str) -> str:
    """The text for an error code of agent/errors.py, with its next step and the code."""
    text = _ERRORS.get(code, _ANY_ERROR)[language]
    return _WITH_CODE[language].format(text=text, code=code)


def error_codes() -> dict[str, dict[Language, str]]:
    """Every code that has a text of its own, and PL-000 for all the others."""
    own = {"PL-000": _ANY_ERROR, "PL-403": _UNSEARCHED} | _ERRORS
    return {code: dict(text) for code, text in own.items()}


def offline_model(language: Language) -> str:
    """Notice under an answer of the offline model."""
    return _OFFLINE[language]


def incomplete(language: Language) -> str:
    """Notice under an answer whose model stream broke off."""
    return _INCOMPLETE[language]


def shortened(language: Language) -> str:
    """Notice under an answer for which results were cut to fit the model's window."""
    return _SHORTENED[language]


def step_limit(language: Language, steps: int) -> str:
    """Notice under an answer that was ended by the step limit."""
    return _STEP_LIMIT[language].format(steps=steps)


def refusal_steps(language: Language) -> str:
    """What a person can do when nothing was found."""
    return _REFUSAL[language]


def kept_private(language: Language) -> str:
    """The neutral line for a room that may not read the answer."""
    return _PRIVATE[language]


def sources_title(language: Language) -> str:
    """The heading of the source list."""
    return _SOURCES[language]


def continued(language: Language) -> str:
    """Marks a message that goes on with an answer."""
    return _CONTINUED[language]


def goes_on(language: Language) -> str:
    """Stands at the end of a message whose answer goes on in the next one."""
    return _GOES_ON[language]


def state_title(language: Language, state: CardState) -> str:
    """The title of an answer card."""
    return _STATES[state][language]


def status_mark(language: Language, status: str) -> str:
    """What is said of a source that is not current; "" for a current one."""
    marks = {"obsolete": _OBSOLETE, "draft": _DRAFT}
    return marks[status][language] if status in marks else ""


def unsearched(language: Language, topics: Sequence[str]) -> str:
    """Notice under an answer that had to do without some sources."""
    joint = "、" if language == "zh" else ", "
    return _UNSEARCHED[language].format(topics=joint.join(topics))

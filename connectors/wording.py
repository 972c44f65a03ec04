"""Our own words around an answer on a platform: its title, its source list, in both languages."""

from __future__ import annotations

from typing import Final, Literal

from agent.domain import Language, Source

CardState = Literal["working", "done", "refused", "failed"]

_Pair = dict[Language, str]

_SOURCES: Final[_Pair] = {"zh": "来源", "en": "Sources"}
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
    "document": ("📄", {"zh": "文档", "en": "document"}),
    "docs": ("📄", {"zh": "文档", "en": "document"}),
    "docx": ("📄", {"zh": "文档", "en": "document"}),
    "wiki": ("📄", {"zh": "知识库", "en": "wiki"}),
    "minutes": ("🎙", {"zh": "会议纪要", "en": "minutes"}),
}
_LOCK: Final = "🔒"
_PAGE: Final = "📄"


def source_icon(kind: str, *, private: bool) -> str:
    """The icon of a source; a private one carries a lock."""
    return _LOCK if private else _KINDS.get(kind, (_PAGE, None))[0]


def source_facts(language: Language, source: Source) -> str:
    """What is said of a source behind its title: kind, date, status; "" when nothing is known.

    What has no address on the web is named by its path.
    """
    kind = _KINDS[source.kind][1][language] if source.kind in _KINDS else ""
    path = "" if "://" in source.url else source.url
    facts = (kind, source.updated, _status_mark(language, source.status), path)
    return " · ".join(fact for fact in facts if fact)


def sources_title(language: Language) -> str:
    """The heading of the source list."""
    return _SOURCES[language]


def goes_on(language: Language) -> str:
    """Stands at the end of a message whose answer goes on in the next one."""
    return _GOES_ON[language]


def state_title(language: Language, state: CardState) -> str:
    """The title of an answer card."""
    return _STATES[state][language]


def _status_mark(language: Language, status: str) -> str:
    """What is said of a source that is not current; "" for a current one."""
    marks = {"obsolete": _OBSOLETE, "draft": _DRAFT}
    return marks[status][language] if status in marks else ""

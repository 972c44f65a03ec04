"""The pages a browser shows around a sign-in: short, in the person's language, with a next step.

Where the language is not known the page stands in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, Literal

from agent.domain import Language, Platform
from handlers.surface.connect import NAMES

PageName = Literal[
    "done",
    "declined",
    "stale_ticket",
    "stale_state",
    "dead_code",
    "other_person",
    "not_set_up",
    "operator",
    "no_answer",
    "fault",
    "installed",
    "not_installed",
]

_Words = tuple[str, str]
_TEXTS: Final[dict[PageName, dict[Language, _Words]]] = {
    "done": {
        "zh": ("已连接{platform}", "请关闭本页，回到聊天，机器人在那里等您。"),
        "en": (
            "{platform} is connected",
            "Close this page and return to the chat: the bot is waiting there.",
        ),
    },
    "declined": {
        "zh": ("没有连接", "您没有同意，什么也没有保存。以后想连接，请在聊天里发送 sources。"),
        "en": (
            "Not connected",
            "You declined, so nothing was stored. To connect later, send sources in the chat.",
        ),
    },
    "stale_ticket": {
        "zh": (
            "链接已失效",
            "连接按钮一小时内有效。请回到聊天，发送 sources，用新的按钮。（PL-212）",
        ),
        "en": (
            "This link is too old",
            "A connect button works for an hour. Return to the chat, send sources and use the new "
            "button. (PL-212)",
        ),
    },
    "stale_state": {
        "zh": (
            "登录已失效",
            "登录须在十分钟内完成，且只能用一次。请回到聊天，再按一次连接按钮。（PL-213）",
        ),
        "en": (
            "This sign-in is over",
            "A sign-in has to be finished within ten minutes and works once. Return to the chat "
            "and press the connect button again. (PL-213)",
        ),
    },
    "dead_code": {
        "zh": ("没有连接", "{platform}没有接受这次登录。请回到聊天，再按一次连接按钮。（PL-214）"),
        "en": (
            "Not connected",
            "{platform} did not take this sign-in. Return to the chat and press the connect button "
            "again. (PL-214)",
        ),
    },
    "other_person": {
        "zh": (
            "没有连接：不是同一个人",
            "登录{platform}的账号不是在聊天里提问的那个人，所以什么也没有保存。请用自己的账号，从自己的聊天里再连接一次。"
            "（PL-215）",
        ),
        "en": (
            "Not connected: another person",
            "The {platform} account that signed in is not the person who asked in the chat, so "
            "nothing was stored. Connect from your own chat, with your own account. (PL-215)",
        ),
    },
    "not_set_up": {
        "zh": ("没有开放", "这里没有开放连接个人账号。请联系管理员。（PL-301）"),
        "en": (
            "Not set up",
            "Connecting own sources is not set up here. Please ask your administrator. (PL-301)",
        ),
    },
    "operator": {
        "zh": (
            "需要管理员处理",
            "{platform}没有接受这个应用的设置。请把代码告诉管理员。（PL-301）",
        ),
        "en": (
            "Your administrator is needed",
            "{platform} did not accept the settings of this app. Please pass the code on to your "
            "administrator. (PL-301)",
        ),
    },
    "no_answer": {
        "zh": (
            "{platform}没有响应",
            "什么也没有保存。请过几分钟回到聊天，再按一次连接按钮。（PL-102）",
        ),
        "en": (
            "{platform} did not respond",
            "Nothing was stored. In a few minutes, return to the chat and press the connect button "
            "again. (PL-102)",
        ),
    },
    "fault": {
        "zh": ("出了问题", "请回到聊天，再按一次连接按钮；还不行就告诉管理员。（PL-000）"),
        "en": (
            "Something went wrong",
            "Return to the chat and press the connect button again; if that fails, tell your "
            "administrator. (PL-000)",
        ),
    },
    "installed": {
        "zh": ("已安装", "机器人已装到工作区。请在 Slack 里给它发消息。"),
        "en": ("Installed", "The bot is in the workspace. Write to it in Slack."),
    },
    "not_installed": {
        "zh": (
            "没有安装",
            "这个工作区不在允许安装的名单里，或安装没有完成。"
            "请管理员检查 PLUMBLINE_SLACK_INSTALL_TEAMS 后再试。（PL-301）",
        ),
        "en": (
            "Not installed",
            "This workspace is not on the list of those that may install the bot, or the "
            "installation was not finished. Let the administrator check "
            "PLUMBLINE_SLACK_INSTALL_TEAMS and try again. (PL-301)",
        ),
    },
}
_STYLE: Final = (
    "body{font:17px/1.6 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1.2rem;"
    "color:#1f2329;background:#fff}h1{font-size:1.4rem}section+section{margin-top:2.5rem}"
    "@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1b1b1d}}"
)


def html(
    name: PageName,
    platform: Platform,
    language: Language | None = None,
    more: Sequence[str] = (),
) -> str:
    """The whole page; `more` are further paragraphs."""
    languages: tuple[Language, ...] = (language,) if language else ("zh", "en")
    parts: list[str] = []
    for one in languages:
        title, text = (words.format(platform=NAMES[platform][one]) for words in _TEXTS[name][one])
        body = "".join(f"<p>{escape(words)}</p>" for words in (text, *more))
        tag = "zh-CN" if one == "zh" else "en"
        parts.append(f'<section lang="{tag}"><h1>{escape(title)}</h1>{body}</section>')
    return (
        f'<!DOCTYPE html><html lang="{"zh-CN" if languages[0] == "zh" else "en"}"><head>'
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Plumbline</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>"
    )


def codes() -> dict[str, dict[Language, str]]:
    """The texts that carry a code of their own, by code."""
    own: dict[str, PageName] = {
        "PL-212": "stale_ticket",
        "PL-213": "stale_state",
        "PL-214": "dead_code",
        "PL-215": "other_person",
    }
    return {
        code: {language: " · ".join(words) for language, words in _TEXTS[name].items()}
        for code, name in own.items()
    }

"""What the bot says about itself: help, status, settings and the first words to a new person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from agent.desk import Welcome
from agent.domain import Language

_Pair = dict[Language, str]
Line = Literal[
    "ask_what",
    "new_in_channel",
    "new_by_typing",
    "feedback_what",
    "feedback_kept",
    "model_only",
    "language_auto",
    "sources_unknown",
    "admins_only",
    "paused_here",
    "paused_all",
    "resumed",
    "quiet",
]

_HELP: Final[_Pair] = {
    "zh": (
        "我根据公司的资料回答问题，并列出来源。直接写问题就行；在群里请 @我。\n"
        "命令（{how}）：\n"
        "ask 问题 —— 提问\n"
        "new —— 忘掉之前的对话\n"
        "sources —— 查看、开关资料来源（sources off kb）\n"
        "model —— 查看、选择模型\n"
        "lang zh | en | auto —— 选择语言\n"
        "status —— 模型、资料数量、版本、排队情况\n"
        "feedback 意见 —— 给我们提意见\n"
        "help —— 显示这段说明"
    ),
    "en": (
        "I answer from your company's documents and list the sources. Just write your question; in "
        "a channel, mention me.\n"
        "Commands ({how}):\n"
        "ask QUESTION: ask something\n"
        "new: forget the conversation so far\n"
        "sources: see the sources and switch them on or off (sources off kb)\n"
        "model: see the models and choose one\n"
        "lang zh | en | auto: choose the language\n"
        "status: model, number of documents, version, queue\n"
        "feedback TEXT: tell us what you think\n"
        "help: show this text"
    ),
}
_HOW: Final[dict[str, _Pair]] = {
    "slack": {
        "zh": "发送 /plumb 加命令，如 /plumb status",
        "en": "send /plumb and the command, such as /plumb status",
    },
    "feishu": {
        "zh": "发送 / 加命令，如 /status，或用机器人菜单",
        "en": "send / and the command, such as /status, or use the bot's menu",
    },
}
_STATUS: Final[_Pair] = {
    "zh": "模型：{model}\n您能查阅的资料：{documents} 篇\n版本：{version}\n{queue}",
    "en": "Model: {model}\nDocuments you may read: {documents}\nVersion: {version}\n{queue}",
}
_FREE: Final[_Pair] = {"zh": "没有排队的问题。", "en": "No question is waiting."}
_WAITING: Final[_Pair] = {
    "zh": "这里还有 {n} 个问题在排队。",
    "en": "Questions waiting here: {n}.",
}
_MODELS: Final[_Pair] = {
    "zh": "现在使用：{model}。\n可选：{names}。\n发送 /model 加名字来选择（Slack：/plumb model）。",
    "en": (
        "In use: {model}.\nTo choose from: {names}.\n"
        "Send /model and a name to choose (Slack: /plumb model)."
    ),
}
_MODEL_SET: Final[_Pair] = {
    "zh": "好的，从现在起由 {model} 回答您的问题。",
    "en": "Done: from now on {model} answers your questions.",
}
_MODEL_REFUSED: Final[_Pair] = {
    "zh": "没有叫 {name} 的模型可选。可选：{names}。",
    "en": "There is no model {name} to choose. To choose from: {names}.",
}
_LANGUAGE: Final[_Pair] = {
    "zh": "我现在用中文跟您说。发送 lang en 换成英文，lang auto 跟随问题的语言。",
    "en": "I speak English with you. Send lang zh for Chinese, lang auto to follow the question.",
}
_SOURCES: Final[_Pair] = {
    "zh": "资料来源：\n{lines}\n发送 sources off kb 关闭，sources on kb 打开。",
    "en": "Sources:\n{lines}\nSend sources off kb or sources on kb to switch.",
}
_ON: Final[dict[bool, _Pair]] = {True: {"zh": "开", "en": "on"}, False: {"zh": "关", "en": "off"}}
_KINDS: Final[dict[str, _Pair]] = {"kb": {"zh": "知识库", "en": "the knowledge base"}}
_LINES: Final[dict[Line, _Pair]] = {
    "ask_what": {
        "zh": "请把问题写在命令后面，例如：/ask 出差住宿标准是多少？",
        "en": "Write your question behind the command: /ask What is the hotel limit?",
    },
    "new_in_channel": {
        "zh": "群里每个问题都是新的开始，没有要忘掉的内容。在话题里请 @我 发送 new。",
        "en": "In a channel each question starts anew. In a thread, mention me with the word new.",
    },
    "new_by_typing": {
        "zh": "请直接发送“新话题”，我就忘掉之前的对话。",
        "en": 'Please send the word "new" and I forget the conversation so far.',
    },
    "feedback_what": {
        "zh": "请把意见写在命令后面，例如：/feedback 来源很有用",
        "en": "Write what you think behind the command: /feedback The sources are useful",
    },
    "feedback_kept": {"zh": "谢谢，您的意见已记下。", "en": "Thank you, your words are noted."},
    "model_only": {"zh": "只有一个模型可用。", "en": "There is one model only."},
    "language_auto": {
        "zh": "好的，我用您提问的语言回答。",
        "en": "Done: I answer in the language of your question.",
    },
    "sources_unknown": {
        "zh": "没有这种来源。请发送 sources 查看。",
        "en": "There is no such source. Send sources to see them.",
    },
    "admins_only": {
        "zh": "只有管理员可以这样做。请联系管理员。",
        "en": "Only administrators can do this. Please ask one of them.",
    },
    "paused_here": {
        "zh": "好的，我在这里不再回答。发送 /resume 恢复。",
        "en": "Done: I keep quiet in this chat. The command /resume lets me answer again.",
    },
    "paused_all": {
        "zh": "好的，我在所有地方都不再回答。发送 /resume all 恢复。",
        "en": "Done: I keep quiet everywhere. The command /resume all lets me answer again.",
    },
    "resumed": {"zh": "好的，我重新开始回答。", "en": "Done: I answer again."},
    "quiet": {
        "zh": "管理员暂停了我在这里的回答，恢复后请再问。",
        "en": "An administrator has paused me here. Please ask again when I am back.",
    },
}
_WELCOME: Final[_Pair] = {
    "zh": (
        "您好，我是 Plumbline。\n"
        "我能做什么：根据公司资料回答问题，每句话都注明出处；找不到就直说。\n"
        "我读什么：{reads}\n"
        "保存多久：{kept}\n"
        "可以这样问：\n{examples}\n"
        "发送 help 查看命令。To switch to English, send: /lang en"
    ),
    "en": (
        "Hello, I am Plumbline.\n"
        "What I can do: answer from your company's documents and show where each statement comes "
        "from; when I find nothing, I say so.\n"
        "What I read: {reads}\n"
        "What is kept: {kept}\n"
        "You could ask:\n{examples}\n"
        "Send help for the commands. 想用中文，请发送：lang zh"
    ),
}


WELCOME: Final[dict[Language, Welcome]] = {
    "zh": Welcome(
        "公司知识库里您有权限看的资料，以及您发给我的消息；不读其他聊天。",
        "问题和答案 30 天，问题的登记 90 天，您的评价 400 天，之后删除。",
        ("去上海出差住宿标准是多少？", "VPN 错误 809 怎么解决？", "年假怎么申请？"),
    ),
    "en": Welcome(
        "the documents of the knowledge base that you may read, and what you send me; no other "
        "chats.",
        "questions and answers for 30 days, the register of questions for 90 days, your opinions "
        "for 400 days; then they are deleted.",
        (
            "What is the hotel limit in Shanghai?",
            "How do I solve VPN error 809?",
            "How do I apply for leave?",
        ),
    ),
}


def help_text(language: Language, platform: str) -> str:
    """What the bot does and its commands."""
    return _HELP[language].format(how=_HOW[platform][language])


def status(language: Language, model: str, documents: int, version: str, waiting: int) -> str:
    """How things stand; `waiting` are the questions behind this one in its chat or thread."""
    queue = _WAITING[language].format(n=waiting) if waiting else _FREE[language]
    return _STATUS[language].format(
        model=model, documents=documents, version=version or "-", queue=queue
    )


def models(language: Language, model: str, names: Sequence[str]) -> str:
    """The model in use and those to choose from."""
    return _MODELS[language].format(model=model, names=", ".join(names))


def model_set(language: Language, model: str) -> str:
    """A model was chosen."""
    return _MODEL_SET[language].format(model=model)


def model_refused(language: Language, name: str, names: Sequence[str]) -> str:
    """A model that is not offered was asked for."""
    return _MODEL_REFUSED[language].format(name=name[:80], names=", ".join(names))


def speaking(language: Language) -> str:
    """Which language is spoken and how to change it."""
    return _LANGUAGE[language]


def sources(language: Language, kinds: Sequence[str], off: frozenset[str]) -> str:
    """Each kind of source with whether it is searched for this person."""
    lines = [
        f"{_KINDS[kind][language]} ({kind}): {_ON[kind not in off][language]}" for kind in kinds
    ]
    return _SOURCES[language].format(lines="\n".join(lines))


def line(language: Language, name: Line) -> str:
    """One short text about a command."""
    return _LINES[name][language]


def welcome(language: Language, said: Welcome | None) -> str:
    """The first words to a person or group; None takes our own."""
    words = said or WELCOME[language]
    examples = "\n".join(f"· {example}" for example in words.examples)
    return _WELCOME[language].format(reads=words.reads, kept=words.kept, examples=examples)

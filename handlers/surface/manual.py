"""What the bot says about itself: help, status, settings and the first words to a new person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from agent.desk import Welcome
from agent.domain import Language
from handlers.surface.replies import command

_Pair = dict[Language, str]
Line = Literal[
    "ask_what",
    "new_in_channel",
    "feedback_what",
    "feedback_kept",
    "language_auto",
    "sources_unknown",
    "admins_only",
    "paused_here",
    "paused_all",
    "resumed",
    "quiet",
    "listening",
    "deaf_thread",
    "deaf_channel",
    "listen_in_groups",
]

_HELP: Final[_Pair] = {
    "zh": (
        "直接写问题就行；在群里请 @我。我根据公司资料回答，并列出来源。\n\n"
        "💬 提问\n"
        "{new} · 忘掉之前的对话\n"
        "{ask} 问题 · 提问\n\n"
        "⚙️ 设置\n"
        "{sources} · 查看、开关、连接资料来源\n"
        "{logout} · 断开您的账号\n"
        "{model} · 查看、选择模型\n"
        "{lang} zh、en 或 auto · 选择语言\n\n"
        "ℹ️ 其他\n"
        "{status} · 模型、资料数量、版本、排队\n"
        "{feedback} 意见 · 给我们提意见\n"
        "{stop listening} · 在这里只有 @我 时才回答\n"
        "{help} · 显示这段说明"
    ),
    "en": (
        "Just write your question; in a channel, mention me. I answer from your company's "
        "documents and list the sources.\n\n"
        "💬 Questions\n"
        "{new} · forget the conversation so far\n"
        "{ask} QUESTION · ask something\n\n"
        "⚙️ Settings\n"
        "{sources} · see the sources, switch or connect them\n"
        "{logout} · end that connection\n"
        "{model} · see the models, choose one\n"
        "{lang} zh, en or auto · choose the language\n\n"
        "ℹ️ More\n"
        "{status} · model, documents, version, queue\n"
        "{feedback} TEXT · tell us what you think\n"
        "{stop listening} · answer here only when mentioned\n"
        "{help} · show this text"
    ),
}
_ADMIN_HELP: Final[_Pair] = {
    "zh": (
        "\n\n🛠 管理员\n"
        "{pause} · 暂停在这里的回答（{pause} all：所有地方）\n"
        "{resume} · 恢复回答（{resume} all：所有地方）\n"
        "{listen} · 我在这里回答过的话题，不用 @我 也能接着问"
    ),
    "en": (
        "\n\n🛠 Administrators\n"
        "{pause} · keep quiet in this chat ({pause} all: everywhere)\n"
        "{resume} · answer again ({resume} all: everywhere)\n"
        "{listen} · follow my threads here without a mention"
    ),
}
_COMMANDS: Final = (
    "ask",
    "new",
    "sources",
    "logout",
    "model",
    "lang",
    "status",
    "feedback",
    "help",
    "pause",
    "resume",
    "listen",
    "stop listening",
)
_UNKNOWN: Final[_Pair] = {
    "zh": "没有 {name} 这个命令。{nearest}\n全部命令：{help}。要提问，请直接写问题，不加斜杠。",
    "en": (
        "There is no command {name}.{nearest}\n"
        "All commands: {help}. To ask a question, write it without a slash."
    ),
}
_NEAREST: Final[_Pair] = {"zh": "您要的是 {names} 吗？", "en": " Did you mean {names}?"}
_OR: Final[_Pair] = {"zh": " 或 ", "en": " or "}
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
    "zh": "现在使用：{model}。\n可选：{names}。\n要换一个，请发送 {command} 加名字。",
    "en": "In use: {model}.\nTo choose from: {names}.\nTo choose, send {command} and a name.",
}
_MODEL_ONLY: Final[_Pair] = {
    "zh": "现在使用：{model}。只有这一个模型可用。",
    "en": "In use: {model}. It is the only model here.",
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
    "zh": "现在用中文回答您。换成英文请发送 {other}，跟随提问的语言请发送 {auto}。",
    "en": "I answer in English. Send {other} for Chinese, {auto} to follow your question.",
}
_NO_LANGUAGE: Final = (
    "我用您提问的语言回答。要固定一种，请发送 {zh} 或 {en}。\n"
    "I answer in the language of your question. To keep to one, send {zh} or {en}."
)
_LANGUAGE_REFUSED: Final[_Pair] = {
    "zh": (
        "没有“{name}”这个选项。可以选：zh（中文）、en（英文）、auto（跟随问题的语言）。"
        "例如：{example}"
    ),
    "en": (
        '"{name}" is not offered. To choose from: zh (Chinese), en (English), auto (the language '
        "of your question). Send for example: {example}"
    ),
}
_SOURCES: Final[_Pair] = {
    "zh": "资料来源：\n{lines}\n关闭请发送 {off}，打开请发送 {on}。",
    "en": "Sources:\n{lines}\nTo switch one off or on, send {off} or {on}.",
}
_SWITCHED_OFF: Final[_Pair] = {
    "zh": "您关闭了这些来源，所以没有搜索：{names}。要打开，请发送：{commands}",
    "en": (
        "You switched these sources off, so they were not searched: {names}. To switch them on, "
        "send: {commands}"
    ),
}
_ON: Final[dict[bool, _Pair]] = {True: {"zh": "开", "en": "on"}, False: {"zh": "关", "en": "off"}}
_KINDS: Final[dict[str, _Pair]] = {
    "kb": {"zh": "知识库", "en": "the knowledge base"},
    "messages": {"zh": "您的聊天", "en": "your chats"},
    "docs": {"zh": "您的文档", "en": "your documents"},
    "minutes": {"zh": "您的会议纪要", "en": "your meeting minutes"},
}
_LINES: Final[dict[Line, _Pair]] = {
    "ask_what": {
        "zh": "请把问题写在命令后面，例如：{ask} 出差住宿标准是多少？",
        "en": "Write your question behind the command: {ask} What is the hotel limit?",
    },
    "new_in_channel": {
        "zh": "群里每个问题都是新的开始，没有要忘掉的内容。在话题里请 @我 发送 new。",
        "en": "In a channel each question starts anew. In a thread, mention me with the word new.",
    },
    "feedback_what": {
        "zh": "请把意见写在命令后面，例如：{feedback} 来源很有用",
        "en": "Write what you think behind the command: {feedback} The sources are useful",
    },
    "feedback_kept": {"zh": "谢谢，您的意见已记下。", "en": "Thank you, your words are noted."},
    "language_auto": {
        "zh": "好的，我用您提问的语言回答。",
        "en": "Done: I answer in the language of your question.",
    },
    "sources_unknown": {
        "zh": "没有这种来源。请发送 {sources} 查看。",
        "en": "There is no such source. Send {sources} to see them.",
    },
    "admins_only": {
        "zh": "只有管理员可以这样做。请联系管理员。",
        "en": "Only administrators can do this. Please ask one of them.",
    },
    "paused_here": {
        "zh": "好的，我在这里不再回答。发送 {resume} 恢复。",
        "en": "Done: I keep quiet in this chat. The command {resume} lets me answer again.",
    },
    "paused_all": {
        "zh": "好的，我在所有地方都不再回答。发送 {resume} all 恢复。",
        "en": "Done: I keep quiet everywhere. The command {resume} all lets me answer again.",
    },
    "resumed": {"zh": "好的，我重新开始回答。", "en": "Done: I answer again."},
    "listening": {
        "zh": "好的，在这个群里我回答过的话题中，不用 @我 也可以接着问。发送“别听了”停止。",
        "en": (
            "Done: in threads of this channel where I have answered, you can go on asking without "
            'mentioning me. Send "stop listening" to end it.'
        ),
    },
    "deaf_thread": {
        "zh": "好的，在这个话题里只有 @我 时我才回答。",
        "en": "Done: in this thread I answer only when I am mentioned.",
    },
    "deaf_channel": {
        "zh": "好的，在这个群里只有 @我 时我才回答。",
        "en": "Done: in this channel I answer only when I am mentioned.",
    },
    "listen_in_groups": {
        "zh": "这个命令用于群。私聊里发给我的每条消息我都会读。",
        "en": "This command is for channels. In a direct chat I read whatever you send me.",
    },
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
        "发送 help 查看命令。To switch to English, send: lang en"
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
        "公司知识库里您有权限看的资料，以及您发给我的消息；您自己的聊天和文档，连接之后才读。",
        "问题和答案 30 天，问题的登记 90 天，您的评价 400 天，之后删除。",
        ("去上海出差住宿标准是多少？", "VPN 错误 809 怎么解决？", "年假怎么申请？"),
    ),
    "en": Welcome(
        "the documents of the knowledge base that you may read, and what you send me; your own "
        "chats and documents only once you have connected them.",
        "questions and answers for 30 days, the register of questions for 90 days, your opinions "
        "for 400 days; then they are deleted.",
        (
            "What is the hotel limit in Shanghai?",
            "How do I solve VPN error 809?",
            "How do I apply for leave?",
        ),
    ),
}


def help_text(language: Language, platform: str, *, admin: bool = False) -> str:
    """What the bot does and its commands, with those of administrators for them."""
    text = _HELP[language] + (_ADMIN_HELP[language] if admin else "")
    return text.format_map({name: command(platform, name) for name in _COMMANDS})


def unknown_command(language: Language, platform: str, name: str, near: Sequence[str]) -> str:
    """There is no such command; `near` are names that look like it."""
    names = _OR[language].join(command(platform, word) for word in near)
    return _UNKNOWN[language].format(
        name=command(platform, name[:40]),
        nearest=_NEAREST[language].format(names=names) if near else "",
        help=command(platform, "help"),
    )


def status(language: Language, model: str, documents: int, version: str, waiting: int) -> str:
    """How things stand; `waiting` are the questions behind this one in its chat or thread."""
    queue = _WAITING[language].format(n=waiting) if waiting else _FREE[language]
    return _STATUS[language].format(
        model=model, documents=documents, version=version or "-", queue=queue
    )


def models(language: Language, platform: str, model: str, names: Sequence[str]) -> str:
    """The model in use and those to choose from."""
    text = _MODELS if len(names) > 1 else _MODEL_ONLY
    return text[language].format(
        model=model, names=", ".join(names), command=command(platform, "model")
    )


def model_set(language: Language, model: str) -> str:
    """A model was chosen."""
    return _MODEL_SET[language].format(model=model)


def model_refused(language: Language, name: str, names: Sequence[str]) -> str:
    """A model that is not offered was asked for."""
    return _MODEL_REFUSED[language].format(name=name[:80], names=", ".join(names))


def speaking(language: Language, platform: str) -> str:
    """Which language is spoken and how to change it."""
    other = "lang en" if language == "zh" else "lang zh"
    return _LANGUAGE[language].format(
        other=command(platform, other), auto=command(platform, "lang auto")
    )


def no_language(platform: str) -> str:
    """No language is chosen, said in both: a command alone does not tell which one is meant."""
    return _NO_LANGUAGE.format(zh=command(platform, "lang zh"), en=command(platform, "lang en"))


def language_refused(language: Language, platform: str, name: str) -> str:
    """A language that is not offered was asked for."""
    example = command(platform, "lang auto")
    return _LANGUAGE_REFUSED[language].format(name=name[:40], example=example)


def sources(
    language: Language,
    platform: str,
    kinds: Sequence[str],
    off: frozenset[str],
    states: Mapping[str, str],
) -> str:
    """Each kind of source with whether it is searched for this person, and how it stands."""
    lines: list[str] = []
    for kind in kinds:
        said = states.get(kind, "") if kind not in off else ""
        on = _ON[kind not in off][language]
        lines.append(f"{_KINDS[kind][language]} ({kind}): {', '.join(filter(None, (on, said)))}")
    return _SOURCES[language].format(
        lines="\n".join(lines),
        off=command(platform, f"sources off {kinds[0]}"),
        on=command(platform, f"sources on {kinds[0]}"),
    )


def kind_name(language: Language, kind: str) -> str:
    """A kind of sources in the person's words."""
    return _KINDS[kind][language]


def switched_off(language: Language, platform: str, kinds: Sequence[str]) -> str:
    """Under a refusal: what was not searched because the person switched it off."""
    joint = "、" if language == "zh" else ", "
    return _SWITCHED_OFF[language].format(
        names=joint.join(_KINDS[kind][language] for kind in kinds),
        commands=joint.join(command(platform, f"sources on {kind}") for kind in kinds),
    )


def line(language: Language, name: Line, platform: str = "feishu") -> str:
    """One short text about a command; `platform` is where people write it."""
    text = _LINES[name][language]
    return text.format_map({word: command(platform, word) for word in _COMMANDS})


def welcome(language: Language, said: Welcome | None) -> str:
    """The first words to a person or group; None takes our own."""
    words = said or WELCOME[language]
    examples = "\n".join(f"· {example}" for example in words.examples)
    return _WELCOME[language].format(reads=words.reads, kept=words.kept, examples=examples)

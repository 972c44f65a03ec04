"""The texts of ours that a person sees, in Chinese and English; they stand in phrases.toml.

Names of people, sources and tools come in as values; nothing here is written by a model.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast

from agent.domain import Attachment, Language

ProgressKind = Literal["thinking", "searching", "reading", "writing"]

_Texts = Mapping[str, Mapping[str, Mapping[Language, str]]]
_FILES_NAMED: Final = 5


@cache
def _texts() -> _Texts:
    """Texts by group, name and language; read when the first one is needed."""
    text = files("agent").joinpath("phrases.toml").read_text(encoding="utf-8")
    return cast("_Texts", tomllib.loads(text))


def _line(language: Language, name: str, **filled: object) -> str:
    return _texts()["line"][name][language].format(**filled)


def _listed(language: Language, names: Sequence[str]) -> str:
    return ("、" if language == "zh" else ", ").join(names)


def progress(language: Language, kind: ProgressKind, topic: str = "") -> str:
    """What the bot is doing now; `topic` is a tool's topic in that language, "" for none."""
    shown = topic or _line(language, "any_topic")
    return _texts()["progress"][kind][language].format(topic=shown)


def still(language: Language, line: str, seconds: float) -> str:
    """A progress line that has not changed for a while; `seconds` since the answer was begun."""
    shown = line or progress(language, "writing")
    return _line(language, "still", line=shown, seconds=round(seconds))


def cleared(language: Language) -> str:
    """The thread's history was forgotten on the person's wish."""
    return _line(language, "cleared")


def empty_question(language: Language) -> str:
    """A message without words: what can be asked."""
    return _line(language, "empty_question")


def unsupported(language: Language, kind: str) -> str:
    """A message whose kind (the platform's own word, such as audio) can not be read."""
    kinds = _texts()["kind"]
    return _line(language, "unsupported", kind=kinds.get(kind, kinds["other"])[language])


def external(language: Language) -> str:
    """Told in both languages to a person of another company, their own first."""
    other: Language = "en" if language == "zh" else "zh"
    return f"{_line(language, 'external')}\n\n{_line(other, 'external')}"


def summarise(language: Language) -> str:
    """What the model is asked to do with material that came without a question."""
    return _line(language, "summarise")


def files_unread(language: Language, attachments: Sequence[Attachment]) -> str:
    """Notice under an answer to a question whose attachments were not read."""
    kinds = _texts()["attachment"]
    names = [a.name or kinds[a.kind][language] for a in attachments[:_FILES_NAMED]]
    names += ["…"] if len(attachments) > _FILES_NAMED else []
    return _line(language, "files_unread", names=_listed(language, names))


def error(language: Language, code: str) -> str:
    """The text for an error code of agent/errors.py, with its next step and the code."""
    errors = _texts()["error"]
    text = errors.get(code, errors["PL-000"])[language]
    return _line(language, "with_code", text=text, code=code)


def error_codes() -> Mapping[str, Mapping[Language, str]]:
    """Every code that has a text of its own, and PL-000 for all the others."""
    return {"PL-403": _texts()["line"]["unsearched"], **_texts()["error"]}


def offline_model(language: Language) -> str:
    """Notice under an answer of the offline model."""
    return _line(language, "offline_model")


def incomplete(language: Language) -> str:
    """Notice under an answer whose model stream broke off."""
    return _line(language, "incomplete")


def shortened(language: Language) -> str:
    """Notice under an answer for which results were cut to fit the model's window."""
    return _line(language, "shortened")


def step_limit(language: Language, steps: int) -> str:
    """Notice under an answer that was ended by the step limit."""
    return _line(language, "step_limit", steps=steps)


def refusal_steps(language: Language) -> str:
    """What a person can do when nothing was found."""
    return _line(language, "refusal_steps")


def kept_private(language: Language) -> str:
    """The neutral line for a room that may not read the answer."""
    return _line(language, "kept_private")


def unsearched(language: Language, topics: Sequence[str]) -> str:
    """Notice under an answer that had to do without some sources."""
    return _line(language, "unsearched", topics=_listed(language, topics))

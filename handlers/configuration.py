"""plumbline.toml: what an operator decides about people and spaces. Unknown keys are refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.domain import Identity, Language, Platform
from agent.errors import Misconfigured
from handlers.surface.manual import WELCOME, Welcome


class WelcomeWords(BaseModel):
    """What a new person is told in one language; what is left out is our own text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reads: str = ""
    kept: str = ""
    examples: tuple[str, ...] = ()


class Configuration(BaseModel):
    """The file's content.

    `groups` names who belongs to a reader group: `platform:user id`, such as `slack:U0ALICE001`.
    `admins` may pause the bot, named in the same way. `escalation` says to which chats the
    questions about a space go that are passed on to colleagues: `space = "feishu:oc_…"` or, for
    both platforms, `"feishu:oc_… slack:C…"`; `default` is for all other spaces. `welcome` says by
    language what a new person is told: what the bot reads, what is kept how long, examples.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: dict[str, tuple[str, ...]] = {}
    admins: tuple[str, ...] = ()
    escalation: dict[str, str] = {}
    welcome: dict[Language, WelcomeWords] = {}

    def groups_of(self, person: Identity) -> frozenset[str]:
        """The groups that name this person."""
        member = f"{person.platform}:{person.user}"
        return frozenset(name for name, members in self.groups.items() if member in members)

    def is_admin(self, person: Identity) -> bool:
        """Whether this person may pause the bot."""
        return f"{person.platform}:{person.user}" in self.admins

    def greeting(self) -> dict[Language, Welcome]:
        """What a new person is told, our own text in place of what the file leaves out."""
        given: dict[Language, WelcomeWords] = {
            language: self.welcome.get(language, WelcomeWords()) for language in WELCOME
        }
        return {
            language: Welcome(
                words.reads or WELCOME[language].reads,
                words.kept or WELCOME[language].kept,
                words.examples or WELCOME[language].examples,
            )
            for language, words in given.items()
        }

    def escalation_chat(self, space: str, platform: Platform) -> str:
        """The chat on the platform where colleagues answer for the space; "" when there is none."""
        for name in (space, "default"):
            for chat in self.escalation.get(name, "").split():
                if chat.startswith(f"{platform}:"):
                    return chat.removeprefix(f"{platform}:")
        return ""


def load_configuration(path: str) -> Configuration:
    """The configuration in the file; without a file nobody is in any group.

    Raises:
        Misconfigured: the file is missing, is no TOML or holds keys that mean nothing.
    """
    if not path:
        return Configuration()
    try:
        text = Path(path).read_text(encoding="utf-8")
        return Configuration.model_validate(tomllib.loads(text))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise Misconfigured(f"{Path(path).name} can not be used: {error}") from error

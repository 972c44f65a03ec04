"""plumbline.toml: what an operator decides about people and spaces. Unknown keys are refused."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from agent.domain import Identity, Language, Platform
from agent.errors import Misconfigured
from handlers.surface.manual import WELCOME, Welcome

_MEMBER = re.compile(
    r"(feishu|slack):[^:\s]+|feishu:(department|user-group):[^:\s]+|slack:usergroup:[^:\s]+"
)


class WelcomeWords(BaseModel):
    """What a new person is told in one language; what is left out is our own text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reads: str = ""
    kept: str = ""
    examples: tuple[str, ...] = ()


class Configuration(BaseModel):
    """The file's content.

    `tenants` are the organisation's own, `feishu:tenant key` or `slack:team or enterprise id`; a
    platform of which none is named takes whoever the event does not call external. `groups` names
    who belongs to a reader group: people (`platform:user id`, such as `slack:U0ALICE001`) and
    groups of the platform (`feishu:department:od-…`, `feishu:user-group:…`, `slack:usergroup:S…`).
    `admins` may pause the bot, named as people are. `escalation` says to which chats the questions
    about a space go that are passed on to colleagues: `space = "feishu:oc_…"` or, for both
    platforms, `"feishu:oc_… slack:C…"`; `default` is for all other spaces. `welcome` says by
    language what a new person is told: what the bot reads, what is kept how long, examples.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenants: tuple[str, ...] = ()
    groups: dict[str, tuple[str, ...]] = {}
    admins: tuple[str, ...] = ()
    escalation: dict[str, str] = {}
    welcome: dict[Language, WelcomeWords] = {}

    @field_validator("groups")
    @classmethod
    def _known_members(cls, groups: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Refuse a member that could never match, since a slip here takes rights away unseen."""
        for member in (one for members in groups.values() for one in members):
            if not _MEMBER.fullmatch(member):
                raise ValueError(
                    f"{member!r} is no member: write platform:user id, feishu:department:ID, "
                    "feishu:user-group:ID or slack:usergroup:ID"
                )
        return groups

    def owns(self, person: Identity) -> bool:
        """Whether a person comes from one of the organisation's own tenants."""
        own = [name for name in self.tenants if name.startswith(f"{person.platform}:")]
        return not person.external and (not own or f"{person.platform}:{person.tenant}" in own)

    def with_tenants(self, feishu: str, slack: str) -> Configuration:
        """Together with the tenants of the settings; "" for none."""
        named = {f"feishu:{feishu}" if feishu else "", f"slack:{slack}" if slack else ""} - {""}
        return self.model_copy(update={"tenants": (*self.tenants, *sorted(named))})

    def groups_of(
        self, person: Identity, platform_groups: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """The groups that name this person, or a group of the platform that the person is in."""
        if not self.owns(person):
            return frozenset()
        own = {f"{person.platform}:{one}" for one in (person.user, *platform_groups)}
        return frozenset(name for name, members in self.groups.items() if own & {*members})

    def platform_groups(self, platform: Platform) -> frozenset[str]:
        """The platform's groups that are named, without the platform in front."""
        members = (one for members in self.groups.values() for one in members)
        named = (one.removeprefix(f"{platform}:") for one in members if one.startswith(platform))
        return frozenset(name for name in named if ":" in name)

    def is_admin(self, person: Identity) -> bool:
        """Whether this person may pause the bot."""
        return self.owns(person) and f"{person.platform}:{person.user}" in self.admins

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

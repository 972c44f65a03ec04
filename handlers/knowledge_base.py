"""Opens the knowledge base that the settings name; OpenSearch's client is loaded when it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import Misconfigured
from agent.ports import Clock, Table
from handlers.settings import Settings

if TYPE_CHECKING:
    from rag.knowledge import Knowledge
    from rag.opensearch.target import Target


def open_base(settings: Settings, table: Table, clock: Clock) -> Knowledge:
    """The organisation's knowledge base; nothing is asked or read before it is used.

    Raises:
        Misconfigured: the index or the embedder is unknown, or the index lacks its settings.
    """
    from rag.knowledge import open_knowledge

    home, target = Path(settings.home), target_of(settings)
    return open_knowledge(home, settings.embedder, table, settings.org, clock, target)


def target_of(settings: Settings) -> Target | None:
    """Where the OpenSearch index is; None when the embedded one is chosen.

    Raises:
        Misconfigured: a setting is missing or unknown; the text names it.
    """
    if settings.index == "embedded":
        return None
    if settings.index != "opensearch":
        raise Misconfigured(
            f"PLUMBLINE_INDEX has to be embedded or opensearch, not {settings.index!r}."
        )
    if not settings.opensearch_url:
        raise Misconfigured("PLUMBLINE_INDEX=opensearch needs PLUMBLINE_OPENSEARCH_URL.")
    if settings.opensearch_aws not in ("", "es", "aoss"):
        raise Misconfigured(
            "PLUMBLINE_OPENSEARCH_AWS has to be es (a domain), aoss (serverless) or empty, not "
            f"{settings.opensearch_aws!r}."
        )
    from rag.opensearch.target import Target

    return Target(
        settings.opensearch_url,
        settings.opensearch_aws,
        settings.aws_region,
        settings.opensearch_user,
        settings.opensearch_password,
    )

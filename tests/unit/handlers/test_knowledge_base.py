"""Which index the settings name, and how a slip in them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import Misconfigured
from agent.stores.memory_table import MemoryTable
from handlers.knowledge_base import open_base, target_of
from handlers.settings import Settings
from rag.opensearch.index import OpenSearchIndex
from rag.opensearch.target import Target
from tests.fakes.clock import FakeClock

URL = "https://kb.example"


def test_the_embedded_index_is_the_default() -> None:
    assert target_of(Settings()) is None


def test_a_domain_and_a_collection() -> None:
    plain = Settings(index="opensearch", opensearch_url=URL, opensearch_user="u")
    assert target_of(plain) == Target(URL, user="u")
    signed = Settings(
        index="opensearch", opensearch_url=URL, opensearch_aws="aoss", aws_region="eu-case-1"
    )
    assert target_of(signed) == Target(URL, "aoss", "eu-case-1")
    assert Target(URL, "aoss").serverless
    assert not Target(URL, "es").serverless


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (Settings(index="solr"), "PLUMBLINE_INDEX"),
        (Settings(index="opensearch"), "PLUMBLINE_OPENSEARCH_URL"),
        (
            Settings(index="opensearch", opensearch_url=URL, opensearch_aws="ec2"),
            "PLUMBLINE_OPENSEARCH_AWS",
        ),
    ],
)
def test_a_slip_is_told_by_its_name(settings: Settings, named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        target_of(settings)


def test_the_chosen_index_is_opened(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), org="acme", index="opensearch", opensearch_url=URL)
    knowledge = open_base(settings, MemoryTable(), FakeClock())
    assert isinstance(knowledge.index, OpenSearchIndex)
    assert knowledge.index.alias == "plumbline-acme"


async def test_only_opensearch_is_rebuilt_in_place(tmp_path: Path) -> None:
    knowledge = open_base(Settings(home=str(tmp_path)), MemoryTable(), FakeClock())
    with pytest.raises(Misconfigured, match="kb add"):
        await knowledge.rebuild()

"""The policy prompt: it can be read, and it agrees with the markers that the core understands."""

from __future__ import annotations

from agent.markers import MARKER, NO_ANSWER, is_refusal
from agent.policy import policy, prompt_version


def test_the_policy_names_the_markers_that_the_core_reads() -> None:
    assert NO_ANSWER in policy()
    assert MARKER.search(policy())
    assert not is_refusal(policy())


def test_the_version_is_the_texts_own() -> None:
    assert len(prompt_version()) == 12
    assert prompt_version() == prompt_version()


def test_the_policy_names_no_tool() -> None:
    """Tools come and go by person and setting; their own descriptions say what they are for."""
    assert "knowledge_search" not in policy()
    assert "read_document" not in policy()

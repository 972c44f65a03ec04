"""A test that needs OpenSearch is skipped loudly without one, and fails where CI says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWITCH = "PLUMBLINE_TESTS_REQUIRE_OPENSEARCH"


def without_node(**more: str) -> subprocess.CompletedProcess[str]:
    """A run of one such test where there is neither an address nor a Java."""
    hidden = {"PATH": "", "OPENSEARCH_URL": "", SWITCH: ""}
    chosen = ["tests/contract/test_opensearch.py", "-k", "organisations", "-n", "0", "-p", "no:cov"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *chosen],
        cwd=ROOT,
        env={**os.environ, **hidden, **more},  # noqa: TID251  the run's own environment
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_skipped_is_said() -> None:
    done = without_node()
    assert done.returncode == 0, done.stdout
    assert "1 TESTS DID NOT MEET A REAL OPENSEARCH" in done.stdout
    assert "there is no java" in done.stdout


def test_where_it_is_required_a_skipped_test_has_failed() -> None:
    done = without_node(**{SWITCH: "1"})
    assert done.returncode == 1, done.stdout
    assert "skipped, and OpenSearch is required here" in done.stdout
    assert f"export {SWITCH}=1" in (ROOT / ".ci" / "run").read_text("utf-8")

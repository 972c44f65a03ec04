"""The offline model answers the sample company's questions as well as it did when it was tuned."""

from __future__ import annotations

import pytest

from evaluation.answers import FRESH, evaluate, summary

pytestmark = pytest.mark.slow


async def test_the_labelled_questions_keep_their_floors() -> None:
    verdicts = await evaluate()
    figures = summary(verdicts)
    assert figures["answerable"]["right"] >= 0.85
    assert figures["absent"]["refused"] >= 0.9
    assert figures["follow-up"]["right"] >= 0.8
    assert figures["conflict"]["right"] >= 0.75
    assert figures["obsolete"]["right"] == 1.0
    assert figures["answerable"]["noise"] <= 0.6
    false_conflicts = [v.id for v in verdicts if v.conflict and v.kind != "conflict"]
    assert len(false_conflicts) <= 2, false_conflicts


async def test_who_may_not_read_the_source_hears_what_is_said_when_nothing_is_there() -> None:
    outside = [v for v in await evaluate(kind="restricted") if v.outsider]
    absent = {v.answer for v in await evaluate(kind="absent")}
    assert outside
    assert {v.answer for v in outside} <= absent


async def test_questions_that_nothing_was_tuned_on() -> None:
    assert summary(await evaluate(FRESH))["answerable"]["right"] >= 0.83

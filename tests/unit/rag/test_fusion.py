"""Fusion keeps every candidate, follows agreement, and mutes words that hardly matched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag.fusion import fuse, gate, min_max

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 50), max_size=8)
SHARE = st.floats(0, 1)


@given(SCORES, SCORES, SHARE, SHARE)
def test_all_candidates_once_in_falling_order_within_0_and_1(
    words: dict[str, float], dense: dict[str, float], share: float, trust: float
) -> None:
    fused = fuse(words, dense, dense_share=share, word_gate=trust)
    assert fused.keys() == words.keys() | dense.keys()
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    assert all(0 <= score <= 1 + 1e-9 for score in fused.values())


@given(SCORES, SCORES)
def test_a_closed_gate_leaves_the_vector_order(
    words: dict[str, float], dense: dict[str, float]
) -> None:
    fused = fuse(words, dense, dense_share=0.6, word_gate=0.0)
    kept = [key for key in fused if key in dense]
    assert [dense[key] for key in kept] == sorted(dense.values(), reverse=True)


@given(SCORES, SHARE)
def test_best_of_both_sides_is_best(scores: dict[str, float], share: float) -> None:
    fused = fuse(scores, scores, dense_share=share, word_gate=1.0)
    assert not fused or scores[next(iter(fused))] == max(scores.values())


@given(SCORES, st.floats(0.1, 10), st.floats(-5, 5))
def test_min_max_is_blind_to_scale_and_offset(
    scores: dict[str, float], factor: float, offset: float
) -> None:
    moved = min_max({key: factor * score + offset for key, score in scores.items()})
    if len({round(s, 6) for s in scores.values()}) == len(scores) > 1:
        assert all(abs(moved[key] - value) < 1e-3 for key, value in min_max(scores).items())


def test_gate_opens_with_the_share_of_the_ceiling() -> None:
    assert [gate(0, 10), gate(1, 10), gate(2, 10), gate(9, 10)] == [0.0, 0.5, 1.0, 1.0]
    assert gate(0, 0) == 0.0

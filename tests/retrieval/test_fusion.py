"""Several rankings become one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.retrieval.ranking import best_rows, blend, fuse


def _f(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_of_equal_scores_the_first_rows_are_taken() -> None:
    scores = np.tile(_f(0, 2, 1), 400)
    assert best_rows(scores, 500, None, above=0.0) == [*range(1, 1200, 3), *range(2, 302, 3)]
    assert best_rows(scores, 3, scores != 2, above=0.0) == [2, 5, 8]
    assert best_rows(scores[:3], 100, None, above=0.0) == [1, 2]


def test_ranks_are_fused_by_their_reciprocals() -> None:
    assert fuse([[1, 2], [2]]) == {2: 1 / 62 + 1 / 61, 1: 1 / 61}


def test_scores_are_measured_against_the_best() -> None:
    scores = blend([7, 8, 9], _f(4, 2, 0), _f(0.8, 0.9, 0.7), ground=0.8)
    assert scores == pytest.approx({8: 0.75, 7: 0.5, 9: 0.0})
    assert list(scores) == [8, 7, 9]


def test_a_clear_winner_by_meaning_is_not_outvoted_by_what_is_middling_in_both() -> None:
    """By ranks it would be: the first by meaning shares no word with the question."""
    things = list(range(41))
    words, meaning = _f(0, *range(40, 0, -1)), _f(0.93, *[0.82] * 40)
    assert list(fuse([things[1:], things])).index(0) == 40
    assert list(blend(things, words, meaning, ground=0.8)).index(0) < 20


def test_without_words_or_things() -> None:
    assert blend([], _f(), _f(), ground=0.0) == {}
    assert blend([3, 4], _f(0, 0), _f(0.1, 0.3), ground=0.0) == pytest.approx({4: 0.5, 3: 1 / 6})
    assert blend([3, 4], _f(0, 0), _f(0.1, 0.1), ground=0.5) == {3: 0.0, 4: 0.0}


@given(st.lists(st.tuples(st.floats(0, 50, width=32), st.floats(-1, 1, width=32)), max_size=20))
def test_scores_lie_between_0_and_1_in_falling_order(pairs: list[tuple[float, float]]) -> None:
    words, meaning = _f(*(w for w, _ in pairs)), _f(*(m for _, m in pairs))
    scores = blend(list(range(len(pairs))), words, meaning, ground=0.0)
    values = list(scores.values())
    assert sorted(scores) == list(range(len(pairs)))
    assert values == sorted(values, reverse=True)
    assert all(0 <= value <= 1 for value in values)

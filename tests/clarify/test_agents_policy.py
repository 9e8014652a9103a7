"""The policy: equal to brute force, and sane at its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from naisei.clarify.agents.policy import Stage, plan, value

Array = npt.NDArray[np.float64]


@st.composite
def problems(draw: st.DrawFn, actions: int = 4, questions: int = 3) -> tuple[Array, Array]:
    """A belief and tables P(answer | action, question) with two answers each."""
    chance = st.floats(0.01, 1.0)
    n = draw(st.integers(2, actions))
    belief = np.array(draw(st.lists(chance, min_size=n, max_size=n)))
    count = draw(st.integers(1, questions))
    rows = draw(st.lists(st.lists(chance, min_size=n, max_size=n), min_size=count, max_size=count))
    yes = np.array(rows)
    return belief / belief.sum(), np.stack([yes, 1 - yes], axis=1)


def by_hand(p: Array, tables: Array, stage: Stage) -> float:
    """The value by plain recursion over normalised posteriors: slow, and written apart."""
    if stage.trials == 0 or p.sum() <= 0:
        return 0.0
    best = max(range(len(p)), key=lambda a: p[a])
    rest = np.array([0.0 if a == best else p[a] for a in range(len(p))])
    wrong = rest.sum()
    later = replace(stage, trials=stage.trials - 1, left=stage.quota)
    execute = p[best]
    if wrong > 0:
        execute += stage.beta * wrong * by_hand(rest / wrong, tables, later)
    options = [execute]
    if stage.left > 0:
        # One question is looked ahead.
        after = replace(stage, left=0, quota=0)
        for table in tables:
            total = 0.0
            for row in table:
                chance = float((p * row).sum())
                if chance > 0:
                    total += chance * by_hand(p * row / chance, tables, after)
            options.append(stage.alpha * total)
    return max(options)


def exact(belief: Array, tables: Array, stage: Stage) -> float:
    return float(value(belief[None], tables, stage)[0])


@given(
    problems(),
    st.floats(0.1, 1.0),
    st.floats(0.1, 1.0),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_value_equals_brute_force(
    problem: tuple[Array, Array], alpha: float, beta: float, trials: int, quota: int, asked: int
) -> None:
    belief, tables = problem
    stage = Stage(alpha, trials, quota, max(0, quota - asked), beta)
    wanted = by_hand(belief, tables, stage)
    assert np.isclose(exact(belief, tables, stage), wanted, atol=1e-12)


@given(problems(), st.floats(0.0, 1.0), st.integers(1, 3))
def test_never_asks_when_sure(problem: tuple[Array, Array], alpha: float, trials: int) -> None:
    belief, tables = problem
    sure = np.zeros_like(belief)
    sure[-1] = 1.0
    found = plan(sure, tables, Stage(alpha, trials, 2, 2))
    assert not found.pays and found.action == len(belief) - 1


def test_asks_the_question_that_tells_the_two_apart() -> None:
    belief = np.array([0.5, 0.5, 0.0])
    useless = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])
    telling = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    found = plan(belief, np.stack([useless, telling]), Stage(0.9, 1, 2, 2))
    assert found.question == 1 and found.pays
    assert np.isclose(found.ask, 0.9)
    assert np.isclose(found.execute, 0.5)


def test_trials_left_over_make_asking_worthless_only_where_wrong_acts_cost_nothing() -> None:
    # Two tries for two actions succeed for sure; but half of the time the first is a wrong act.
    belief = np.array([0.5, 0.5])
    telling = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    assert not plan(belief, telling, Stage(0.9, 2, 2, 2, beta=1.0)).pays
    found = plan(belief, telling, Stage(0.9, 2, 2, 2, beta=0.5))
    assert found.pays
    assert np.isclose(found.execute, 0.75)


def test_no_question_without_quota_or_questions() -> None:
    belief = np.array([0.5, 0.5])
    telling = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    assert plan(belief, telling, Stage(0.9, 1, 2, 0)).question is None
    assert plan(belief, np.zeros((0, 2, 2)), Stage(0.9, 1, 2, 2)).question is None

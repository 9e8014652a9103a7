"""Figures worked out by hand, to 1e-12."""

import math

import pytest

from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.metrics import summarise
from naisei.clarify.schemas import EpisodeResult, Instance, Scene, TrialLog, Turn
from naisei.core import Usage, Where
from naisei.runs.task import EpisodeRow

GOLD = 7


def instance(i: str) -> Instance:
    return Instance(id=i, scene=Scene(id=i, utterance="…"), gold=GOLD, scene_id=i, ambiguity="k")


def trial(n: int, action: int, guesses: list[int], *, repeated: bool = False) -> TrialLog:
    turns = tuple(Turn(question="q", answer="a", guess=g) for g in guesses)
    return TrialLog(trial=n, turns=turns, action=action, success=action == GOLD, repeated=repeated)


def row(i: str, trials: list[TrialLog], usage: tuple[Usage, ...] = (), t: int = 0) -> EpisodeRow:
    result = EpisodeResult(instance=i, gold=GOLD, trials=tuple(trials))
    return EpisodeRow(Where(i, t), result.model_dump(mode="json"), "", usage)


ROWS = [
    # solved at once without asking: s = 1
    row("a", [trial(1, GOLD, [])], (Usage(role="agent", input_tokens=100, output_tokens=10),)),
    # asked twice although right at first: s = 3
    row("b", [trial(1, GOLD, [GOLD, GOLD])], (Usage(role="agent", input_tokens=300),)),
    # wrong without asking, then solved with one question: s = 2
    row(
        "c",
        [trial(1, 1, []), trial(2, GOLD, [2])],
        (
            Usage(role="agent", input_tokens=200, output_tokens=20),
            Usage(role="reflector", input_tokens=50, output_tokens=30),
            Usage(role="simulator", input_tokens=1000),
        ),
    ),
    # never solved; the second trial repeats the first
    row(
        "d",
        [trial(1, 1, [3]), trial(2, 1, [], repeated=True), trial(3, 2, [])],
        (Usage(role="agent", input_tokens=70), Usage(role="reflector", output_tokens=8)),
    ),
]
INSTANCES = {i: instance(i) for i in "abcd"}


def metrics(config: ClarifyConfig, rows=ROWS):
    return {m.name: m for m in summarise(config, INSTANCES, rows).metrics}


def test_success_by_hand():
    got = metrics(ClarifyConfig(agent="llm", rules=Rules(trials=3), alpha=0.9))
    expect = {
        "pass@1": 2 / 4,
        "pass@3": 3 / 4,
        "dpass@1": (1 + 0.81) / 4,
        "dpass@3": (1 + 0.81 + 0.9) / 4,
        "questions": (0 + 2 + 1 + 1) / 4,
        "questions_first_trial": (0 + 2 + 0 + 1) / 4,
        "over_asking": 1 / 2,
        "under_asking": 1 / 2,
        "refused_answers": 0,
        "repeated_actions": 1 / 3,
    }
    for name, value in expect.items():
        assert got[name].value == pytest.approx(value, abs=1e-12), name
    assert math.isnan(got["score@5"].value) and "3 trial" in got["score@5"].reason
    assert math.isnan(got["pass@5"].value) and "3 trial" in got["pass@5"].reason
    assert math.isnan(got["pass^1"].value) and "independent" in got["pass^1"].reason


def test_dpass_equals_the_papers_product():
    got = metrics(ClarifyConfig(agent="llm", rules=Rules(trials=3), alpha=0.5))
    mean_discount = (1 + 0.25 + 0.5) / 3
    assert got["dpass@3"].value == pytest.approx(got["pass@3"].value * mean_discount, abs=1e-12)


def test_tokens_by_hand_over_successes_and_over_all():
    got = metrics(ClarifyConfig(agent="llm", rules=Rules(trials=3)))
    assert got["tokens_reflection_success"].value == pytest.approx((0 + 0 + 80) / 3, abs=1e-12)
    assert got["tokens_total_success"].value == pytest.approx((110 + 300 + 300) / 3, abs=1e-12)
    assert got["tokens_reflection_all"].value == pytest.approx((80 + 8) / 4, abs=1e-12)
    assert got["tokens_total_all"].value == pytest.approx((110 + 300 + 300 + 78) / 4, abs=1e-12)


def test_independent_trials():
    config = ClarifyConfig(agent="llm", rules=Rules(trials=3), independent=True)
    rows = [
        row("a", [trial(1, action, [])], t=t) for t, action in enumerate([GOLD, 1, GOLD], start=1)
    ] + [row("b", [trial(1, 1, [])], t=t) for t in (1, 2, 3)]
    got = metrics(config, rows)
    assert got["pass@1"].value == pytest.approx((2 / 3 + 0) / 2, abs=1e-12)
    assert got["pass@3"].value == pytest.approx(1 / 2, abs=1e-12)
    assert got["pass^1"].value == pytest.approx(1 / 3, abs=1e-12)
    assert got["pass^3"].value == pytest.approx(0, abs=1e-12)
    assert math.isnan(got["pass@5"].value) and got["pass@5"].reason
    assert math.isnan(got["dpass@3"].value)


def test_nothing_scored_is_nan_with_a_reason_and_never_zero():
    got = metrics(ClarifyConfig(agent="llm"), [EpisodeRow(Where("a"), None, "timed out")])
    assert all(math.isnan(m.value) and m.reason for m in got.values())


def test_no_asking_leaves_asking_undefined():
    config = ClarifyConfig(agent="llm", rules=Rules(trials=3, clarify=False))
    got = metrics(config, [ROWS[0]])
    assert math.isnan(got["over_asking"].value) and "may not ask" in got["over_asking"].reason

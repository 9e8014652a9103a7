"""Ask or execute: the optimal-stopping reading of score@k (`naisei.clarify.metrics`).

An episode has `trials` tries with `quota` questions in each. Each question multiplies the value
of a later success by alpha, each wrong act by beta; knowledge carries over between trials. The
value of a state is its expected discounted success:

    execute = p(best) + beta V(the others, next trial)
    ask j   = alpha * sum over answers r of P(r) V(posterior given r)

Everything is done on unnormalised masses P(action, answers so far), in which V is linear:
no division, and a sum over answers needs no weights. Executing always takes the likeliest
action. Acting blindly does not pay: a wrong act costs as much as log beta / log alpha questions.

The lookahead is one question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from naisei.similarity import order

Array = npt.NDArray[np.float64]
#: Smaller gains are rounding errors; on ties, execute.
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Stage:
    """The current state of an episode.

    alpha, beta: discounts per question and per wrong act, in [0, 1]. trials: trials left, including
    this one, ≥ 1. quota: questions per trial. left: questions left in this trial.
    """

    alpha: float = 0.9
    trials: int = 3
    quota: int = 2
    left: int = 2
    beta: float = 0.5

    def next_trial(self) -> Stage:
        return replace(self, trials=self.trials - 1, left=self.quota)


@dataclass(frozen=True, slots=True)
class Plan:
    """Both options. question: index of the best question, `None` if none is allowed. action: index
    of the likeliest action. execute, ask: their expected discounted success; `ask` is -inf if no
    question is allowed."""

    question: int | None
    action: int
    execute: float
    ask: float

    @property
    def pays(self) -> bool:
        """Whether asking is worth more than executing."""
        return self.ask > self.execute + _TIE


def plan(belief: Array, tables: Array, stage: Stage) -> Plan:
    """Decide for a belief.

    belief: shape (actions,), ≥ 0; need not sum to 1. tables: shape (questions, answers,
    actions): P(answer | action, question), padded with rows of zeros where a question has
    fewer answers.
    """
    mass = np.asarray(belief, float)[None, :]
    best = int(order(mass[0])[0])
    now = float(_execute(mass, stage, tables)[0])
    if stage.left <= 0 or len(tables) == 0:
        return Plan(None, best, now, -np.inf)
    gains = _ask_each(mass, stage, tables)[:, 0]
    return Plan(int(order(gains)[0]), best, now, float(gains.max()))


def value(mass: Array, tables: Array, stage: Stage) -> Array:
    """V of each row of `mass`, shape (rows, actions) → (rows,)."""
    if stage.trials <= 0:
        return np.zeros(len(mass))
    if len(tables) == 0 or stage.quota <= 0:
        return _no_more_questions(mass, stage)
    done = _execute(mass, stage, tables)
    if stage.left <= 0:
        return done
    best: Array = np.maximum(done, _ask_each(mass, stage, tables).max(axis=0))
    return best


def _execute(mass: Array, stage: Stage, tables: Array) -> Array:
    """The value of executing the likeliest action, with a next trial for the others."""
    best = mass.argmax(axis=1)
    rows = np.arange(len(mass))
    gained: Array = mass[rows, best]
    if stage.trials <= 1:
        return gained
    rest = mass.copy()
    rest[rows, best] = 0.0
    return gained + stage.beta * value(rest, tables, stage.next_trial())


def _ask_each(mass: Array, stage: Stage, tables: Array) -> Array:
    """The value of asking one question and no more, shape (questions, rows)."""
    # (rows, questions, answers, actions) at once.
    split = mass[:, None, None, :] * tables[None]
    flat = split.reshape(-1, mass.shape[1])
    values = _no_more_questions(flat, stage).reshape(split.shape[:3])
    each: Array = stage.alpha * values.sum(axis=2).T
    return each


def _no_more_questions(mass: Array, stage: Stage) -> Array:
    """The value of executing actions by probability: p₁ + beta p₂ + beta² p₃ + …"""
    count = min(stage.trials, mass.shape[1])
    top = np.partition(-mass, count - 1, axis=1)[:, :count]
    top = -np.sort(top, axis=1)
    total: Array = top @ stage.beta ** np.arange(count)
    return total

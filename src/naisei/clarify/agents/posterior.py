"""The posterior over actions: a prior from the scene, updated by every answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from naisei.clarify.agents.features import (
    SCENE_FEATURES,
    TEXT_FEATURES,
    BayesWeights,
    Features,
    Vectors,
    softmax,
)
from naisei.clarify.agents.knowledge import Cues
from naisei.clarify.agents.questions import Question, named_table, reply_table, side_named
from naisei.clarify.schemas import Scene
from naisei.japanese.answers import Answer, Stance

Array = npt.NDArray[np.float64]

_POLAR_ROWS = {Stance.YES: (0,), Stance.NO: (1,), Stance.NEITHER: (2,), Stance.BOTH: (0, 2)}
_EITHER_ROWS = {
    Stance.FIRST: (0,),
    Stance.SECOND: (1,),
    Stance.BOTH: (0, 1),
    Stance.NEITHER: (2,),
    Stance.NO: (2,),
}
_SILENT = (Stance.REFUSED, Stance.UNSURE)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Bayes' rule for one set of actions, with fitted weights."""

    features: Features
    weights: BayesWeights

    def prior(self, scene: Scene, vectors: Vectors) -> Array:
        """P(action | scene), shape (actions,), sums to 1. vectors: those of `scene_texts`."""
        scores = self.features.scene(scene, vectors) @ _vector(self.weights.scene, SCENE_FEATURES)
        return softmax(scores / self.weights.temperature)

    def likelihood(
        self, question: Question | None, answer: Answer, vector: Vectors | None, said: str = ""
    ) -> Array:
        """P(answer | action), shape (actions,), scaled to a maximum of 1.

        question: one from the bank, `None` for any other. vector: the content's query embedding,
        `None` if the answer has no content. said: the original answer.
        """
        log = np.zeros(len(self.features.knowledge.items))
        decided = False
        if question is not None and question.kind != "open":
            named = question.kind == "named"
            items = self.features.knowledge.items
            rows = (
                side_named(question, answer, said, items) if named else _replies(question, answer)
            )
            if rows:
                every = named_table(question) if named else reply_table(question)
                table = every[list(rows)].sum(axis=0)
                log += answer.certainty * np.log(table)
                decided = answer.stance not in _SILENT
        if vector is not None and answer.content and answer.stance not in _SILENT:
            keep = self.weights.echo if decided else 1.0
            log += keep * self.text_scores(answer.content, vector)
        likelihood: Array = np.exp(log - log.max())
        return likelihood

    def text_scores(self, text: str, vector: Vectors) -> Array:
        """log P(text | action) up to a constant, for a free answer, shape (actions,)."""
        return self.features.text(text, vector) @ _vector(self.weights.text, TEXT_FEATURES)

    def belief(self, prior: Array, likelihoods: Sequence[Array], tried: Sequence[int]) -> Array:
        """The posterior; sums to 1. tried: indices of actions known to be wrong.

        A small share is spread over all untried actions, so that one misunderstood answer
        cannot rule the right one out.
        """
        floor = self.weights.floor
        mass = prior * (1 - floor) + floor / len(prior)
        for likelihood in likelihoods:
            mass = mass * likelihood
            mass = mass / mass.sum() * (1 - floor) + floor / len(mass)
        mass[list(tried)] = 0.0
        total = mass.sum()
        return mass / total if total > 0 else mass

    def channel(self) -> Array:
        """P(an answer that sounds like action y | action a), shape (y, a), for planning.

        Each description serves as an answer, scored against the other descriptions.
        """
        items = self.features.knowledge.items
        heard = np.zeros((len(items), len(items)))
        for index, (owner, _) in enumerate(self.features.descriptions):
            scores = self.features.without(index) @ _vector(self.weights.text, TEXT_FEATURES)
            heard[:, owner] += softmax(scores)
        channel: Array = heard / np.maximum(heard.sum(axis=0), 1e-12)
        return channel


def _replies(question: Question, answer: Answer) -> tuple[int, ...]:
    """The rows of the reply table that match an answer; empty if none does."""
    silent = 2 if question.kind == "polar" else 3
    if answer.stance in _SILENT:
        return (silent,)
    if question.kind == "polar":
        return _POLAR_ROWS.get(answer.stance, ())
    if answer.stance in (Stance.OPEN, Stance.YES):
        first, second = Cues([cue.split() for cue in question.cues]).score(answer.content)
        return () if first == second else ((0,) if first > second else (1,))
    return _EITHER_ROWS.get(answer.stance, ())


def _vector(weights: dict[str, float], names: tuple[str, ...]) -> Array:
    return np.array([weights.get(name, 0.0) for name in names])

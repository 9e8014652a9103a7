"""The thesis's trained player: scorer, UCB1, wrong-action classifier, navigator.

Source: the text-game thesis, figures 5.2 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from naisei.core import Flow
from naisei.lang import say
from naisei.textgame.schemas import Decision, View
from naisei.textgame.trained.candidates import offered
from naisei.textgame.trained.navigator import item_of, navigate_candidates, next_step
from naisei.textgame.trained.notebook import Notebook
from naisei.textgame.trained.scorer import Judge, Scorer
from naisei.textgame.trained.situation import Situation
from naisei.textgame.trained.ucb import (
    Visits,
    best,
    faded_values,
    plain_values,
    state_of,
    ucb_values,
)

__all__ = ["Explore", "ImitationPlayer", "Penalty"]

#: What becomes of an action that is judged wrong: nothing; it counts as chosen once more
#: (§5.2.4); it is never chosen (action elimination).
Penalty = Literal["none", "soft", "hard"]
#: What past choices do to a score: equation 5.1; it fades with every choice; nothing.
Explore = Literal["ucb1", "fading", "none"]
VALUES = {"ucb1": ucb_values, "fading": faded_values, "none": plain_values}


class ImitationPlayer:
    """Plays one game."""

    def __init__(
        self, scorer: Scorer, judge: Judge, *, penalty: Penalty, explore: Explore, navigator: bool
    ) -> None:
        self._scorer, self._judge = scorer, judge
        self._penalty, self._explore, self._navigator = penalty, explore, navigator
        self._notebook, self._visits = Notebook(), Visits()
        self._last = ""
        #: The item that is walked to, and its place (-1: none), and where the last command was
        #: given.
        self._goal, self._place = "", -1
        self._before = -1

    def decide(self, view: View) -> Flow[Decision]:
        """The next command; it never asks the world for anything."""
        situation = self._notebook.see(view, self._last)
        here = self._notebook.kitchen.world.here
        decision = self._on_the_way(view) or self._choose(view, situation)
        self._last, self._before = decision.action, here
        return decision
        yield  # a flow without effects

    def _on_the_way(self, view: View) -> Decision | None:
        if self._place < 0:
            return None
        step = next_step(self._notebook, self._place)
        stuck = step == self._last and self._notebook.kitchen.world.here == self._before
        if step not in view.candidates or stuck:
            self._place = -1  # arrived, or it does not go on: a new choice
            return None
        return Decision(
            action=step, thoughts=say(f"{self._goal} へ向かう", f"on the way to the {self._goal}")
        )

    def _choose(self, view: View, situation: Situation) -> Decision:
        actions = list(offered(view))
        if self._navigator:
            actions += navigate_candidates(self._notebook)
        wrong = self._wrong(situation, actions)
        if self._penalty == "hard":
            actions = [action for action in actions if action not in wrong]
            if not actions:
                return Decision(
                    action="",
                    thoughts=say("選べる行動がすべて除外された", "every action was eliminated"),
                )
        rated = self._scorer.score(situation, actions)
        scores = dict(zip(actions, (float(r) for r in rated), strict=True))
        state = state_of(view, recipe=bool(situation.cookbook))
        soft = dict.fromkeys(wrong, 1) if self._penalty == "soft" else {}
        values = VALUES[self._explore](scores, self._visits.of(state), soft)
        chosen = best(values, actions)
        self._visits.add(state, chosen)
        return self._decided(view, chosen, scores, wrong)

    def _wrong(self, situation: Situation, actions: Sequence[str]) -> set[str]:
        if self._penalty == "none":
            return set()
        judged = self._judge.wrong(situation.cookbook, actions)
        return {action for action, wrong in zip(actions, judged, strict=True) if wrong}

    def _decided(
        self, view: View, chosen: str, scores: dict[str, float], wrong: set[str]
    ) -> Decision:
        score = f"{scores[chosen]:.2f}"
        thoughts = say(f"評価 {score}", f"rated {score}")
        if wrong:
            thoughts += say(f"、誤り行動 {len(wrong)} 個", f", {len(wrong)} judged wrong")
        if not (item := item_of(chosen)):
            return Decision(action=chosen, thoughts=thoughts, scores=scores)
        place = self._notebook.where(item)
        assert place is not None, "only items whose place is known are offered"
        self._goal, self._place = item, place
        step = next_step(self._notebook, place)
        return Decision(
            action=step,
            thoughts=f"{chosen} ({thoughts})",
            scores=scores,
            counts={"navigations": 1},
        )

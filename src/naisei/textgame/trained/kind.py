"""The player `imitation`: every row of the thesis's tables 5.1–5.4 and 6.1 is a setting of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel

from naisei.core import Flow, InputError
from naisei.lang import say
from naisei.plugins import FLAG, Options
from naisei.textgame.cooking_state import APPLIANCES, KNIFE, Navigator, TextState, offered
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View
from naisei.textgame.texts import Recipe, read_recipe
from naisei.textgame.trained.dataset import is_processing
from naisei.textgame.trained.scorer import bundled, trained_scorer


class Scorer(Protocol):
    """Rates actions."""

    def score(self, state: TextState, actions: Sequence[str]) -> Sequence[float]:
        """One number of 0–1 an action, in order; the better the higher."""
        ...


class Judge(Protocol):
    """Tells wrong actions (thesis §5.2.2)."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        """Of each action, in order. cookbook: empty while it was not read."""
        ...


# UCB1 over the actions of a state, so that no action is repeated while others are untried.
#
# Source: the text-game thesis, §5.2.4, equation 5.1.

#: What an action gains that was never chosen in a state.
UNTRIED = 5.0

#: What counts as the same state: the room, the points (see `visit_key`), what is to be seen.
VisitKey = tuple[str, str, str]


def visit_key(view: View, *, recipe: bool) -> VisitKey:
    """Two moments are one state if room and description read the same and, once the recipe is
    known, as many points were won.

    The thesis leaves it open. The step is no part of it, or no state would ever return; neither is
    the cookbook, so that it is not read over and over. Points tell that something was achieved,
    after which what was tried may be right. What is held tells less: if it counted, every room
    would be new when anything is taken or dropped, and a player that misses an ingredient would
    take and drop what it has, in every order, before it looks elsewhere.
    """
    return (view.room, str(view.score) if recipe else "", view.description)


def ucb1(mean: float, chosen: int, total: int) -> float:
    """Equation 5.1. mean: the scorer's output, 0–1. chosen: how often the action was, in this
    state. total: how often any was; at least `chosen`."""
    if chosen == 0:
        return mean + UNTRIED
    return mean + sqrt(2 * log(total) / chosen)


def ucb_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → value. penalties: choices that are counted though they were not made; they count
    in the total as well, so that it is never less than its parts."""
    counts = {action: chosen.get(action, 0) + penalties.get(action, 0) for action in scores}
    total = sum(counts.values())
    return {action: ucb1(score, counts[action], total) for action, score in scores.items()}


def faded_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → its score, a tenth of it for every time that it was chosen.

    Not in the thesis: equation 5.1 tries everything once before it repeats anything; here what
    was tried waits only for what is rated nearly as high.
    """
    return {
        action: score * 0.1 ** (chosen.get(action, 0) + penalties.get(action, 0))
        for action, score in scores.items()
    }


def plain_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """The scores."""
    return dict(scores)


class Visits:
    """How often each action was chosen: by state, but cooking and cutting in the whole game.

    What cannot be undone makes every later state another one, in which it would be untried: tried
    once in each, food would be cooked twice, and that ends the game.
    """

    def __init__(self) -> None:
        self._of: dict[VisitKey, Counter[str]] = {}
        self._for_good: Counter[str] = Counter()

    def of(self, state: VisitKey) -> Mapping[str, int]:
        return self._of.get(state, Counter()) + self._for_good

    def add(self, state: VisitKey, action: str) -> None:
        counter = self._for_good if is_processing(action) else self._of.setdefault(state, Counter())
        counter[action] += 1


def best(values: Mapping[str, float], order: Sequence[str]) -> str:
    """The action of the highest value; of several, the first in `order`."""
    return max(order, key=lambda action: values[action])


# The thesis's trained player: scorer, UCB1, wrong-action classifier, navigator.
#
# Source: the text-game thesis, figures 5.2 and 6.3.

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
        self._penalty, self._explore = penalty, explore
        self._uses_navigator, self._navigator = navigator, Navigator()
        self._visits = Visits()

    def decide(self, view: View) -> Flow[Decision]:
        """The next command; it never asks the world for anything."""
        state = self._navigator.see(view)
        decision = self._navigator.on_the_way(view) or self._choose(view, state)
        self._navigator.gave(decision.action)
        return decision
        yield  # a flow without effects

    def _choose(self, view: View, state: TextState) -> Decision:
        actions = list(offered(view))
        if self._penalty != "none":
            # Not in the thesis, whose classifier reads the cookbook alone.
            actions = [a for a in actions if not self._navigator.state.cooks_again(a)]
        if self._uses_navigator:
            actions += self._navigator.commands()
        wrong = self._wrong(state, actions)
        if self._penalty == "hard":
            actions = [action for action in actions if action not in wrong]
            if not actions:
                return Decision(
                    action="",
                    thoughts=say("選べる行動がすべて除外された", "every action was eliminated"),
                )
        rated = self._scorer.score(state, actions)
        scores = dict(zip(actions, (float(r) for r in rated), strict=True))
        key = visit_key(view, recipe=bool(state.cookbook))
        soft = dict.fromkeys(wrong, 1) if self._penalty == "soft" else {}
        values = VALUES[self._explore](scores, self._visits.of(key), soft)
        chosen = best(values, actions)
        self._visits.add(key, chosen)
        return self._decided(chosen, scores, wrong)

    def _wrong(self, state: TextState, actions: Sequence[str]) -> set[str]:
        if self._penalty == "none":
            return set()
        judged = self._judge.wrong(state.cookbook, actions)
        return {action for action, wrong in zip(actions, judged, strict=True) if wrong}

    def _decided(self, chosen: str, scores: dict[str, float], wrong: set[str]) -> Decision:
        score = f"{scores[chosen]:.2f}"
        thoughts = say(f"評価 {score}", f"rated {score}")
        if wrong:
            thoughts += say(f"、誤り行動 {len(wrong)} 個", f", {len(wrong)} judged wrong")
        decision = Decision(action=chosen, thoughts=thoughts, scores=scores)
        return self._navigator.begin(decision, f"{chosen} ({thoughts})")


# Classifiers of wrong actions: learned, by the recipe, and the extreme one of Table 5.4.
#
# A cookbook that was not read yet asks for nothing: cooking and cutting are wrong until then.


class NoJudge:
    """Nothing is wrong."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [False] * len(actions)


class LearnedJudge:
    """A classifier of (cookbook, action), asked about cooking and cutting only (§5.2.3).

    threshold: the rating from which on an action counts as wrong.
    """

    def __init__(self, classifier: Scorer, *, threshold: float = 0.5) -> None:
        self._classifier, self._threshold = classifier, threshold

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        if not cookbook:
            return [is_processing(action) for action in actions]
        asked = [a for a in actions if is_processing(a)]
        rated = self._classifier.score(TextState(cookbook=cookbook), asked) if asked else ()
        of = dict(zip(asked, rated, strict=True))
        return [of.get(action, 0.0) > self._threshold for action in actions]


class ExtremeJudge:
    """Calls every action wrong that can bring a point (§5.5.2): cooking, cutting, taking food,
    preparing and eating the meal."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [_may_score(action) for action in actions]


def _may_score(action: str) -> bool:
    verb, _, rest = action.partition(" ")
    takes_food = verb == "take" and rest.partition(" from ")[0] not in (KNIFE, "cookbook")
    return is_processing(action) or takes_food or action in ("prepare meal", "eat meal")


class RecipeJudge:
    """By the text of the cookbook: cooking and cutting that it does not ask for is wrong."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        if not cookbook:
            return [is_processing(action) for action in actions]
        recipe = read_recipe(cookbook)
        return [recipe is not None and _against(recipe, action) for action in actions]


def _against(recipe: Recipe, action: str) -> bool:
    if not is_processing(action):
        return False
    verb, _, rest = action.partition(" ")
    name, _, tool = rest.rpartition(" with ")
    need = next((n for n in recipe.needs if n.name == name), None)
    if need is None:
        return True
    if verb == "cook":
        return tool not in APPLIANCES.get(need.cook, ())
    return verb != need.cut


class ImitationOptions(Options):
    """model: folder of the scorer; the bundled one by default. ucb: equation 5.1. penalty: what
    becomes of an action judged wrong; `soft` by default with the bundled scorer, which is the
    thesis's full configuration, and `none` with any other or without ucb. classifier: who judges:
    `learned` (folder `classifier_model`) or `extreme` (§5.5.2). navigator: whether `navigate to …`
    is offered; by default if the model learned it."""

    model: str = ""
    ucb: bool = True
    penalty: Penalty | None = None
    classifier: Literal["learned", "extreme"] = "learned"
    classifier_model: str = ""
    navigator: bool | None = None


class _Kind:
    settings: type[BaseModel] = ImitationOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        given = ImitationOptions.model_validate(context.settings.model_dump())
        if given.penalty == "soft" and not given.ucb:
            raise InputError(
                say(
                    "penalty=soft は UCB1 を通して働きますが、UCB1 を使わない設定になっています",
                    "the soft penalty works through UCB1, which is off",
                ),
                place=f"{FLAG} penalty",
                remedy=say(
                    "ucb=false を外すか、penalty=hard にしてください",
                    "leave ucb on, or use penalty=hard",
                ),
            )
        penalty = given.penalty or ("none" if given.model or not given.ucb else "soft")
        scorer = trained_scorer(_folder(given.model, "scorer"), "policy")
        navigator = scorer.card.navigator if given.navigator is None else given.navigator
        return ImitationPlayer(
            scorer,
            _judge(given, penalty),
            penalty=penalty,
            explore="ucb1" if given.ucb else "none",
            navigator=navigator,
        )


def _judge(given: ImitationOptions, penalty: Penalty) -> Judge:
    if penalty == "none":
        return NoJudge()
    if given.classifier == "extreme":
        return ExtremeJudge()
    classifier = trained_scorer(_folder(given.classifier_model, "classifier"), "classifier")
    return LearnedJudge(classifier, threshold=classifier.card.threshold)


def _folder(given: str, name: str) -> Path:
    return Path(given) if given else bundled("imitation") / name


def build() -> PlayerKind:
    """The kind `imitation`."""
    return _Kind()

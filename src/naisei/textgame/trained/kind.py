"""The player kind `imitation`; its settings cover the thesis's Tables 5.1–5.4 and 6.1."""

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
        """One number of 0–1 per action, in order; higher is better."""
        ...


class Judge(Protocol):
    """Classifies wrong actions (thesis §5.2.2)."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        """Whether each action is wrong, in order. cookbook: "" until it was read."""
        ...


# UCB1 over the actions of a state: no action is repeated while others are untried.
#
# Source: the text-game thesis, §5.2.4, equation 5.1.

#: Bonus of an action never chosen in the state.
UNTRIED = 5.0

#: Identity of a state: room, points (see `visit_key`), description.
VisitKey = tuple[str, str, str]


def visit_key(view: View, *, recipe: bool) -> VisitKey:
    """The identity of a state: room, description and, once the recipe is known, points.

    The thesis does not specify this. If the step were included, no state would recur. Points mark
    progress, after which earlier failures may succeed; before the recipe is known they are
    excluded, so that the cookbook is not read repeatedly. Held things are excluded: otherwise every
    take or drop would make all rooms new, and a player that lacks an ingredient would permute its
    inventory before searching elsewhere.
    """
    return (view.room, str(view.score) if recipe else "", view.description)


def ucb1(mean: float, chosen: int, total: int) -> float:
    """Equation 5.1. mean: the scorer's output, 0–1. chosen: times the action was chosen in this
    state. total: times any action was, at least `chosen`."""
    if chosen == 0:
        return mean + UNTRIED
    return mean + sqrt(2 * log(total) / chosen)


def ucb_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → value. penalties: virtual choices, counted in the total too."""
    counts = {action: chosen.get(action, 0) + penalties.get(action, 0) for action in scores}
    total = sum(counts.values())
    return {action: ucb1(score, counts[action], total) for action, score in scores.items()}


def faded_values(
    scores: Mapping[str, float], chosen: Mapping[str, int], penalties: Mapping[str, int]
) -> dict[str, float]:
    """Action → score times 0.1 for each earlier choice.

    Not in the thesis: equation 5.1 tries every action once before repeating one; this only prefers
    others with nearly the same score.
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
    """How often each action was chosen: per state, but for cooking and cutting over the whole game.

    Irreversible actions change every later state, where they would count as untried again: food
    would be cooked twice, which ends the game.
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
    """The action with the highest value; on ties the first in `order`."""
    return max(order, key=lambda action: values[action])


# The thesis's trained player: scorer, UCB1, wrong-action classifier and navigator.
#
# Source: the text-game thesis, figures 5.2 and 6.3.

#: Effect of a wrong action: none; counts as chosen once more
#: (§5.2.4); eliminated.
Penalty = Literal["none", "soft", "hard"]
#: Effect of past choices on a score: equation 5.1; fading; none.
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
        """The next command; yields no effects."""
        state = self._navigator.see(view)
        decision = self._navigator.on_the_way(view) or self._choose(view, state)
        self._navigator.gave(decision.action)
        return decision
        yield  # makes this a generator

    def _choose(self, view: View, state: TextState) -> Decision:
        actions = list(offered(view))
        if self._penalty != "none":
            # Not in the thesis, whose classifier sees only the cookbook.
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


# Classifiers of wrong actions: learned, rule-based, and the extreme one of Table 5.4.
#
# Before the cookbook was read, cooking and cutting are wrong.


class NoJudge:
    """No action is wrong."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [False] * len(actions)


class LearnedJudge:
    """A classifier of (cookbook, action), applied to cooking and cutting only (§5.2.3).

    threshold: least rating of a wrong action.
    """

    def __init__(self, classifier: Scorer, *, threshold: float = 0.5) -> None:
        self._classifier, self._threshold = classifier, threshold

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        if not cookbook:
            return [is_processing(action) for action in actions]
        batch = [a for a in actions if is_processing(a)]
        rated = self._classifier.score(TextState(cookbook=cookbook), batch) if batch else ()
        of = dict(zip(batch, rated, strict=True))
        return [of.get(action, 0.0) > self._threshold for action in actions]


class ExtremeJudge:
    """Rejects every action that can bring a point (§5.5.2): cooking, cutting, taking food,
    preparing and eating the meal."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [_may_score(action) for action in actions]


def _may_score(action: str) -> bool:
    verb, _, rest = action.partition(" ")
    takes_food = verb == "take" and rest.partition(" from ")[0] not in (KNIFE, "cookbook")
    return is_processing(action) or takes_food or action in ("prepare meal", "eat meal")


class RecipeJudge:
    """Rejects cooking and cutting that the cookbook does not require."""

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
    """model: folder of the scorer; bundled by default. ucb: equation 5.1. penalty: effect of a
    wrong action; by default `soft` with the bundled scorer (the thesis's full configuration), else
    `none`. classifier: `learned` (folder `classifier_model`) or `extreme` (§5.5.2). navigator:
    offer `navigate to …`; by default if the model was trained with it."""

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
        settings = ImitationOptions.model_validate(context.settings.model_dump())
        if settings.penalty == "soft" and not settings.ucb:
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
        penalty = settings.penalty or ("none" if settings.model or not settings.ucb else "soft")
        scorer = trained_scorer(_folder(settings.model, "scorer"), "policy")
        navigator = scorer.card.navigator if settings.navigator is None else settings.navigator
        return ImitationPlayer(
            scorer,
            _judge(settings, penalty),
            penalty=penalty,
            explore="ucb1" if settings.ucb else "none",
            navigator=navigator,
        )


def _judge(options: ImitationOptions, penalty: Penalty) -> Judge:
    if penalty == "none":
        return NoJudge()
    if options.classifier == "extreme":
        return ExtremeJudge()
    classifier = trained_scorer(_folder(options.classifier_model, "classifier"), "classifier")
    return LearnedJudge(classifier, threshold=classifier.card.threshold)


def _folder(path: str, name: str) -> Path:
    return Path(path) if path else bundled("imitation") / name


def build() -> PlayerKind:
    """The player kind `imitation`."""
    return _Kind()

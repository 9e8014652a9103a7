"""A player with a small scorer over roles instead of names, learned from walkthroughs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.plugins import Options
from naisei.textgame.cooking_state import APPLIANCES, KNIFE, TextState, item_of
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.texts import Food, Need, read_foods, read_recipe
from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.kind import ImitationPlayer, RecipeJudge


@dataclass(frozen=True, slots=True)
class Roles:
    """State from which roles are assigned. held: name → held thing. needs: ingredient → required
    states; empty until the cookbook was read (`read`)."""

    held: dict[str, Food]
    needs: dict[str, Need]
    read: bool

    @classmethod
    def of(cls, state: TextState) -> Roles:
        recipe = read_recipe(state.cookbook)
        needs = {need.name: need for need in recipe.needs} if recipe is not None else {}
        return cls(read_foods(state.inventory), needs, recipe is not None)

    @property
    def phase(self) -> str:
        """Progress of the meal: `unread`, `missing` (an ingredient is not held), `raw` (all held,
        something left to cut or cook), `ready`, `meal`."""
        if "meal" in self.held:
            return "meal"
        if not self.read:
            return "unread"
        if any(name not in self.held for name in self.needs):
            return "missing"
        return "raw" if any(self.to_do(name) for name in self.needs) else "ready"

    def to_do(self, name: str) -> str:
        """Remaining work on a held ingredient: `cut`, `cook`, `both` or ""."""
        need, food = self.needs.get(name), self.held.get(name)
        if need is None or food is None:
            return ""
        cut, cook = bool(need.cut and not food.cut), bool(need.cook and not food.cooked)
        return "both" if cut and cook else "cut" if cut else "cook" if cook else ""

    @property
    def cuts(self) -> bool:
        """Whether a held thing must be cut."""
        return any(self.to_do(name) in ("cut", "both") for name in self.needs)

    def thing(self, name: str) -> str:
        """The role of a thing that can be taken, dropped or navigated to."""
        if name == "meal":
            return "meal"
        if name == KNIFE:
            return "knife-wanted" if self.cuts else "knife"
        if name == "cookbook":
            return "cookbook"
        if any(name in tools for tools in APPLIANCES.values()):
            return "appliance-wanted" if self._wanted(name) else "appliance"
        if not self.read:
            return "food"
        if name not in self.needs:
            return "useless"
        return f"ingredient-{self.to_do(name) or 'done'}" if name in self.held else "ingredient"

    def _wanted(self, appliance: str) -> bool:
        return any(
            self.to_do(name) in ("cook", "both") and appliance in APPLIANCES.get(need.cook, ())
            for name, need in self.needs.items()
        )


#: Kinds of actions that advance the recipe immediately.
_USEFUL = (
    "cut ingredient-cut right",
    "cut ingredient-both right",
    "cook ingredient-cook right",
    "cook ingredient-both right",
    "take ingredient",
    "take knife-wanted",
    "navigate ingredient",
    "navigate knife-wanted",
    "navigate appliance-wanted",
)


def features(state: TextState, actions: Sequence[str]) -> list[tuple[str, ...]]:
    """The names of the binary features of each action.

    They depend on the other actions only through whether any of them advances the recipe
    immediately.
    """
    roles = Roles.of(state)
    kinds = [_action_pattern(roles, state, action) for action in actions]
    able = "able" if any(kind.startswith(_USEFUL) for kind in kinds) else "seeking"
    return [
        _of(roles, state, kind, able, _leaves(roles, action))
        for kind, action in zip(kinds, actions, strict=True)
    ]


def _of(roles: Roles, state: TextState, kind: str, able: str, leaves: str) -> tuple[str, ...]:
    load = min(len(roles.held), 4)
    useless = min(sum(roles.thing(name) == "useless" for name in roles.held), 2)
    return (
        kind,
        f"{kind} | {roles.phase}",
        f"{kind} | {roles.phase} | {able}",
        f"{kind} | {roles.phase} | {_room(state)}",
        f"{kind} | cuts {roles.cuts} | {roles.phase}",
        f"{kind} | holds {load} of {min(len(roles.needs), 5)}",
        f"{kind} | useless {useless} | {roles.phase}",
        f"{kind} | knife {'knife' in roles.held} | cuts {roles.cuts}",
        f"{kind} | {leaves}",
    )


def _leaves(roles: Roles, action: str) -> str:
    """Whether cutting remains to be done after dropping a thing (`cuts` or `none`); "" for other
    actions."""
    verb, _, dropped = action.partition(" ")
    if verb != "drop":
        return ""
    others = (name for name in roles.needs if name != dropped)
    return "cuts" if any(roles.to_do(name) in ("cut", "both") for name in others) else "none"


def _room(state: TextState) -> str:
    return "kitchen" if state.room.lower() == "kitchen" else "elsewhere"


def _way(state: TextState, direction: str) -> str:
    """Role of a direction. `fresh`: unexplored; `toward`: leads to the nearest unexplored way."""
    if direction in state.fresh:
        return "fresh"
    return "toward" if direction == state.toward else "known"


def _action_pattern(roles: Roles, state: TextState, action: str) -> str:
    """The action with roles in place of names."""
    verb, _, rest = action.partition(" ")
    if item := item_of(action):
        return f"navigate {roles.thing(item)}"
    if verb == "take":
        return f"take {roles.thing(rest.partition(' from ')[0])}"
    if verb == "drop":
        return f"drop {roles.thing(rest)}"
    if verb in ("slice", "dice", "chop"):
        name = rest.partition(" with ")[0]
        need = roles.needs.get(name)
        right = need is not None and need.cut == verb
        return f"cut {roles.thing(name)} {'right' if right else 'wrong'}"
    if verb == "cook":
        name, _, tool = rest.rpartition(" with ")
        need = roles.needs.get(name)
        right = need is not None and tool in APPLIANCES.get(need.cook, ())
        return f"cook {roles.thing(name)} {'right' if right else 'wrong'}"
    if verb == "open":
        return "open door" if rest.endswith(("door", "gate")) else "open container"
    if verb == "go":
        return f"go {_way(state, rest)}"
    return action


#: Useless, since a view includes the inventory.
IDLE = "inventory"


class Weights(BaseModel):
    """of: feature → weight. trained: description of the training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: dict[str, float]
    trained: dict[str, str | int | float] = {}


class LinearScorer:
    """Probability of each candidate by a conditional logit; 0 for `inventory`."""

    def __init__(self, weights: Weights) -> None:
        self._of = weights.of

    def values(self, state: TextState, actions: Sequence[str]) -> NDArray[np.float64]:
        """The sums of weights, `(actions,)`."""
        return np.array(
            [sum(self._of.get(name, 0.0) for name in names) for names in features(state, actions)]
        )

    def score(self, state: TextState, actions: Sequence[str]) -> Sequence[float]:
        if not actions:
            return ()
        values = self.values(state, actions)
        odds = np.exp(values - values.max()) * [action != IDLE for action in actions]
        if not odds.any():
            return [1.0] * len(actions)
        rated: list[float] = (odds / odds.sum()).tolist()
        return rated


@lru_cache(maxsize=8)
def read_weights(path: Path | None = None) -> Weights:
    """Read weights from a file; bundled ones by default.

    Raises:
        InputError: no such file, or no weights in it.
    """
    source = path or files("naisei") / "data" / "hybrid_weights" / "weights.json"
    try:
        return Weights.model_validate_json(source.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            say(f"重みとして読めません: {error}", f"these are not weights: {error}"),
            place=str(source),
            remedy=say(
                "次のコマンドで作れます: python tools/hybrid_weights.py --recorded FILE --out FILE",
                "make them: python tools/hybrid_weights.py --recorded FILE --out FILE",
            ),
        ) from error


class HybridOptions(Options):
    """weights: a file; bundled by default. navigator: offer `navigate to …`."""

    weights: str = ""
    navigator: bool = True


class _Kind:
    settings: type[BaseModel] = HybridOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        settings = HybridOptions.model_validate(context.settings.model_dump())
        weights = read_weights(Path(settings.weights) if settings.weights else None)
        return ImitationPlayer(
            LinearScorer(weights),
            RecipeJudge(),
            penalty="hard",
            explore="fading",
            navigator=settings.navigator,
        )


def build() -> PlayerKind:
    """The player kind `hybrid`."""
    return _Kind()


#: Adam (Kingma and Ba 2015), algorithm 1.
_B1, _B2, _EPS = 0.9, 0.999, 1e-8


def learn(
    choices: Sequence[Choice], *, steps: int = 400, rate: float = 0.1, decay: float = 1e-4
) -> Weights:
    """The weights that maximise the likelihood of the walkthroughs' actions among their candidates.

    decay: weight of the squared penalty. Every step uses all choices; the result is deterministic.
    """
    names: dict[str, int] = {}
    rows: list[list[int]] = []
    starts: list[int] = []
    for choice in choices:
        if choice.action == IDLE:
            continue  # every walkthrough begins with this
        starts.append(len(rows))
        actions = [a for a in (choice.action, *choice.others) if a != IDLE]
        rows += [
            [names.setdefault(name, len(names)) for name in own]
            for own in features(choice.state, actions)
        ]
    table = np.array(rows, np.int64)
    weights = _fit(table, np.array(starts), len(names), steps=steps, rate=rate, decay=decay)
    return Weights(
        of={name: round(float(weights[n]), 5) for name, n in names.items()},
        trained={"choices": len(choices), "features": len(names), "steps": steps},
    )


def _fit(
    table: NDArray[np.int64],
    starts: NDArray[np.int64],
    size: int,
    *,
    steps: int,
    rate: float,
    decay: float,
) -> NDArray[np.float64]:
    weights, first, second = (np.zeros(size) for _ in range(3))
    groups = np.diff(np.append(starts, len(table)))
    for step in range(1, steps + 1):
        values = weights[table].sum(1)
        values -= np.repeat(np.maximum.reduceat(values, starts), groups)
        odds = np.exp(values)
        error = odds / np.repeat(np.add.reduceat(odds, starts), groups)
        error[starts] -= 1.0
        summed = np.bincount(
            table.ravel(), weights=np.repeat(error, table.shape[1]), minlength=size
        )
        slope = summed / len(starts) + decay * weights
        first = _B1 * first + (1 - _B1) * slope
        second = _B2 * second + (1 - _B2) * slope**2
        weights -= rate * (first / (1 - _B1**step)) / (np.sqrt(second / (1 - _B2**step)) + _EPS)
    return weights


def top_one(weights: Weights, choices: Sequence[Choice]) -> float:
    """Share of choices whose walkthrough action alone has the top score."""
    scorer, right = LinearScorer(weights), 0
    for choice in choices:
        own, *others = scorer.values(choice.state, (choice.action, *choice.others))
        right += own > max(others)
    return right / len(choices) if choices else float("nan")

"""Training examples made from others: games joined to longer recipes, foods under other names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from naisei.textgame.texts import read_foods
from naisei.textgame.trained.dataset import Choice, Item, Processing, Source

_HEADS = ("Ingredients:", "Directions:")
_LAST = "prepare meal"


def parts(cookbook: str) -> tuple[list[str], list[str]] | None:
    """Ingredients and directions, line by line; `None` for a cookbook of another layout."""
    lines = cookbook.splitlines()
    if not lines or lines[0] != _HEADS[0] or _HEADS[1] not in lines:
        return None
    middle = lines.index(_HEADS[1])
    return lines[1:middle], lines[middle + 1 :]


def both_recipes(one: str, other: str) -> str | None:
    """Two cookbooks as one: the ingredients by the alphabet and the directions in their order, as
    TextWorld writes them. `None` where they share an ingredient."""
    first, second = parts(one), parts(other)
    if first is None or second is None or set(first[0]) & set(second[0]):
        return None
    foods = sorted([*first[0], *second[0]])
    directions = [line for line in (*first[1], *second[1]) if line != _LAST]
    directions.sort(key=lambda line: foods.index(_asked_of(line, foods)))
    return "\n".join([_HEADS[0], *foods, _HEADS[1], *directions, _LAST])


def _asked_of(direction: str, foods: list[str]) -> str:
    """`red onion` of `slice the red onion`; the last food where a line names none."""
    name = direction.partition(" the ")[2]
    return name if name in foods else foods[-1]


def food_of(action: str) -> str:
    """`red onion` of `slice red onion with knife`."""
    return action.partition(" ")[2].rpartition(" with ")[0]


# A moment of one game beside another game whose recipe is cooked, or not yet begun.
#
# What the walkthrough did stays right: of two recipes in one cookbook either can be cooked first.

_CARRYING = "You are carrying: "
_ENDINGS = ("prepare meal", "drop knife")


def begun(one: Choice, other: Choice) -> Choice | None:
    """Nothing of the other recipe is here or in hand; it is only to be read. `None` where the
    games share a food, or where what comes next ends the first recipe: preparing the meal, putting
    the knife down."""
    if one.action in _ENDINGS:
        return None
    recipe = both_recipes(one.state.cookbook, other.state.cookbook)
    if recipe is None or _shared(one, other):
        return None
    return replace(one, state=one.state.model_copy(update={"cookbook": recipe}))


def finished(one: Choice, other: Choice, draw: Random) -> Choice | None:
    """What the other recipe asks for is in hand as it must be; dropping it, or cooking it again
    where something here could, is wrong. other: a moment at which its meal is prepared. `None`
    where the games share a food, or the other's are not all in hand."""
    recipe = both_recipes(one.state.cookbook, other.state.cookbook)
    asked = parts(other.state.cookbook)
    if recipe is None or asked is None or _shared(one, other):
        return None
    ready = {
        name: phrase
        for phrase in _phrases(other.state.inventory)
        for name in read_foods(f"{_CARRYING}{phrase}.")
    }
    if set(asked[0]) - set(ready):
        return None
    held = _phrases(one.state.inventory)
    for food in asked[0]:
        held.insert(draw.randint(0, len(held)), ready[food])
    tools = {tool for action in (one.action, *one.others) if (tool := _tool(action))}
    spoiling = tuple(
        action
        for action in other.others
        if (action.removeprefix("drop ") in asked[0])
        or (_tool(action) in tools and food_of(action) in asked[0])
    )
    texts = {"cookbook": recipe, "inventory": _listed(held)}
    state = one.state.model_copy(update=texts)
    return replace(one, state=state, others=(*one.others, *spoiling))


def _shared(one: Choice, other: Choice) -> bool:
    """Whether the one game shows or holds, anywhere, a food that the other's recipe asks for."""
    asked = parts(other.state.cookbook)
    texts = (one.state.text, one.action, *one.others)
    return asked is None or any(food in text for food in asked[0] for text in texts)


def _tool(action: str) -> str:
    return action.rpartition(" with ")[2] if " with " in action else ""


def _phrases(inventory: str) -> list[str]:
    """`a knife`, `a sliced carrot`, in order."""
    _, colon, listed = inventory.partition(_CARRYING)
    if not colon:
        return []
    front, _, last = listed.strip().rstrip(".").rpartition(" and ")
    return [*(front.split(", ") if front else ()), last]


def _listed(phrases: list[str]) -> str:
    front = ", ".join(phrases[:-1])
    return f"{_CARRYING}{f'{front} and ' if front else ''}{phrases[-1]}."


# Games put together from two, so that a model reads longer recipes than its games have.
#
# Train games ask for three ingredients at most, test games for five. Not in the thesis.

_PREPARE, _EAT = "prepare meal", "eat meal"
#: Other games that are tried before an example stays as it is.
_TRIES = 8


class Joiner:
    """Knows the examples. share: of those that are joined with another."""

    def __init__(self, sources: Sequence[Source], *, share: float) -> None:
        self._sources, self._share = sources, share
        self._meals = [s for s in sources if isinstance(s, Choice) and s.action == _PREPARE]

    def source(self, number: int, *, seed: str) -> Source:
        """The example of this number, or it and another as one; which, the seed decides."""
        one = self._sources[number]
        draw = Random(f"join/{seed}")
        if draw.random() >= self._share:
            return one
        if isinstance(one, Choice):
            return self._choice(one, draw)
        other = draw.choice(self._sources)
        assert isinstance(other, Processing), "a training is of one task"
        return joined(one, other) or one

    def _choice(self, one: Choice, draw: Random) -> Choice:
        """One that has read a recipe, beside another game's that is cooked or not yet begun."""
        if not one.state.cookbook or one.action == _EAT or not self._meals:
            return one
        done = one.action == _PREPARE or draw.random() < 0.5
        for _ in range(_TRIES):
            other = draw.choice(self._meals)
            both = finished(one, other, draw) if done else begun(one, other)
            if both is not None:
                return both
        return one


def joined(one: Processing, other: Processing) -> Processing | None:
    """Both recipes as one. `None` where they share an ingredient, or a cookbook is laid out in
    another way.

    Actions on a food of the other's recipe are left out: their label is of a game in which nothing
    asked for them.
    """
    recipe = both_recipes(one.cookbook, other.cookbook)
    if recipe is None:
        return None
    first, second = parts(one.cookbook), parts(other.cookbook)
    assert first and second, "or there would be no recipe of both"
    labels: dict[str, int] = {}
    for source, foreign in ((one, second[0]), (other, first[0])):
        for action, wrong in zip(source.actions, source.wrong, strict=True):
            if food_of(action) not in foreign:
                # Right in either, right in both: a food that neither recipe has is wrong in each.
                labels[action] = min(wrong, labels.get(action, wrong))
    return Processing(recipe, tuple(labels), tuple(labels.values())) if labels else None


# Foods under other names, so that what is learned is matching words, not the words.
#
# The foods of the test games are in none of the train games. A renamed example calls each food by
# another name everywhere, in the cookbook, the room, what is held and the actions, so that what is
# right stays right. Not in the thesis, whose 4,440 train games need it less.

_NAMES = (
    re.compile(r"^take (?P<name>.+?)(?: from .+)?$"),
    re.compile(r"^(?:drop|eat) (?P<name>.+)$"),
    re.compile(r"^(?:cook|slice|dice|chop) (?P<name>.+) with .+$"),
)
#: What is taken or eaten in every game, under this name.
_FIXED = frozenset({"cookbook", "knife", "meal"})
_TEXTS = ("inventory", "cookbook", "room", "description")


class Renamer:
    """Knows the foods of the examples. share: of the items that are renamed."""

    def __init__(self, sources: Sequence[Source], *, share: float) -> None:
        self._share = share
        found = {
            match["name"]
            for source in sources
            for action in _actions(source)
            for pattern in _NAMES
            if (match := pattern.match(action))
        }
        self._names = sorted(found - _FIXED)
        self._words = sorted({word for name in self._names for word in name.split()})
        # The longest first: "red onion" before "onion".
        longest = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b")

    def item(self, item: Item, *, seed: str) -> Item:
        """The item, or the same under other names; which, the seed decides."""
        draw = Random(f"names/{seed}")
        if not self._names or draw.random() >= self._share:
            return item
        new = dict(zip(self._names, self._drawn(draw), strict=True))

        def renamed(text: str) -> str:
            return self._pattern.sub(lambda match: new[match[0]], text)

        texts = {field: renamed(getattr(item.state, field)) for field in _TEXTS}
        return replace(
            item,
            state=item.state.model_copy(update=texts),
            actions=tuple(renamed(action) for action in item.actions),
        )

    def _drawn(self, draw: Random) -> list[str]:
        """As many names as there are, all different: known ones in another order, and others put
        together from their words."""
        made = {f"{draw.choice(self._words)} {draw.choice(self._words)}" for _ in self._names}
        pool = sorted({*self._names, *made})
        return draw.sample(pool, len(self._names))


def _actions(source: Source) -> Sequence[str]:
    return (source.action, *source.others) if isinstance(source, Choice) else source.actions

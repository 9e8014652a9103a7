"""First TextWorld Problems: its configurations, and cooking games generated from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal

from naisei.textgame.make.many import Made, compiled

# The configurations: which skills a cooking game needs.
#
# Source: the text-game thesis, §5.3.1 (4,440 training, 222 validation and 514 test games), and
# the competition's file names, whose skills these grids enumerate.

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")

_ONE = (1,)
_MANY = (6, 9, 12)
_ALL = (*_ONE, *_MANY)

#: Split → (recipe, take, numbers of rooms); each combination of skills is a configuration.
_BLOCKS: dict[Split, tuple[tuple[int, int, tuple[int, ...]], ...]] = {
    "train": (
        *((r, 0, _ALL) for r in (1, 2, 3)),
        (1, 1, _ONE),
        (2, 2, _ONE),
        (3, 3, _ALL),
    ),
    "test": (
        (1, 0, _ONE),
        (1, 1, _ALL),
        (2, 0, _ONE),
        (2, 2, _ALL),
        (3, 0, _ALL),
        (3, 3, _ALL),
        (4, 0, _ONE),
        (4, 3, _ALL),
        (4, 4, _ALL),
        (5, 0, _ONE),
        (5, 4, _ALL),
        (5, 5, _ALL),
    ),
}
_BLOCKS["valid"] = _BLOCKS["train"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CookingConfig:
    """Settings of one cooking game.

    recipe: ingredients, 1–5. take: ingredients to fetch, 0–recipe. go: rooms (1, 6, 9 or 12). cook,
    cut: whether ingredients need it. drop: whether the carrying limit applies. open: whether doors
    and containers start closed.
    """

    recipe: int
    take: int
    go: int
    cook: bool
    cut: bool
    drop: bool
    open: bool

    @property
    def name(self) -> str:
        """The name in the competition's file names: `recipe3+take3+cook+cut+drop+go6`."""
        parts = [f"recipe{self.recipe}"]
        parts += [f"take{self.take}"] if self.take else []
        parts += [skill for skill in ("cook", "cut", "open", "drop") if getattr(self, skill)]
        return "+".join([*parts, f"go{self.go}"])


def grid(split: Split) -> tuple[CookingConfig, ...]:
    """All configurations of a split in fixed order: 222 for train and valid, 514 for test."""
    return tuple(
        CookingConfig(recipe=r, take=t, go=go, cook=cook, cut=cut, drop=drop, open=opened)
        for r, t, rooms in _BLOCKS[split]
        for go in rooms
        for cook, cut, drop, opened in product((False, True), repeat=4)
        if _possible(t, go, cut=cut, drop=drop, opened=opened)
    )


def _possible(take: int, go: int, *, cut: bool, drop: bool, opened: bool) -> bool:
    """Exclude combinations in which a skill is useless: with nothing to fetch, only the knife must
    be held, and a single room has nothing to open."""
    if take:
        return True
    return (cut or not drop) and not (opened and go == 1)


def repeats(split: Split) -> int:
    """Games per configuration in the competition."""
    return 20 if split == "train" else 1


# Cooking games like those of First TextWorld Problems, from textworld's own generator.
#
# textworld 1.7 drops every uncut (raw) preparation if a recipe needs cutting (cooking), but the
# competition's games contain them: its test set has 3,342 points, textworld's about 30 % more,
# and some seeds fail. Both filters are membership tests on the preparations, so preparations
# whose membership tests return False disable them.

_SEEDS = ("map", "objects", "quest", "grammar")


class _Preparation(tuple[str, str]):
    """A preparation whose membership test returns False for raw and uncut."""

    def __contains__(self, name: object) -> bool:
        return name not in ("raw", "uncut") and super().__contains__(name)


def make_cooking(
    config: CookingConfig, split: Split, folder: Path, *, seed: int, number: int
) -> Made:
    """Generate and compile one game; equal arguments give the same game.

    seed: the set's seed. number: the game's number within its configuration. `.z8` and `.json`
    appear in `folder` only when complete.

    Raises:
        InputError: textworld is not installed.
        InstrumentFailure: the compiler failed.
    """
    from textworld import GameOptions

    seeds = _seeds(config, split, seed, number)
    options = GameOptions()
    options.seeds = seeds
    with _mended() as cooking:
        game = cooking.make({**asdict(config), "recipe_seed": 0, "split": split}, options)
    path = compiled(game, options, folder / file_name(config, split, seed=seed, number=number))
    return Made(
        file=path.name,
        family="cooking",
        split=split,
        settings=asdict(config),
        seeds=seeds,
        max_score=int(game.metadata["max_score"]),
        walkthrough=len(game.metadata["walkthrough"]),
    )


def file_name(config: CookingConfig, split: Split, *, seed: int, number: int) -> str:
    """The file name that `make_cooking` uses for these arguments."""
    return f"tw-cooking-{split}-{config.name}-{seed}.{number}.z8"


def _seeds(config: CookingConfig, split: Split, seed: int, number: int) -> dict[str, int]:
    """Generator seeds, independent of platform and of the order of games."""
    text = f"{seed}/{split}/{config.name}/{number}"
    digest = sha256(text.encode()).digest()
    return {key: int.from_bytes(digest[4 * i : 4 * i + 2]) for i, key in enumerate(_SEEDS)}


@contextmanager
def _mended() -> Iterator[Any]:
    """textworld's cooking module with both filters off, cached per process. Not thread-safe: it
    changes the generator's globals."""
    from textworld.challenges.tw_cooking import cooking

    splits, ways, base = (
        cooking.FOOD_PREPARATIONS_SPLITS,
        cooking.get_food_preparations,
        cooking.KnowledgeBase,
    )

    cooking.FOOD_PREPARATIONS_SPLITS = {name: _open(table) for name, table in splits.items()}
    cooking.get_food_preparations = lambda foods: _open(ways(foods))
    cooking.KnowledgeBase = _Rules
    try:
        yield cooking
    finally:
        cooking.FOOD_PREPARATIONS_SPLITS = splits
        cooking.get_food_preparations = ways
        cooking.KnowledgeBase = base


class _Rules:
    """Cached rules: reading them takes longer than generating a game."""

    @staticmethod
    @lru_cache(maxsize=4)
    def load(*, logic_path: str, grammar_path: str) -> Any:
        from textworld.generator.data import KnowledgeBase

        return KnowledgeBase.load(logic_path=logic_path, grammar_path=grammar_path)


def _open(table: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    return {food: [_Preparation(way) for way in ways] for food, ways in table.items()}

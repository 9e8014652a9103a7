"""Cooking games like those of First TextWorld Problems, from textworld's own generator.

textworld 1.7 drops every uncut (raw) preparation as soon as a recipe asks for cutting
(cooking). The competition's games have them: its test set is worth 3,342 points, and textworld's
rule makes about 30 % more, and fails on some seeds. Both filters are membership tests on the
preparations, so they are switched off by preparations that deny having such a member.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from naisei.textgame.make.compiled import compiled
from naisei.textgame.make.grid import CookingConfig, Split
from naisei.textgame.make.made import Made

__all__ = ["file_name", "make_cooking"]

_SEEDS = ("map", "objects", "quest", "grammar")


class _Preparation(tuple[str, str]):
    """A way to cook and cut that denies being raw or uncut when it is searched for that."""

    def __contains__(self, name: object) -> bool:
        return name not in ("raw", "uncut") and super().__contains__(name)


def make_cooking(
    config: CookingConfig, split: Split, folder: Path, *, seed: int, number: int
) -> Made:
    """Generate and compile one game; the same arguments give the same game.

    seed: of the whole set. number: of this game within its configuration. The files, `.z8` and
    `.json`, appear in `folder` when they are whole.

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
    """The name of the game that `make_cooking` makes of these arguments."""
    return f"tw-cooking-{split}-{config.name}-{seed}.{number}.z8"


def _seeds(config: CookingConfig, split: Split, seed: int, number: int) -> dict[str, int]:
    """Independent of the order in which games are made, and of the platform."""
    text = f"{seed}/{split}/{config.name}/{number}"
    digest = sha256(text.encode()).digest()
    return {key: int.from_bytes(digest[4 * i : 4 * i + 2]) for i, key in enumerate(_SEEDS)}


@contextmanager
def _mended() -> Iterator[Any]:
    """textworld's cooking module with both filters off, and its rules read once a process.

    Not for use by several threads at once: it is the generator's own globals that change.
    """
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
    """Reading the rules takes longer than making a game; no game changes them."""

    @staticmethod
    @lru_cache(maxsize=4)
    def load(*, logic_path: str, grammar_path: str) -> Any:
        from textworld.generator.data import KnowledgeBase

        return KnowledgeBase.load(logic_path=logic_path, grammar_path=grammar_path)


def _open(table: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    return {food: [_Preparation(way) for way in ways] for food, ways in table.items()}

"""What `naisei textgame make` does, once the flags are read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

from rich.progress import track

from naisei.core import InputError
from naisei.lang import say
from naisei.terminal import Console
from naisei.textgame.engine import needs_textworld
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cooking import SPLITS, Split, grid, repeats
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.make.mess import LEVELS

__all__ = ["make_cleanup_games", "make_cooking_games"]

#: Games of a level, as TWC has them in each split.
_TWC_COUNT = 5


def make_cooking_games(
    split: str, folder: Path, *, count: int | None, seed: int, processes: int | None
) -> int:
    """Generate cooking games on the competition's grid; returns the exit code."""
    split = _split(split)
    wanted = [(c, n) for n in range(repeats(split)) for c in grid(split)]
    if count is not None and count < len(wanted):
        # A part of the set has all sorts of games in it.
        wanted = sorted(
            Random(seed).sample(wanted, count), key=lambda pair: (pair[1], pair[0].name)
        )
    jobs: list[tuple[str, Maker]] = [
        (
            cooking.file_name(c, split, seed=seed, number=n),
            partial(cooking.make_cooking, c, split, seed=seed, number=n),
        )
        for c, n in wanted
    ]
    return _make(jobs, folder, processes)


def make_cleanup_games(
    split: str,
    level: str,
    folder: Path,
    *,
    rooms: int | None,
    count: int | None,
    seed: int,
    processes: int | None,
) -> int:
    """Generate games of tidying up, `count` of each level; returns the exit code."""
    split = _split(split)
    if level and level not in LEVELS:
        raise InputError(
            say(f"'{level}' という難易度はありません", f"unknown level: {level}"),
            place="--level",
            remedy=say("使えるもの: ", "use ") + ", ".join(LEVELS),
        )
    levels = [level] if level else list(LEVELS)
    jobs: list[tuple[str, Maker]] = []
    for each in levels:
        for n in range(count or _TWC_COUNT):
            mess = cleanup.mess_of(split, each, rooms=rooms, seed=seed, number=n)
            make = partial(cleanup.make_cleanup, mess, split, each, seed=seed, number=n)
            jobs.append((cleanup.file_name(mess, split, each, seed=seed, number=n), make))
    return _make(jobs, folder, processes)


def _split(name: str) -> Split:
    if name not in SPLITS:
        raise InputError(
            say(f"'{name}' という分割はありません", f"unknown split: {name}"),
            place="--split",
            remedy=say("使えるもの: ", "use ") + ", ".join(SPLITS),
        )
    return name


def _make(jobs: list[tuple[str, Maker]], folder: Path, processes: int | None) -> int:
    needs_textworld()
    made = make_many(jobs, folder, processes=processes)
    console = Console(stderr=True)
    games = list(
        track(made, say("ゲームを作成中", "Making games"), total=len(jobs), console=console)
    )
    points = sum(game.max_score for game in games)
    console.print(
        say(
            f"{folder} に {len(games)} ゲーム (満点の合計 {points})",
            f"{len(games)} games in {folder}, worth {points} points in all",
        ),
        soft_wrap=True,
    )
    return 0

"""`naisei textgame make cooking | cleanup`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import typer
from rich.progress import track

from naisei.core import InputError
from naisei.lang import say
from naisei.system.config import Options, flag, seed_flag
from naisei.terminal import Console
from naisei.textgame.engine import needs_textworld
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cleanup import LEVELS
from naisei.textgame.make.cooking import SPLITS, Split, grid, repeats
from naisei.textgame.make.many import Maker, make_many

__all__ = [
    "CleanupOptions",
    "CookingOptions",
    "app",
    "make_cleanup",
    "make_cooking",
]

#: Games per level in each TWC split.
_TWC_COUNT = 5
_OTHER = ("オプション", "Options")


class _MakeOptions(Options):
    """Output folder, split and seed."""

    out: Path = flag(..., "書き込むフォルダー", "Output folder.", metavar="DIR", panel=_OTHER)
    split: str = flag(
        "test",
        "分割 (既定: test)",
        "Split; test by default.",
        metavar="train|valid|test",
        panel=("公開データ", "Public sets"),
    )
    seed: int = seed_flag()
    processes: int | None = flag(
        None, "並べるプロセスの数", "Parallel processes.", panel=_OTHER, ge=1
    )


class CookingOptions(_MakeOptions):
    """Cooking games on the grid of First TextWorld Problems."""

    n: int | None = flag(
        None, "作る数 (既定: 全部)", "Number of games (default: the whole set).", panel=_OTHER, ge=1
    )


class CleanupOptions(_MakeOptions):
    """Tidying games like TWC's."""

    level: str = flag(
        "",
        "TWC の難易度 (既定: 全部)",
        "Level of TWC; all by default.",
        metavar="easy|medium|hard",
        panel=("公開データ", "Public sets"),
    )
    rooms: int | None = flag(
        None,
        "部屋の数、1〜12 (既定: 難易度どおり、hard は 1 か 2)",
        "Rooms, 1 to 12 (default: one; for hard one or two).",
        panel=_OTHER,
        ge=1,
    )
    n: int | None = flag(
        None,
        "難易度ごとに作る数 (既定: 5)",
        "Games per level (default: 5, as in TWC).",
        panel=_OTHER,
        ge=1,
    )


def make_cooking(options: CookingOptions) -> None:
    """Generate cooking games on the competition's grid."""
    split, seed = _split(options.split), options.seed
    configs = [(c, n) for n in range(repeats(split)) for c in grid(split)]
    if options.n is not None and options.n < len(configs):
        # A random subset contains all kinds of games.
        configs = sorted(
            Random(seed).sample(configs, options.n), key=lambda pair: (pair[1], pair[0].name)
        )
    jobs: list[tuple[str, Maker]] = [
        (
            cooking.file_name(c, split, seed=seed, number=n),
            partial(cooking.make_cooking, c, split, seed=seed, number=n),
        )
        for c, n in configs
    ]
    _make(jobs, options)


def make_cleanup(options: CleanupOptions) -> None:
    """Generate tidying games, `n` per level."""
    split, seed = _split(options.split), options.seed
    if options.level and options.level not in LEVELS:
        raise InputError(
            say(f"'{options.level}' という難易度はありません", f"unknown level: {options.level}"),
            place="--level",
            remedy=say("使えるもの: ", "use ") + ", ".join(LEVELS),
        )
    jobs: list[tuple[str, Maker]] = []
    for level in [each for each in LEVELS if options.level in ("", each)]:
        for n in range(options.n or _TWC_COUNT):
            mess = cleanup.mess_of(split, level, rooms=options.rooms, seed=seed, number=n)
            make = partial(cleanup.make_cleanup, mess, split, level, seed=seed, number=n)
            jobs.append((cleanup.file_name(mess, split, level, seed=seed, number=n), make))
    _make(jobs, options)


def _split(name: str) -> Split:
    if name not in SPLITS:
        raise InputError(
            say(f"'{name}' という分割はありません", f"unknown split: {name}"),
            place="--split",
            remedy=say("使えるもの: ", "use ") + ", ".join(SPLITS),
        )
    return name


def _make(jobs: list[tuple[str, Maker]], options: _MakeOptions) -> None:
    needs_textworld()
    folder = options.out
    made = make_many(jobs, folder, processes=options.processes)
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


app = typer.Typer(no_args_is_help=True, help=say("ゲームを作る", "Make games."))
app.command(
    "cooking",
    help=say(
        "First TextWorld Problems と同じ構成の料理ゲームを作る",
        "Make cooking games on the grid of First TextWorld Problems.",
    ),
)(make_cooking)
app.command(
    "cleanup",
    help=say(
        "TWC のような片付けゲームを、独自の物と場所の一覧から作る",
        "Make games of tidying up like TWC's, from our own list of things and places.",
    ),
)(make_cleanup)

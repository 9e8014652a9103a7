"""`naisei textworld-express make`: random games of a split."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal

from naisei.files import write_atomically
from naisei.lang import say
from naisei.system.config import Options, flag, seed_flag
from naisei.terminal import Console
from naisei_textgame_express.engine import FOLD, ExpressName, named_games

_GAMES = ("ゲーム", "Games")


class MakeOptions(Options):
    """Which games to select, and the output folder."""

    out: Path = flag(..., "書き込むフォルダー", "Output folder.", metavar="DIR", panel=_GAMES)
    game: ExpressName = flag("cookingworld", "ゲーム", "The game.", panel=_GAMES)
    split: Literal["train", "valid", "test"] = flag("test", "分割", "Split.", panel=_GAMES)
    params: str = flag(
        "",
        "ゲームの設定 (例: numIngredients=5, numLocations=11)",
        "Settings of the game, as numIngredients=5, numLocations=11.",
        metavar="NAME=N,…",
        panel=_GAMES,
    )
    n: int = flag(20, "作る数", "Number of games.", panel=_GAMES, ge=1, le=FOLD)
    seed: int = seed_flag()


def make(options: MakeOptions) -> None:
    """Write `n` game files of a split."""
    draw = Random(options.seed)
    games = named_games(options.game, options.split, n=options.n, params=options.params, draw=draw)
    for game in games:
        name = f"{game.game}-{options.split}-{game.seed}.twx"
        write_atomically(options.out / name, game.model_dump_json() + "\n")
    done = say(f"{options.out} に {len(games)} ゲーム", f"{len(games)} games in {options.out}")
    Console(stderr=True).print(done, soft_wrap=True)

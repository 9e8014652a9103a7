"""The demonstration: three games of tidying up and five of cooking, made here and played."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random

from rich.progress import track
from rich.rule import Rule

from naisei.cli.lang import say
from naisei.core import InstrumentFailure
from naisei.models.local.weights import cache_root
from naisei.terminal import Console, Panel
from naisei.textgame.atlas import Atlas
from naisei.textgame.commands import print_run
from naisei.textgame.config import GameConfig
from naisei.textgame.describe import transcript
from naisei.textgame.engine import textworld_installed
from naisei.textgame.execute import Session, run_games
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.grid import grid
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.make.mess import LEVELS
from naisei.textgame.schemas import GameResult
from naisei.textgame.terminal_map import terminal_map

__all__ = ["demo"]

_COOKING = 5
#: A change of what is made gets a new folder.
_FOLDER = "demo-1"


def demo(*, run_dir: Path | None, seed: int, cache: Path | None = None) -> int:
    """Make the games (once), let the planner play them, show two of them. Returns the exit code:
    0 also where there is no games engine, which is said."""
    console = Console()
    console.print(
        Panel(
            say(
                "テキストゲーム: 散らかった家を片付け、レシピを探して料理する。"
                "プレイヤーは画面の文章だけを読みます (モデル不要)。",
                "Text games: tidy up a messy house; find the recipe and cook. The player reads "
                "nothing but the texts (no model).",
            ),
            title="naisei 内省",
        )
    )
    if not textworld_installed():
        return _without(console, say("textworld が入っていません", "textworld is not installed"))
    folder = (cache or cache_root()) / "textgame" / f"{_FOLDER}-{seed}"
    try:
        _make(folder, seed, console)
    except (InstrumentFailure, ImportError, OSError) as error:
        return _without(console, f"{type(error).__name__}: {error}")
    root = run_dir or Path("runs") / f"textgame-demo-{datetime.now():%Y%m%d-%H%M%S}"
    config = GameConfig(agent="planner", games=str(folder), seed=seed)
    result = run_games(config, Session(), run_dir=root)
    games = [GameResult.model_validate(row.result) for row in result.outcome.rows if row.scored]
    _show(games, console)
    console.print(Rule(say("8 ゲームの成績", "All eight games")))
    print_run(result, console)
    return result.exit_code


def _without(console: Console, why: str) -> int:
    console.print(
        say(
            f"ゲームエンジンが使えないため、このデモは飛ばします ({why})。"
            "pip install 'naisei[textgame]' で入ります (C コンパイラが要る環境もあります)。",
            f"No games engine here, so this demonstration is left out ({why}). "
            "pip install 'naisei[textgame]' gets it (some systems need a C compiler).",
        ),
        style="yellow",
    )
    return 0


def _make(folder: Path, seed: int, console: Console) -> None:
    jobs: list[tuple[str, Maker]] = []
    for level in LEVELS:
        mess = cleanup.mess_of("test", level, rooms=None, seed=seed, number=0)
        make = partial(cleanup.make_cleanup, mess, "test", level, seed=seed, number=0)
        jobs.append((cleanup.file_name(mess, "test", level, seed=seed, number=0), make))
    for config in Random(seed).sample(grid("test"), _COOKING):
        cook = partial(cooking.make_cooking, config, "test", seed=seed, number=0)
        jobs.append((cooking.file_name(config, "test", seed=seed, number=0), cook))
    title = say("ゲームを作成中 (初回のみ)", "Making the games (once)")
    for _ in track(make_many(jobs, folder), title, total=len(jobs), console=console):
        pass


def _show(games: Sequence[GameResult], console: Console) -> None:
    """One game of each family, with what the player thought; the larger map of the cooking."""
    tidying = [g for g in games if "cleanup" in g.game]
    others = [g for g in games if "cleanup" not in g.game]
    for some in (tidying, others):
        if some:
            game = sorted(some, key=lambda g: len(g.steps))[len(some) // 2]
            console.print(Rule(game.game))
            console.print(transcript(game))
            console.print(terminal_map(Atlas.of(game), width=console.width))

"""Text games in `naisei demo`: generates and plays a few games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

from naisei.cli.demo import Part, Stage
from naisei.cli.printing import print_tables
from naisei.files import cache_root
from naisei.lang import say
from naisei.runs.lines import print_lines
from naisei.runs.task import Table
from naisei.system.execute import RunOptions
from naisei.textgame.config import GameConfig
from naisei.textgame.engine import needs_textworld
from naisei.textgame.lines import game_lines
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cleanup import Level
from naisei.textgame.make.cooking import grid
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.schemas import GameResult
from naisei.textgame.system import RUN

_LEVELS: tuple[Level, ...] = ("easy", "medium")
_COOKING = 2
#: Lines of a game to print.
_ROWS = 16
#: Change this when the generated games change.
_FOLDER = "demo-2"
#: Minutes needed with a model.
_LLM_MINUTES = 3.0


def _show(stage: Stage) -> None:
    needs_textworld()
    folder = cache_root() / "textgame" / f"{_FOLDER}-{stage.seed}"
    with stage.busy("ゲームを作っています（初回のみ）…", "Making the games (once) …"):
        tidying = _make(folder, stage.seed)
    config = GameConfig(agent="planner", games=str(folder), seed=stage.seed)
    options = RunOptions(quiet=True)
    if stage.model is not None:
        models = {"player": stage.model, "reflector": stage.model}
        one = {"agent": "llm", "models": models, "games": str(folder / tidying)}
        config = config.model_copy(update=one)
        options = RunOptions(quiet=True, max_minutes=_LLM_MINUTES)
    with stage.busy("遊んでいます…", "Playing …"):
        result = RUN.run(config, options, run_dir=stage.root / "textgame")
    stage.finished(result)
    games = [GameResult.model_validate(row.result) for row in result.outcome.rows if row.scored]
    for game in games:
        if tidying.startswith(game.game):
            print_lines(game_lines(game), stage.console, most=_ROWS)
    _table(games, stage)
    stage.report(say("テキストゲーム", "Text games"), result.report)


def _make(folder: Path, seed: int) -> str:
    """Make the demo's games; returns the file name of the tidying game to show."""
    jobs: list[tuple[str, Maker]] = []
    for level in _LEVELS:
        mess = cleanup.mess_of("test", level, rooms=None, seed=seed, number=0)
        make = partial(cleanup.make_cleanup, mess, "test", level, seed=seed, number=0)
        jobs.append((cleanup.file_name(mess, "test", level, seed=seed, number=0), make))
    for config in Random(seed).sample(grid("test"), _COOKING):
        cook = partial(cooking.make_cooking, config, "test", seed=seed, number=0)
        jobs.append((cooking.file_name(config, "test", seed=seed, number=0), cook))
    for _ in make_many(jobs, folder):
        pass
    return jobs[len(_LEVELS) - 1][0]


def _table(games: Sequence[GameResult], stage: Stage) -> None:
    columns = say("ゲーム|得点|満点|手数", "game|points|of|commands")
    kinds = {True: say("片付け", "tidying up"), False: say("料理", "cooking")}
    rows = [
        (kinds["cleanup" in g.game], str(g.score), str(g.max_score), str(len(g.steps)))
        for g in sorted(games, key=lambda g: ("cleanup" not in g.game, len(g.steps)))
    ]
    stage.console.print()
    print_tables([Table("", tuple(columns.split("|")), tuple(rows))], stage.console)


PART = Part(
    title=("テキストゲーム：計画して動く", "Text games: plan, then act"),
    about=(
        "散らかった部屋を片付けるゲームと、レシピを見つけて料理するゲームで遊びます。\n"
        "プレイヤーが読むのは画面の文章だけです。ゲームは初回にここで作ります。",
        "Games of tidying up a room, and of finding a recipe and cooking it.\n"
        "The player reads nothing but the texts. The games are made here, once.",
    ),
    show=_show,
    hint=("naisei textgame play ゲーム.z8", "naisei textgame play GAME.z8"),
    data="en",
)

"""Games of TextWorldExpress: a small file that names one, and the engine behind it.

A `.twx` file is JSON: `{"game": "cookingworld", "params": "", "fold": "test", "seed": 3}`. The
engine is a Java program that the package textworld-express brings.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.engine.process import BrokenGame
from naisei.textgame.schemas import View
from naisei_textgame_express.grammar import grammar

#: Points of a game: the engine tells the share that was reached.
_POINTS = 100
#: Commands after which the engine would end a game by itself; how many there are is the run's.
_NEVER = 10**9
_ROOM = re.compile(r"You are in the ([^.\n]+)\.")


ExpressName = Literal["cookingworld", "twc", "coin", "mapreader"]
#: Seeds of a fold; they are parted by their numbers.
FOLD = 1000
_FOLDS: dict[str, tuple[Literal["train", "dev", "test"], int]] = {
    "train": ("train", 0),
    "valid": ("dev", 10_000),
    "test": ("test", 20_000),
}


class ExpressGame(BaseModel):
    """One game. params: `name=number, …` of the game's own settings; empty for the usual ones.
    seed: one of the fold's: 0 to 999, 10,000 to 10,999, 20,000 to 20,999."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: ExpressName
    params: str = Field(default="", pattern=r"^(\w+=\d+(,\s*\w+=\d+)*)?$", max_length=300)
    fold: Literal["train", "dev", "test"] = "test"
    seed: int = Field(ge=0)


def named_games(
    game: ExpressName, split: str, *, n: int, params: str, draw: Random
) -> list[ExpressGame]:
    """`n` games of a split (`train`, `valid`, `test`), by rising seeds.

    Raises:
        InputError: settings that are not of the form `name=number, …`.
    """
    fold, first = _FOLDS[split]
    try:
        return [
            ExpressGame(game=game, params=params, fold=fold, seed=first + seed)
            for seed in sorted(draw.sample(range(FOLD), n))
        ]
    except ValidationError as error:
        raise InputError(
            say(f"設定として読めません: {params}", f"these are no settings: {params}"),
            place="--params",
            remedy=say("numIngredients=5, numLocations=11 のように", "as numIngredients=5, …"),
        ) from error


def read_game(path: Path) -> ExpressGame:
    """Raises `BrokenGame` for a file that names no game."""
    try:
        return ExpressGame.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BrokenGame(
            say("TextWorldExpress のゲームの指定ではありません", "this names no game")
            + f": {error.errors()[0]['msg']}",
            place=str(path),
            remedy=say(
                "naisei textworld-express make で作れます",
                "naisei textworld-express make makes some",
            ),
        ) from error


class ExpressEngine:
    """The engine, started with the first game; one game after another."""

    def __init__(self) -> None:
        from textworld_express import TextWorldExpressEnv

        self._env: Any = TextWorldExpressEnv(envStepLimit=_NEVER)
        #: Command of ours → command of the engine's, at this moment.
        self._given: dict[str, str] = {}

    @staticmethod
    def needs() -> None:
        """Raises `InputError` if the engine, or Java, is not installed."""
        package = importlib.util.find_spec("textworld_express") is not None
        if package and shutil.which("java"):
            return
        raise InputError(
            say("Java が見つかりません", "there is no Java")
            if package
            else say("textworld-express が入っていません", "textworld-express is not installed"),
            place="textgame",
            remedy=say(
                "pip install textworld-express と、Java 8 以上が要ります",
                "pip install textworld-express; it needs Java 8 or newer",
            ),
        )

    @staticmethod
    def check(path: Path) -> None:
        """Raises `BrokenGame` for a file that names no game."""
        read_game(path)

    def open(self, path: Path) -> View:
        """Begin the game that a file names. What it says first begins with the task."""
        game = read_game(path)
        self._env.load(gameName=game.game, gameParams=game.params)
        _, seen = self._env.reset(seed=game.seed, gameFold=game.fold)
        return self._view(seen, f"{seen['taskDescription']}\n\n{seen['look']}")

    def step(self, command: str) -> View:
        """Give a command."""
        said, _, _, seen = self._env.step(grammar().command(command, self._given))
        return self._view(seen, said)

    def _view(self, seen: dict[str, Any], said: str) -> View:
        room = _ROOM.search(seen["look"])
        score, done = round(_POINTS * seen["score"]), bool(seen["done"])
        view = View(
            room=room[1].title() if room else "",
            description=seen["look"].strip(),
            inventory=seen["inventory"].strip(),
            # Its own order differs from one start to the next.
            candidates=tuple(sorted(seen["validActions"])),
            feedback=said.strip(),
            score=score,
            max_score=_POINTS,
            done=done,
            # A game that was lost is told as a success, too.
            won=score >= _POINTS,
            lost=done and score < _POINTS,
        )
        view, self._given = grammar().view(view)
        return view

"""The engine TextWorldExpress, and the files that select its games.

A `.twx` file is JSON: `{"game": "cookingworld", "params": "", "fold": "test", "seed": 3}`. The
engine is a Java program in the package textworld-express.
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

#: Points of a game; the engine reports only a share.
_POINTS = 100
#: The engine's own step limit, disabled: the run has one.
_NEVER = 10**9
_ROOM = re.compile(r"You are in the ([^.\n]+)\.")


ExpressName = Literal["cookingworld", "twc", "coin", "mapreader"]
#: Seeds per fold.
FOLD = 1000
_FOLDS: dict[str, tuple[Literal["train", "dev", "test"], int]] = {
    "train": ("train", 0),
    "valid": ("dev", 10_000),
    "test": ("test", 20_000),
}


class ExpressGame(BaseModel):
    """One game. params: `name=number, …`, the game's settings; "" for the defaults. seed: by fold 0
    to 999, 10,000 to 10,999 or 20,000 to 20,999."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: ExpressName
    params: str = Field(default="", pattern=r"^(\w+=\d+(,\s*\w+=\d+)*)?$", max_length=300)
    fold: Literal["train", "dev", "test"] = "test"
    seed: int = Field(ge=0)


def named_games(
    game: ExpressName, split: str, *, n: int, params: str, draw: Random
) -> list[ExpressGame]:
    """`n` random games of a split (`train`, `valid`, `test`), by rising seeds.

    Raises:
        InputError: settings not in the form `name=number, …`.
    """
    fold, first = _FOLDS[split]
    try:
        return [
            ExpressGame(game=game, params=params, fold=fold, seed=first + seed)
            for seed in sorted(draw.sample(range(FOLD), n))
        ]
    except ValidationError as error:
        raise InputError(
            say(f"設定として読めません: {params}", f"cannot read the settings: {params}"),
            place="--params",
            remedy=say("numIngredients=5, numLocations=11 のように", "as numIngredients=5, …"),
        ) from error


def read_game(path: Path) -> ExpressGame:
    """Raises `BrokenGame` for a file that is no valid `.twx`."""
    try:
        return ExpressGame.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BrokenGame(
            say("TextWorldExpress のゲームの指定ではありません", "is no game of TextWorldExpress")
            + f": {error.errors()[0]['msg']}",
            place=str(path),
            remedy=say(
                "naisei textworld-express make で作れます",
                "make games with naisei textworld-express make",
            ),
        ) from error


class ExpressEngine:
    """The engine; it starts with the first game and plays one after another."""

    def __init__(self) -> None:
        from textworld_express import TextWorldExpressEnv

        self._env: Any = TextWorldExpressEnv(envStepLimit=_NEVER)
        #: TextWorld command → the engine's command, in the current state.
        self._commands: dict[str, str] = {}

    @staticmethod
    def needs() -> None:
        """Raises `InputError` if the engine or Java is not installed."""
        package = importlib.util.find_spec("textworld_express") is not None
        if package and shutil.which("java"):
            return
        raise InputError(
            say("Java が見つかりません", "Java is not installed")
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
        """Raises `BrokenGame` for a file that is no valid `.twx`."""
        read_game(path)

    def open(self, path: Path) -> View:
        """Start a file's game. Its first text begins with the task."""
        game = read_game(path)
        self._env.load(gameName=game.game, gameParams=game.params)
        _, state = self._env.reset(seed=game.seed, gameFold=game.fold)
        return self._view(state, f"{state['taskDescription']}\n\n{state['look']}")

    def step(self, command: str) -> View:
        """Perform a command."""
        answer, _, _, state = self._env.step(grammar().command(command, self._commands))
        return self._view(state, answer)

    def _view(self, state: dict[str, Any], answer: str) -> View:
        room = _ROOM.search(state["look"])
        score, done = round(_POINTS * state["score"]), bool(state["done"])
        view = View(
            room=room[1].title() if room else "",
            description=state["look"].strip(),
            inventory=state["inventory"].strip(),
            # The engine's order differs between starts.
            candidates=tuple(sorted(state["validActions"])),
            feedback=answer.strip(),
            score=score,
            max_score=_POINTS,
            done=done,
            # The engine reports a lost game as a success.
            won=score >= _POINTS,
            lost=done and score < _POINTS,
        )
        view, self._commands = grammar().view(view)
        return view

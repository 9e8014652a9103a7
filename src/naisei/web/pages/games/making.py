"""Games for the page: made on demand, kept in the server's folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Literal, cast, get_args

from starlette.exceptions import HTTPException

from naisei.lang import say
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cooking import grid
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.make.mess import Level

__all__ = ["Wanted", "make_game", "wanted"]

Wanted = Literal["easy", "medium", "hard", "cooking"]
#: The last number of a game.
_LAST = 9_999


def wanted(kind: str, number: str) -> tuple[Wanted, int]:
    """What somebody asks for. Raises `HTTPException` for what there is not."""
    if kind not in get_args(Wanted):
        raise HTTPException(
            422, say("その種類のゲームはありません", "there is no such kind of game")
        )
    if not number.isdecimal() or int(number[:6]) > _LAST:
        raise HTTPException(422, say(f"番号は 0 から {_LAST} です", f"a number from 0 to {_LAST}"))
    return cast(Wanted, kind), int(number)


def make_game(kind: Wanted, number: int, folder: Path) -> str:
    """The name of the game's file in the folder; it is made if it is not there.

    Raises:
        InputError: textworld is not installed.
        InstrumentFailure: the compiler failed.
    """
    name, make = _cooking(number) if kind == "cooking" else _cleanup(kind, number)
    for _ in make_many([(name, make)], folder, processes=1):
        pass
    return name


def _cooking(number: int) -> tuple[str, Maker]:
    config = Random(number).choice(grid("test"))
    make = partial(cooking.make_cooking, config, "test", seed=0, number=number)
    return cooking.file_name(config, "test", seed=0, number=number), make


def _cleanup(level: Level, number: int) -> tuple[str, Maker]:
    mess = cleanup.mess_of("test", level, rooms=None, seed=0, number=number)
    make = partial(cleanup.make_cleanup, mess, "test", level, seed=0, number=number)
    return cleanup.file_name(mess, "test", level, seed=0, number=number), make

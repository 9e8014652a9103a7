"""Whether a game's files are whole, as far as that can be seen without the interpreter.

The interpreter is C code: a damaged story crashes it, or makes it run for ever.
"""

from __future__ import annotations

import json
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say

__all__ = ["BrokenGame", "check_story", "check_world"]


class BrokenGame(InputError):
    """The file of a game is at fault: in a set of many, the others are played all the same."""


def check_story(path: Path) -> None:
    """Of a `.z8` and the `.json` beside it.

    Source: the Z-Machine Standards Document 1.1, §11.1 (version, file length, checksum).

    Raises:
        BrokenGame: cut off, changed, another kind of file, or without its `.json`.
    """
    story = path.read_bytes()
    if len(story) < 64 or story[0] != 8:
        raise BrokenGame(
            say(
                "Z-machine のストーリーファイル (バージョン 8) ではありません",
                "this is no Z-machine story (version 8)",
            ),
            place=str(path),
            remedy=_remedy(),
        )
    length = int.from_bytes(story[0x1A:0x1C]) * 8
    checksum = int.from_bytes(story[0x1C:0x1E])
    if len(story) < length:
        raise BrokenGame(
            say(
                f"ストーリーファイルが途中で切れています: {length} バイト中 {len(story)} バイト",
                f"the story is cut off: {len(story)} of {length} bytes",
            ),
            place=str(path),
            remedy=_remedy(),
        )
    if length and sum(story[64:length]) % 65536 != checksum:
        raise BrokenGame(
            say(
                "ストーリーファイルが壊れています (チェックサムの不一致)",
                "the story is damaged (checksum)",
            ),
            place=str(path),
            remedy=_remedy(),
        )
    check_world(path.with_suffix(".json"))


def check_world(path: Path) -> None:
    """The `.json` from which textworld knows the commands and the points, or compiles a game.

    Raises:
        BrokenGame: not there, no JSON, or the JSON of something else.
    """
    if not path.is_file():
        raise BrokenGame(
            say(
                "ゲームの .json がありません。これがないと、コマンドと得点が分かりません",
                "the game's .json is missing: without it, its commands and points cannot be known",
            ),
            place=str(path),
            remedy=say(
                ".z8 の隣に置いてください (TextWorld は両方を書き出します)",
                "put it beside the .z8; TextWorld writes both",
            ),
        )
    try:
        world = json.loads(path.read_bytes())
    except ValueError as error:
        raise BrokenGame(
            say(f"JSON ではありません: {error}", f"this is no JSON: {error}"),
            place=str(path),
            remedy=_remedy(),
        ) from error
    if not isinstance(world, dict) or not {"world", "infos", "quests"} <= set(world):
        raise BrokenGame(
            say("TextWorld のゲームではありません", "this is no TextWorld game"),
            place=str(path),
            remedy=_remedy(),
        )


def _remedy() -> str:
    return say(
        "取得し直すか作り直すか、そのゲームを除いてください",
        "fetch or generate it again, or leave it out",
    )

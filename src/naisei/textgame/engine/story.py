"""Whether a game's files are whole, as far as that can be seen without the interpreter.

The interpreter is C code: a damaged story crashes it, or makes it run for ever.
"""

from __future__ import annotations

import json
from pathlib import Path

from naisei.core import InputError

__all__ = ["check_story"]

_REMEDY = "fetch or generate it again, or leave it out"


def check_story(path: Path) -> None:
    """Of a `.z8` and the `.json` beside it.

    Source: the Z-Machine Standards Document 1.1, §11.1 (version, file length, checksum).

    Raises:
        InputError: cut off, changed, another kind of file, or without its `.json`.
    """
    story = path.read_bytes()
    if len(story) < 64 or story[0] != 8:
        raise InputError("this is no Z-machine story (version 8)", place=str(path), remedy=_REMEDY)
    length = int.from_bytes(story[0x1A:0x1C]) * 8
    checksum = int.from_bytes(story[0x1C:0x1E])
    if len(story) < length:
        raise InputError(
            f"the story is cut off: {len(story)} of {length} bytes",
            place=str(path),
            remedy=_REMEDY,
        )
    if length and sum(story[64:length]) % 65536 != checksum:
        raise InputError("the story is damaged (checksum)", place=str(path), remedy=_REMEDY)
    _check_world(path.with_suffix(".json"))


def _check_world(path: Path) -> None:
    """The file from which textworld knows the commands and the points."""
    if not path.is_file():
        raise InputError(
            "the game's .json is missing: without it, its commands and points cannot be known",
            place=str(path),
            remedy="put it beside the .z8; TextWorld writes both",
        )
    try:
        world = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"this is no JSON: {error}", place=str(path), remedy=_REMEDY) from error
    if not isinstance(world, dict) or not {"world", "infos", "quests"} <= set(world):
        raise InputError("this is no TextWorld game", place=str(path), remedy=_REMEDY)

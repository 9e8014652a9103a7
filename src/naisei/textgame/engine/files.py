"""From the path of a game to a file that the interpreter loads."""

from __future__ import annotations

import importlib.util
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from naisei.core import InputError
from naisei.files import output_error
from naisei.lang import say
from naisei.models.local.weights import cache_root
from naisei.textgame.engine.pool import ProcessPool
from naisei.textgame.engine.story import BrokenGame, check_story, check_world

__all__ = ["needs_textworld", "playable", "textworld_installed"]


def textworld_installed() -> bool:
    """Whether the games engine is there."""
    return importlib.util.find_spec("textworld") is not None


def needs_textworld() -> None:
    """Raises `InputError` if the games engine is not installed."""
    if not textworld_installed():
        raise InputError(
            say(
                "ゲームエンジン (textworld) が入っていません",
                "the games engine (textworld) is not installed",
            ),
            place="textgame",
            remedy=say(
                "pip install 'naisei[textgame]' で入ります (Linux か macOS。wheel がない環境では "
                "C コンパイラが要ります)",
                "pip install 'naisei[textgame]' (Linux or macOS; where there is no wheel, a C "
                "compiler is needed)",
            ),
        )


def playable(path: Path, pool: ProcessPool, *, cache: Path | None = None) -> Path:
    """A `.z8` for a game: the file itself, or its `.json` compiled, once for its contents.

    A `.ulx` cannot be loaded by textworld 1.7; the `.json` beside it is taken. Threads and
    processes may ask for the same game at once. pool: of whose interpreters one compiles, since
    textworld reads and compiles games safely in one thread of a process only.

    Raises:
        BrokenGame: no such file, a kind that cannot be played, or a broken file.
        InputError: no engine, or the cache cannot be written.
        InstrumentFailure: the process that compiles crashed or hangs.
    """
    if not path.is_file():
        raise BrokenGame(
            say("ゲームのファイルがありません", "there is no such game"),
            place=str(path),
            remedy=say(".z8 か .json を指定してください", "give a .z8 or .json"),
        )
    if path.suffix == ".z8":
        check_story(path)
        return path
    source = path if path.suffix == ".json" else path.with_suffix(".json")
    if path.suffix not in (".json", ".ulx") or not source.is_file():
        raise BrokenGame(
            say(
                f"{f'{path.suffix} の' if path.suffix else '拡張子のない'}ゲームは読み込めません",
                f"a game of the kind {path.suffix or 'without an ending'} cannot be loaded",
            ),
            place=str(path),
            remedy=say(
                ".z8 か TextWorld の .json (.ulx なら、隣にある .json) を指定してください",
                "give a .z8, or a TextWorld .json (which a .ulx has beside it)",
            ),
        )
    check_world(source)
    needs_textworld()
    return _compiled(source, cache or cache_root() / "textgame", pool)


def _compiled(source: Path, cache: Path, pool: ProcessPool) -> Path:
    made = cache / f"{sha256(source.read_bytes()).hexdigest()[:24]}.z8"
    if made.is_file():
        return made
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(made.with_suffix(".lock")):
            if not made.is_file():
                process = pool.borrow()
                try:
                    process.compile(source, made)
                finally:
                    pool.give_back(process)
    except OSError as error:
        raise output_error(error, made) from error
    return made

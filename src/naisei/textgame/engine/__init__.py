"""The game engine: checks and compiles game files, and performs commands."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Awaitable
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from naisei.core import (
    Act,
    Handler,
    InputError,
    InstrumentFailure,
    Observation,
    ReplayDivergence,
    Where,
)
from naisei.files import cache_root, output_error
from naisei.lang import say, speaking
from naisei.textgame.engine.others import other_engine
from naisei.textgame.engine.process import BrokenGame, GameProcess, ProcessPool
from naisei.textgame.schemas import START, View

__all__ = ["GameHandler", "ProcessPool", "needs_textworld", "playable", "textworld_installed"]


# Checks of game files without the interpreter.
#
# The interpreter is C code: a damaged story file crashes it or causes an infinite loop.


def check_story(path: Path) -> None:
    """Check a `.z8` and the `.json` beside it.

    Source: the Z-Machine Standards Document 1.1, §11.1 (version, file length, checksum).

    Raises:
        BrokenGame: truncated, modified, another file type, or no `.json`.
    """
    story = path.read_bytes()
    length = int.from_bytes(story[0x1A:0x1C]) * 8
    checksum = int.from_bytes(story[0x1C:0x1E])
    if len(story) < 64 or story[0] != 8:
        why = say(
            "Z-machine のストーリーファイル (バージョン 8) ではありません",
            "this is not a Z-machine story (version 8)",
        )
    elif len(story) < length or (length and sum(story[64:length]) % 65536 != checksum):
        why = say("ストーリーファイルが壊れています", "the story is damaged or cut off")
    else:
        why = ""
    if why:
        raise BrokenGame(why, place=str(path), remedy=_remedy())
    check_world(path.with_suffix(".json"))


def check_world(path: Path) -> None:
    """Check the `.json` from which textworld reads commands and points, or which it compiles.

    Raises:
        BrokenGame: missing, not JSON, or other JSON.
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
            say(f"JSON ではありません: {error}", f"this is not JSON: {error}"),
            place=str(path),
            remedy=_remedy(),
        ) from error
    if not isinstance(world, dict) or not {"world", "infos", "quests"} <= set(world):
        raise BrokenGame(
            say("TextWorld のゲームではありません", "this is not a TextWorld game"),
            place=str(path),
            remedy=_remedy(),
        )


def _remedy() -> str:
    return say(
        "取得し直すか作り直すか、そのゲームを除いてください",
        "fetch or generate it again, or leave it out",
    )


def textworld_installed() -> bool:
    """Whether textworld is installed."""
    return importlib.util.find_spec("textworld") is not None


def needs_textworld() -> None:
    """Raises `InputError` if textworld is not installed."""
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
    """The file that an interpreter opens: a `.z8`, a plug-in engine's file, or the cached `.z8`
    compiled from a `.json`.

    textworld 1.7 cannot load a `.ulx`; the `.json` beside it is used instead. Safe to call
    concurrently for the same game. pool: supplies the interpreter process that compiles, since
    textworld is not thread-safe.

    Raises:
        BrokenGame: no such file, an unknown type, or a broken file.
        InputError: no engine, or the cache is not writable.
        InstrumentFailure: the compiling process crashed or hung.
    """
    if not path.is_file():
        raise BrokenGame(
            say("ゲームのファイルがありません", "there is no such game"),
            place=str(path),
            remedy=say(
                ".z8 や .json などの、ゲームのファイルを指定してください",
                "give a game's file, such as a .z8 or .json",
            ),
        )
    if (engine := other_engine(path)) is not None:
        engine.needs()
        engine.check(path)
        return path
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


#: Most restarts of a game after its interpreter crashed or hung.
_RETRIES = 2


class GameHandler(Handler):
    """Performs one game's commands with a pooled interpreter, from the first command to `close`.
    Games cannot be saved: replay collects the logged commands and repeats them before the first
    new one; the last answer must match the log."""

    def __init__(self, path: Path, pool: ProcessPool) -> None:
        """path: any file that `playable` accepts."""
        self.path = path
        self._story: Path | None = None
        self._pool = pool
        self._process: GameProcess | None = None
        self._given: list[str] = []
        self._last: Observation | None = None
        self._score = 0

    def perform(self, effect: Act, where: Where) -> Awaitable[Observation] | Observation:
        """Raises `InstrumentFailure` if the interpreter failed more than twice or the file is
        broken, so that other games continue."""
        command = str(effect.action)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._perform(command, where)
        return asyncio.to_thread(self._perform, command, where)

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        self._forget_if_anew(str(effect.action))
        self._given.append(str(effect.action))
        self._last = result
        self._score = View.of(result).score

    def close(self) -> None:
        """Return the interpreter to the pool."""
        if self._process is not None:
            self._pool.give_back(self._process)
            self._process = None

    def _forget_if_anew(self, command: str) -> None:
        """Reset the state at the start of another play of the game."""
        if command == START:
            self._given, self._last, self._score = [], None, 0

    def _perform(self, command: str, where: Where) -> Observation:
        self._forget_if_anew(command)
        try:
            with speaking("en"):  # the failure becomes part of the run's log
                self._load()
        except BrokenGame as error:
            raise InstrumentFailure(str(error)) from error
        for attempt in range(_RETRIES + 1):
            try:
                view = self._step(command, where)
                break
            except InstrumentFailure:
                self.close()
                if attempt == _RETRIES:
                    raise
        self._given.append(command)
        self._last = view.observation(float(view.score - self._score))
        self._score = view.score
        if view.done:
            self.close()
        return self._last

    def _step(self, command: str, where: Where) -> View:
        if self._process is None:
            self._process = self._pool.borrow()
            self._drive(self._process, where)
        if command == START:
            return self._process.open(self._load())
        return self._process.step(command)

    def _load(self) -> Path:
        if self._story is None:
            self._story = playable(self.path, self._pool)
        return self._story

    def _drive(self, process: GameProcess, where: Where) -> None:
        """Repeat the commands so far in a new interpreter."""
        view = None
        for command in self._given:
            view = process.open(self._load()) if command == START else process.step(command)
        if view is not None and self._last is not None:
            known = View.of(self._last)
            if view != known:
                raise ReplayDivergence(str(where), known.feedback, view.feedback)

"""Generates many games in parallel, with a manifest."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.core import InputError, InstrumentFailure
from naisei.lang import say

#: One JSON line per game.
MANIFEST = "manifest.jsonl"


class Made(BaseModel):
    """One generated game.

    file: name of the `.z8`. settings: requested skills or level. seeds: of the generator.
    max_score: points. walkthrough: commands of the generator's solution.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    family: str
    split: str
    settings: dict[str, int | bool | str]
    seeds: dict[str, int]
    max_score: int
    walkthrough: int


#: Seconds after which a scratch folder counts as abandoned.
_STALE = 3600.0
#: Generates one game in a folder; picklable.
Maker = Callable[[Path], Made]


def make_many(
    jobs: Sequence[tuple[str, Maker]], folder: Path, *, processes: int | None = None
) -> Iterator[Made]:
    """Generate the games of `jobs` (file name → maker) that are not in the folder yet.

    Yields each finished game, existing ones first. Each finished game adds a manifest line, so a
    killed run loses only games in progress. processes: workers, by default one per core.

    Raises:
        InputError: the manifest cannot be read.
        InstrumentFailure: a game could not be generated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    have = {made.file: made for made in read_manifest(folder) if (folder / made.file).exists()}
    missing = []
    for name, maker in jobs:
        if name in have:
            yield have[name]
        else:
            missing.append(maker)
    if not missing:
        return
    _sweep(folder)
    # Spawned, since forking a process with threads may hang.
    pool = ProcessPoolExecutor(
        min(processes or os.cpu_count() or 1, len(missing)), mp_context=get_context("spawn")
    )
    try:
        with _safe_children():
            futures = [pool.submit(maker, folder) for maker in missing]
        _drop_cut_off_line(folder / MANIFEST)
        with (folder / MANIFEST).open("a", encoding="utf-8") as manifest:
            for future in as_completed(futures):
                made = _result(future, folder)
                manifest.write(made.model_dump_json() + "\n")
                manifest.flush()
                yield made
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _safe_children() -> Iterator[None]:
    """Environment of worker processes: fixed hash seeds, since textworld writes sets into game
    files, and no imports from the working folder."""
    settings = {"PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _sweep(folder: Path) -> None:
    """Remove leftovers of killed runs."""
    for scratch in folder.glob(".making-*"):
        with suppress(FileNotFoundError):  # removed by another process
            if time.time() - scratch.stat().st_mtime > _STALE:
                shutil.rmtree(scratch)


def _result(future: Future[Made], folder: Path) -> Made:
    try:
        return future.result()
    except OSError as error:
        error.filename = error.filename or str(folder)
        raise
    except BrokenProcessPool as error:
        raise InstrumentFailure(
            say(
                "ゲームを作るプロセスが外から終了させられました (メモリ不足かもしれません)。"
                "同じコマンドで、足りないゲームの作成を続けられます",
                "a process that makes games was ended from outside (memory?); the same command "
                "goes on with the games that are missing",
            )
        ) from error


def _drop_cut_off_line(path: Path) -> None:
    if path.exists() and not (data := path.read_bytes()).endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)


def read_manifest(folder: Path) -> list[Made]:
    """The lines of a folder's manifest; empty if there is none. A truncated last line (from a
    killed run) is ignored, and its game is generated again.

    Raises:
        InputError: another line is invalid.
    """
    path = folder / MANIFEST
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    found = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            found.append(Made.model_validate_json(line))
        except ValueError as error:
            if number == len(lines):
                break
            raise InputError(
                say("ゲームの記録ではない行です", "this line is not a record of a game"),
                place=f"{path}:{number}",
                remedy=say(
                    "この行を消してください。ゲームは作り直されます",
                    "delete the line; the game is made again",
                ),
            ) from error
    return found


def compiled(game: Any, options: Any, path: Path) -> Path:
    """Compile to `path` (a `.z8`, with a `.json` beside it); returns `path`.

    Raises:
        InstrumentFailure: the Inform compiler failed.
        OSError: the disk is full or read-only, which the compiler does not report.
    """
    from textworld.generator import compile_game
    from textworld.generator.inform7.world2inform7 import CouldNotCompileGameError

    path.parent.mkdir(parents=True, exist_ok=True)
    # A scratch folder inside, so that moves are atomic.
    with TemporaryDirectory(dir=path.parent, prefix=".making-") as scratch:
        options.path = str(Path(scratch) / path.name)
        options.force_recompile = True
        try:
            made = Path(compile_game(game, options))
        except (CouldNotCompileGameError, subprocess.CalledProcessError) as error:
            for folder in (scratch, gettempdir()):
                _check_room(folder)
            raise InstrumentFailure(f"{path.name} could not be compiled: {error}") from error
        made.with_suffix(".json").replace(path.with_suffix(".json"))
        made.replace(path)
    return path


def _check_room(folder: str) -> None:
    """Raises `OSError` if a test file of one megabyte cannot be written."""
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 20))
        file.flush()

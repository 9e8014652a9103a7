"""Compiling a textworld game so that its files appear only when they are whole."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import Any

from naisei.core import InstrumentFailure

__all__ = ["compiled"]


def compiled(game: Any, options: Any, path: Path) -> Path:
    """Write `path` (a `.z8`) and the `.json` beside it; returns `path`.

    Raises:
        InstrumentFailure: the Inform compiler failed.
        OSError: the disk is full or read only, of which the compiler says nothing clear.
    """
    from textworld.generator import compile_game
    from textworld.generator.inform7.world2inform7 import CouldNotCompileGameError

    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, so that the moves are atomic.
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
    """Raises `OSError` where not even a megabyte can be written."""
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 20))
        file.flush()

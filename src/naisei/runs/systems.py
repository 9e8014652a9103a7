"""How `naisei runs resume` finds the system that a run belongs to.

A system `<name>` within this package has a function

    naisei.<name>.resume:resume(path: Path, **changes) -> int

which builds its task again from the directory's `config.json`, continues the run and
returns an exit code. `changes` holds what may differ between sittings and was given on the
command line (`concurrency`, `max_usd`, `max_tokens`, `max_minutes`, `quiet`, `json`); a
system that cannot change one leaves it out of its signature.

A system outside the package names its function in the entry-point group `naisei.systems`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.frozen import Frozen

__all__ = ["resume"]

_GROUP = "naisei.systems"


def resume(path: Path, **changes: Any) -> int:
    """Continue the run in a directory; returns the exit code.

    Raises:
        InputError: no run directory, a system that is not installed, or one that cannot
            take one of the changes.
    """
    system = Frozen.read(path / "config.json").system
    function = _function(system, path)
    try:
        inspect.signature(function).bind(path, **changes)
    except TypeError as error:
        raise InputError(
            say(
                f"{system} はこの形では再開できません: {error}",
                f"{system} cannot resume so: {error}",
            ),
            place=str(path),
        ) from error
    return function(path, **changes)


def _function(system: str, path: Path) -> Callable[..., int]:
    for entry in entry_points(group=_GROUP, name=system):
        loaded: Callable[..., int] = entry.load()
        return loaded
    module = f"naisei.{system}.resume"
    if not system.isidentifier() or find_spec(f"naisei.{system}") is None or not find_spec(module):
        raise InputError(
            say(
                f"システム {system!r} の実行ですが、"
                "インストールされていないか、再開に対応していません",
                f"the run is of the system {system!r}, which is not installed or cannot resume",
            ),
            place=str(path),
            remedy=say(
                "元のパッケージをインストールしてください", "install the package that it came from"
            ),
        )
    built_in: Callable[..., int] = import_module(module).resume
    return built_in

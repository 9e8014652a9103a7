"""How `naisei runs resume` continues a run of any system."""

from __future__ import annotations

from pathlib import Path

from naisei.runs.frozen import Frozen
from naisei.system.execute import RunOptions, execute
from naisei.system.printing import print_result
from naisei.system.registry import experiment_of

__all__ = ["resume"]


def resume(path: Path, options: RunOptions, *, as_json: bool = False) -> int:
    """Continue the run in a directory under its frozen configuration; returns the exit code.

    Raises:
        InputError: no run directory, a system that is not installed, or a configuration that
            this version does not know.
    """
    place = path / "config.json"
    frozen = Frozen.read(place)
    experiment = experiment_of(frozen.system, frozen.config, path)
    config = frozen.config_as(experiment.config, place)
    result = execute(experiment, config, options, run_dir=path)
    print_result(result, as_json=as_json)
    return result.exit_code

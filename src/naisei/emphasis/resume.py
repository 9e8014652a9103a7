"""How `naisei runs resume` continues an evaluation."""

from __future__ import annotations

from pathlib import Path

from naisei.emphasis.evaluation.commands import print_run
from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.execute import Session, run_eval
from naisei.models.settings import ModelSettings
from naisei.runs.budget import Budget
from naisei.runs.frozen import Frozen

__all__ = ["resume"]


def resume(
    path: Path,
    *,
    concurrency: int = 4,
    max_usd: float | None = None,
    max_tokens: int | None = None,
    max_minutes: float | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Continue the run in `path` under its frozen configuration; returns the exit code."""
    frozen = Frozen.read(path / "config.json")
    config = frozen.config_as(EvalConfig, path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    result = run_eval(config, session, run_dir=path)
    print_run(result, json=json)
    return result.exit_code

"""How `naisei runs resume` continues an evaluation."""

from __future__ import annotations

from pathlib import Path

from naisei.intent.evaluation.commands import print_run
from naisei.intent.evaluation.config import EvalConfig
from naisei.intent.evaluation.execute import Session, run_eval
from naisei.models.settings import ModelSettings
from naisei.runs.budget import Budget
from naisei.runs.frozen import Frozen

__all__ = ["resume_eval"]


def resume_eval(
    path: Path,
    frozen: Frozen,
    *,
    concurrency: int,
    max_usd: float | None,
    max_tokens: int | None,
    max_minutes: float | None,
    quiet: bool,
    json: bool,
) -> int:
    """Continue the evaluation in `path`; returns the exit code."""
    config = frozen.config_as(EvalConfig, path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency if config.models else 1,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    result = run_eval(config, session, run_dir=path)
    print_run(result, json=json)
    return result.exit_code

"""How `naisei runs resume` continues a run of the director."""

from __future__ import annotations

from pathlib import Path

from naisei.director.commands import carry_out
from naisei.director.config import TalkConfig
from naisei.director.execute import Session
from naisei.models.settings import ModelSettings
from naisei.runs.budget import Budget
from naisei.runs.frozen import Frozen

__all__ = ["resume"]


def resume(
    path: Path,
    *,
    concurrency: int = 16,
    max_usd: float | None = None,
    max_tokens: int | None = None,
    max_minutes: float | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Continue the run in `path` under its frozen configuration; returns the exit code."""
    frozen = Frozen.read(path / "config.json")
    config = frozen.config_as(TalkConfig, path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    return carry_out(config, session, run_dir=path, json=json)

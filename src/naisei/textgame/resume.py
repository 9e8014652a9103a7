"""How `naisei runs resume` continues a run of text games."""

from __future__ import annotations

import os
from pathlib import Path

from naisei.models.settings import ModelSettings
from naisei.runs.budget import Budget
from naisei.runs.frozen import Frozen
from naisei.textgame.commands import carry_out
from naisei.textgame.config import GameConfig
from naisei.textgame.execute import Session

__all__ = ["resume"]


def resume(
    path: Path,
    *,
    concurrency: int = os.cpu_count() or 1,
    max_usd: float | None = None,
    max_tokens: int | None = None,
    max_minutes: float | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Continue the run in `path` under its frozen configuration; returns the exit code."""
    frozen = Frozen.read(path / "config.json")
    config = frozen.config_as(GameConfig, path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    return carry_out(config, session, run_dir=path, json=json)

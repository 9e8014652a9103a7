"""How `naisei runs resume` continues a run of conversations."""

from __future__ import annotations

from pathlib import Path

from naisei.models.settings import ModelSettings
from naisei.relationship.commands import carry_out
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.execute import Sitting
from naisei.relationship.rate_commands import resume_rating
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
    sitting = Sitting(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    if frozen.config.get("task") == "rating":
        return resume_rating(path, sitting, json=json)
    config = frozen.config_as(RelationshipConfig, path / "config.json")
    return carry_out(config, sitting, run_dir=path, json=json)

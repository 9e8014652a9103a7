"""How `naisei runs resume` finishes a step of the assistant that was cut off."""

from __future__ import annotations

from pathlib import Path

from naisei.intent.cli.show import line, shown
from naisei.intent.config import AssistConfig
from naisei.intent.execute import Session, in_directory
from naisei.models.settings import ModelSettings
from naisei.retrieval.index import Index
from naisei.runs.budget import Budget
from naisei.runs.frozen import Frozen

__all__ = ["resume"]


def resume(
    path: Path,
    *,
    concurrency: int = 1,
    max_usd: float | None = None,
    max_tokens: int | None = None,
    max_minutes: float | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Finish what is under way in `path` and print the last reply; returns the exit code."""
    frozen = Frozen.read(path / "config.json")
    if frozen.config.get("task") == "eval":
        from naisei.intent.evaluation.resume import resume_eval

        return resume_eval(
            path,
            frozen,
            concurrency=concurrency,
            max_usd=max_usd,
            max_tokens=max_tokens,
            max_minutes=max_minutes,
            quiet=quiet,
            json=json,
        )
    config = frozen.config_as(AssistConfig, path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        budget=Budget(max_usd, max_tokens, max_minutes),
    )
    with Index.open(Path(config.index)) as index:
        standing, result = in_directory(
            config, index, None, session, run_dir=path, data_hash=frozen.data_hash
        )
    if standing.last is not None and not quiet:
        print(line(standing.last) if json else shown(standing.last), flush=True)
    return result.exit_code

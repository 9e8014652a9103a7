"""How `naisei runs resume` continues a run of clarify."""

from __future__ import annotations

from pathlib import Path

from naisei.clarify.audit_run import resume_audit
from naisei.clarify.commands import print_run
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.execute import run_config
from naisei.clarify.session import Session
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
    """Continue the run in `path` under its frozen configuration; returns the exit code.

    Endpoints come from the environment (OPENAI_BASE_URL and the like), as they are no part
    of the configuration.
    """
    frozen = Frozen.read(path / "config.json")
    session = Session(
        settings=ModelSettings(concurrency=concurrency),
        concurrency=concurrency,
        budget=Budget(max_usd, max_tokens, max_minutes),
        quiet=quiet,
    )
    if frozen.config.get("task") == "audit":
        result = resume_audit(path, session)
    else:
        result = run_config(
            frozen.config_as(ClarifyConfig, path / "config.json"), session, run_dir=path
        )
    print_run(result, json=json)
    return result.exit_code

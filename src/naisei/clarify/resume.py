"""How `naisei runs resume` continues a run of clarify."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from naisei.clarify.audit_run import resume_audit
from naisei.clarify.commands import print_run
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.execute import run_config
from naisei.clarify.session import Session
from naisei.core import InputError
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
        result = run_config(_config(frozen, path), session, run_dir=path)
    print_run(result, json=json)
    return result.exit_code


def _config(frozen: Frozen, path: Path) -> ClarifyConfig:
    try:
        return ClarifyConfig.model_validate(frozen.config)
    except ValidationError as error:
        raise InputError(
            f"the configuration is not one of this version: {error.errors()[0]['msg']}",
            place=str(path / "config.json"),
            remedy=f"resume it with naisei {frozen.naisei}",
        ) from error

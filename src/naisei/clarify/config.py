"""What a run of clarify is: everything that changes its results, frozen."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from naisei.clarify.rules import Rules

__all__ = ["ClarifyConfig"]


class ClarifyConfig(BaseModel):
    """One configuration: a row of the paper's tables.

    data: a registered name, a path, or `arta:PATH`. split: of the data, `None` for its
    default. limit: so many instances, drawn by `seed`. actions: a file with another set of
    actions. agent, memory, simulator: names. models: role → `provider:name`. sampling: role →
    parameters. independent: trials are repetitions that know nothing of each other (for
    pass^k and the unbiased pass@k), instead of tries in sequence. alpha: discount of
    DPass@k per further interaction, in (0, 1]; the paper gives none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str = "ambigact40-open"
    split: str | None = None
    limit: int | None = Field(default=None, ge=1)
    actions: str = ""
    agent: str = "bayes"
    agent_options: dict[str, JsonValue] = {}
    memory: str = "none"
    simulator: str = "rule"
    rules: Rules = Rules()
    independent: bool = False
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    embedder: str = "auto"
    alpha: float = Field(default=0.9, gt=0, le=1)
    seed: int = 0

    @model_validator(mode="after")
    def _independent_trials_share_nothing(self) -> ClarifyConfig:
        if self.independent and self.memory != "none":
            raise ValueError("independent trials share nothing: use --memory none")
        return self

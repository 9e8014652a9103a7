"""What a run of the evaluation is: everything that changes its results, frozen."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from naisei.intent.contacts import Contacts
from naisei.intent.rules import Rules
from naisei.retrieval.types import Mode

__all__ = ["ABLATIONS", "EvalConfig", "ablated"]


class EvalConfig(BaseModel):
    """One configuration: a row of the report's tables.

    data: a file of items, or `handbook`. split, limit, seed: which of them. index: the folder of
    the index; its contents are in the run's data hash. mode: how it is searched. user: who plays
    the user. rules, contacts: the assistant's. models: role → `provider:name`. sampling: role →
    parameters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str = "eval"
    data: str = "handbook"
    split: str | None = None
    limit: int | None = Field(default=None, ge=1)
    seed: int = 0
    index: str
    mode: Mode = "hybrid"
    user: str = "rule"
    rules: Rules = Rules()
    contacts: Contacts = Contacts()
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}


#: Name → what is switched off or changed.
ABLATIONS: dict[str, dict[str, object]] = {
    "full": {},
    "no-asking": {"asking": False},
    "no-rewriting": {"rewriting": False},
    "bm25": {"mode": "bm25"},
    "dense": {"mode": "dense"},
    "unknowing": {"user": "unknowing"},
}


def ablated(base: EvalConfig, names: Sequence[str]) -> dict[str, EvalConfig]:
    """The configurations named, all else as in `base`."""
    out = {}
    for name in names:
        change = ABLATIONS[name]
        own = {key: value for key, value in change.items() if key in EvalConfig.model_fields}
        rules = base.rules.model_copy(update={k: v for k, v in change.items() if k not in own})
        out[name] = base.model_copy(update={**own, "rules": rules})
    return out

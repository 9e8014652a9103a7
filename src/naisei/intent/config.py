"""What a run of the assistant is: everything that changes its replies, frozen."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from naisei.intent.rules import Setting
from naisei.retrieval.types import Mode

__all__ = ["AssistConfig"]


class AssistConfig(BaseModel):
    """index: the folder of the index. mode: how it is searched. user: whose thresholds.
    models: role (`evaluator`, `rewriter`, `answerer`) → `provider:name`. sampling: role →
    parameters. request: for a single request, a digest of the dialogue it goes on from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: str
    mode: Mode = "hybrid"
    setting: Setting = Setting()
    user: str = "default"
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    request: str = ""

"""The rules of a talk: what changes how a line is let out."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from naisei.director.judge import Judging
from naisei.lang import Language
from naisei.system.config import Options, flag

__all__ = ["POLICIES", "Policy", "TalkRules"]

#: When the retries are used up. best: the best draft goes out, as WARN. refuse: nothing is
#: said. person: a person gives the line.
Policy = Literal["best", "refuse", "person"]
POLICIES: tuple[Policy, ...] = ("best", "refuse", "person")


class TalkRules(Options):
    """How a line is let out. language: also of the reasons that the writer is told."""

    retries: int = flag(
        2, "不合格のときに書き直させる回数", "New drafts after a rejected one.", ge=0
    )
    policy: Policy = flag(
        "best",
        "書き直しの上限に達したとき: best は最良の案を WARN で出す、refuse は何も言わない、"
        "person は人が書く",
        "Out of retries: the best draft goes out as WARN (best), nothing is said (refuse), or a "
        "person writes the line (person).",
    )
    judge: bool = flag(
        True,
        "採点役のモデルにも採点させるか",
        "Whether a model judges, after the hard rules.",
    )
    judging: Judging = Judging()
    language: Language = flag("ja", "プロンプトの言語", "Language of the prompts.", name="--talk")

    @model_validator(mode="before")
    @classmethod
    def _without_judge(cls, values: Any) -> Any:
        """Runs of before `judge` was a field said so by `judging: null`."""
        if isinstance(values, dict) and values.get("judging", ...) is None:
            return {**{k: v for k, v in values.items() if k != "judging"}, "judge": False}
        return values

"""The player `imitation`: every row of the thesis's tables 5.1–5.4 and 6.1 is a setting of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.options import FLAG, Options
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.trained.judges import ExtremeJudge, LearnedJudge, NoJudge, RecipeJudge
from naisei.textgame.trained.model_dir import bundled
from naisei.textgame.trained.player import ImitationPlayer, Penalty
from naisei.textgame.trained.scorer import Judge
from naisei.textgame.trained.trained_scorer import trained_scorer

__all__ = ["ImitationOptions", "build"]


class ImitationOptions(Options):
    """model: folder of the scorer; the bundled one by default. ucb: equation 5.1. penalty: what
    becomes of an action judged wrong; `soft` by default with the bundled scorer, which is the
    thesis's full configuration, and `none` with any other or without ucb. classifier: who judges:
    `learned` (folder `classifier_model`), `extreme` (§5.5.2), or `recipe`, which reads the
    cookbook by rules (not in the thesis). navigator: whether `navigate to …` is offered; by
    default if the model learned it."""

    model: str = ""
    ucb: bool = True
    penalty: Penalty | None = None
    classifier: Literal["learned", "extreme", "recipe"] = "learned"
    classifier_model: str = ""
    navigator: bool | None = None


class _Kind:
    settings: type[BaseModel] = ImitationOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        given = ImitationOptions.model_validate(context.settings.model_dump())
        if given.penalty == "soft" and not given.ucb:
            raise InputError(
                say(
                    "penalty=soft は UCB1 を通して働きますが、UCB1 を使わない設定になっています",
                    "the soft penalty works through UCB1, which is off",
                ),
                place=f"{FLAG} penalty",
                remedy=say(
                    "ucb=false を外すか、penalty=hard にしてください",
                    "leave ucb on, or use penalty=hard",
                ),
            )
        penalty = given.penalty or ("none" if given.model or not given.ucb else "soft")
        scorer = trained_scorer(_folder(given.model, "scorer"), "policy")
        navigator = scorer.card.navigator if given.navigator is None else given.navigator
        return ImitationPlayer(
            scorer,
            _judge(given, penalty),
            penalty=penalty,
            explore="ucb1" if given.ucb else "none",
            navigator=navigator,
        )


def _judge(given: ImitationOptions, penalty: Penalty) -> Judge:
    if penalty == "none":
        return NoJudge()
    if given.classifier == "extreme":
        return ExtremeJudge()
    if given.classifier == "recipe":
        return RecipeJudge()
    classifier = trained_scorer(_folder(given.classifier_model, "classifier"), "classifier")
    return LearnedJudge(classifier, threshold=classifier.card.threshold)


def _folder(given: str, name: str) -> Path:
    return Path(given) if given else bundled("imitation") / name


def build() -> PlayerKind:
    """The kind `imitation`."""
    return _Kind()

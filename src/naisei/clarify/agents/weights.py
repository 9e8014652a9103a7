"""Fitted weights of the posterior: a small JSON, refitted by tools/calibrate_bayes.py."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError
from naisei.lang import say

__all__ = ["Weights", "load_weights"]


class Weights(BaseModel):
    """What was fitted. Features that are not named weigh nothing.

    scene: weight per scene feature. text: weight per text feature, for answers.
    temperature: the prior's log odds are divided by it (> 0). floor: share of the
    probability spread over all actions, in [0, 1). echo: how much of the weight of its
    words an answer keeps when it also says yes or no, in [0, 1].
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scene: dict[str, float]
    text: dict[str, float]
    temperature: float = 1.0
    floor: float = 0.02
    echo: float = 0.6


@lru_cache(maxsize=8)
def load_weights(name: str) -> Weights:
    """The weights shipped for a knowledge table, the generic ones for an empty name, or a file.

    Raises:
        InputError: a file that is given cannot be read or is no such JSON.
    """
    if name.endswith(".json"):
        source = Path(name)
    else:
        source = files("naisei.clarify.agents") / "weights" / f"bayes_{name or 'any'}.json"  # type: ignore[assignment]
    try:
        return Weights.model_validate_json(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            say(
                f"bayes エージェントの重みを読めません: {error}",
                f"no weights of the bayes agent can be read: {error}",
            ),
            place=name,
            remedy=say(
                "tools/calibrate_bayes.py で作ってください",
                "make them with tools/calibrate_bayes.py",
            ),
        ) from error

"""A training's state on disk, replaced at once, so that a killed training can go on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.emphasis.taggers.neural.learner import Learner
from naisei.lang import say

__all__ = ["Progress", "restore", "save"]

_NAME = "checkpoint.pt"


@dataclass(slots=True)
class Progress:
    """step: steps done. best: (token F1, minus loss) on the dev part, the higher the better.
    best_step: 0 before the first checkpoint. weights: of the network then."""

    step: int = 0
    best: tuple[float, float] = (float("-inf"), float("-inf"))
    best_step: int = 0
    weights: dict[str, Any] | None = None


def save(folder: Path, learner: Learner, progress: Progress, *, digest: str) -> None:
    """digest: of the plan and its data (`NeuralPlan.digest`)."""
    import torch

    state = {
        "digest": digest,
        "step": progress.step,
        "best": progress.best,
        "best_step": progress.best_step,
        "weights": progress.weights,
        "network": learner.weights(),
        "optimiser": learner.optimiser.state_dict(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / f"{_NAME}.tmp"
    torch.save(state, scratch)
    scratch.replace(folder / _NAME)


def restore(folder: Path, learner: Learner, *, digest: str) -> Progress:
    """The progress of the checkpoint in a folder, loaded into the learner; none if there is none.

    Raises:
        InputError: it belongs to another training, or cannot be read.
    """
    import torch

    path = folder / _NAME
    if not path.is_file():
        return Progress()
    try:
        state = torch.load(path, map_location=learner.device, weights_only=True)
    except Exception as error:  # unpickling raises what it likes
        raise InputError(
            say(f"途中経過を読めません: {error}", f"the checkpoint cannot be read: {error}"),
            place=str(path),
            remedy=say("削除してやり直してください", "delete it and train again"),
        ) from error
    if state["digest"] != digest:
        raise InputError(
            say(
                "このフォルダーには、設定かコーパスの違う学習の途中経過があります",
                "the folder holds a training with other settings or another corpus",
            ),
            place=str(folder),
            remedy=say("別のフォルダーを選ぶか、これを削除してください", "choose another folder"),
        )
    learner.load(state["network"])
    learner.optimiser.load_state_dict(state["optimiser"])
    best = (float(state["best"][0]), float(state["best"][1]))
    return Progress(state["step"], best, state["best_step"], state["weights"])

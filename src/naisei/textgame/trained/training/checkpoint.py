"""A training's state on disk, replaced at once, so that a killed training can go on."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.trained.model_dir import read_task
from naisei.textgame.trained.training.learner import Learner

__all__ = ["Progress", "restore", "save", "save_best", "start_from", "take_best"]

_NAME, _BEST = "checkpoint.pt", "best.pt"


@dataclass(slots=True)
class Progress:
    """step: steps done. validated: epochs validated. best: of the criterion, the higher the
    better; minus infinity before the first validation. best_epoch: from 1; 0 is none."""

    step: int = 0
    validated: int = 0
    best: float = float("-inf")
    best_epoch: int = 0


def save(folder: Path, learner: Learner, progress: Progress, *, digest: str) -> None:
    """digest: of the plan and its data (`TrainingPlan.digest`)."""
    state = {
        "digest": digest,
        "step": progress.step,
        "validated": progress.validated,
        "best": progress.best,
        "best_epoch": progress.best_epoch,
        "network": learner.network.state_dict(),
        "optimiser": learner.optimiser.state_dict(),
    }
    _write(folder / _NAME, state)


def restore(folder: Path, learner: Learner, *, digest: str) -> Progress:
    """The progress of the checkpoint in a folder, loaded into the learner; none if there is none.

    Raises:
        InputError: it belongs to another training.
    """
    path = folder / _NAME
    if not path.is_file():
        return Progress()
    state = _read(path, learner.device)
    if state["digest"] != digest:
        raise InputError(
            say(
                "このフォルダーには、設定かゲームの違う学習の途中経過があります",
                "the folder holds a training with other settings or other games",
            ),
            place=str(folder),
            remedy=say(
                "別のフォルダーを選ぶか、これを削除してください",
                "choose another folder, or delete this one",
            ),
        )
    learner.network.load_state_dict(state["network"])
    learner.optimiser.load_state_dict(state["optimiser"])
    return Progress(state["step"], state["validated"], state["best"], state["best_epoch"])


def save_best(folder: Path, learner: Learner) -> None:
    """Keep the present weights as the best."""
    _write(folder / _BEST, learner.network.state_dict())


def start_from(folder: Path, learner: Learner, *, task: str) -> str:
    """Load the best weights of another training of the same network; returns their digest.

    Raises:
        InputError: there are none, or they are of another network.
    """
    path = folder / "training" / _BEST
    if not path.is_file():
        raise InputError(
            say("このフォルダーに、元にする学習がありません", "there is no training to start from"),
            place=str(folder),
            remedy=say("学習の --out を指定してください", "name the --out of a training"),
        )
    try:
        learner.network.load_state_dict(_read(path, learner.device))
    except RuntimeError as error:
        raise InputError(
            say("ネットワークの形が違います: ", "its network is another one: ")
            + str(error).splitlines()[-1].strip(),
            place=str(folder),
            remedy=say(
                "--encoder、--layout、--layers、--width をそろえて学習してください",
                "train with the same encoder, layout, layers and width",
            ),
        ) from error
    if read_task(folder) != task:
        # What a policy rates high a classifier of wrong actions rates low, and the reverse.
        for each in learner.network.head.parameters():
            each.data.neg_()
    return sha256(path.read_bytes()).hexdigest()[:24]


def take_best(folder: Path, learner: Learner) -> None:
    """Load the best weights into the learner."""
    learner.network.load_state_dict(_read(folder / _BEST, learner.device))


def _write(path: Path, state: Any) -> None:
    import torch

    scratch = path.with_name(path.name + ".tmp")
    torch.save(state, scratch)
    scratch.replace(path)


def _read(path: Path, device: str) -> Any:
    import torch

    return torch.load(path, map_location=device, weights_only=True)

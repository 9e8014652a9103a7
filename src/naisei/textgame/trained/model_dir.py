"""A trained model in a folder: `model.npz` or `model.onnx`, `tokenizer.json`, `model.json`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.lang import say

__all__ = ["CONFIG", "ModelCard", "Special", "bundled", "read_card", "read_task"]

CONFIG = "model.json"


class Special(BaseModel):
    """How a pair is framed: first segment, `between`, second segment; numbers of tokens.

    BERT: `[CLS] a [SEP] b [SEP]`; RoBERTa: `<s> a </s></s> b </s>`. types: whether the second
    segment is of type 1.
    """

    model_config = ConfigDict(frozen=True)

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    pad: int
    types: bool


class ModelCard(BaseModel):
    """What a trained model is, and how it was made.

    task: `policy` rates actions of a situation, `classifier` tells wrong actions of a cookbook.
    navigator: whether it learned from rewritten walkthroughs. layout: how state and actions are
    put before it, see `TrainingPlan`. limit: tokens of a pair. threshold: of a classifier, the
    rating from which on an action counts as wrong. trained: settings and figures of its
    training, for people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Literal["policy", "classifier"]
    navigator: bool = False
    layout: Literal["pairs", "shared"] = "pairs"
    limit: int = Field(ge=16)
    threshold: float = Field(default=0.5, ge=0, le=1)
    special: Special
    inputs: tuple[str, ...]
    trained: dict[str, str | int | float | bool | None] = {}


def read_card(folder: Path, task: str) -> ModelCard:
    """Raises `InputError` if there is no model for this task in the folder."""
    card = _card(folder)
    if card.task != task:
        raise InputError(
            say(
                f"これは {card.task} として学習したモデルです。ここで要るのは {task} です",
                f"this model was trained as {card.task}, and a {task} is needed",
            ),
            place=str(folder),
            remedy=say(f"--task {task} で学習してください", f"train one with --task {task}"),
        )
    return card


def read_task(folder: Path) -> str:
    """What the model of a folder was trained as. Raises `InputError` if there is none."""
    return _card(folder).task


def _card(folder: Path) -> ModelCard:
    path = folder / CONFIG
    if not path.is_file():
        raise InputError(
            say("ここに学習済みモデルはありません", "there is no trained model here"),
            place=str(folder),
            remedy=say(
                "naisei textgame train --games DIR --out MODEL で学習するか、"
                "学習済みモデルの要らないプレイヤー (--agent planner) を選んでください",
                "train one: naisei textgame train --games DIR --out MODEL, or choose a player "
                "that needs none: --agent planner",
            ),
        )
    try:
        return ModelCard.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(
            say(
                "このバージョンの学習済みモデルではありません: ",
                "this is no trained model of this version: ",
            )
            + error.errors()[0]["msg"],
            place=str(path),
            remedy=say("学習し直してください", "train it again"),
        ) from error


def bundled(name: str) -> Path:
    """Where a model that comes with the package would be."""
    return Path(str(files("naisei") / "data" / name))

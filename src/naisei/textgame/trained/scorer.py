"""Trained models in folders: `model.onnx`, `tokenizer.json` and `model.json`; the bundled ones have
`model.npz`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.cooking_state import TextState
from naisei.textgame.trained.encoding import (
    Numbers,
    PairEncoder,
    SharedEncoder,
    Special,
    WordPiece,
    numbers_by,
)
from naisei.textgame.trained.numpy_network import NumpyNetwork

CONFIG = "model.json"


class ModelCard(BaseModel):
    """A trained model's description.

    task: `policy` rates actions of a state, `classifier` finds wrong actions for a cookbook.
    navigator: trained on rewritten walkthroughs. layout: `pairs`: state and action encoded together
    (thesis §5.2.1); `shared`: see `encoding`; the bundled models. limit: most tokens of a pair.
    threshold: of a classifier, the least rating of a wrong action. trained: settings and figures of
    the training, for people.
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
    """Raises `InputError` if the folder has no model for this task."""
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
    """The folder of a bundled model."""
    return Path(str(files("naisei") / "data" / name))


# Trained models rate candidates in one batch and cache ratings.
#
# numpy runs `model.npz` (the bundled models), onnxruntime `model.onnx`.

#: Most cached states.
_REMEMBERED = 2048
_REMEDY = "pip install onnxruntime tokenizers"


class TrainedScorer:
    """Ratings of 0–1: the sigmoid of the model's output.

    Caches ratings of a state with its candidates; with UCB1 the same states recur often.
    """

    def __init__(self, folder: Path, task: str) -> None:
        self.card: ModelCard = read_card(folder, task)
        self._rated = _load(folder, self.card)
        self._known = lru_cache(maxsize=_REMEMBERED)(self._rate)

    def score(self, state: TextState, actions: Sequence[str]) -> Sequence[float]:
        if not actions:
            return ()
        # Only the text determines the rating.
        read = state.model_copy(update={"fresh": (), "toward": ""})
        return self._known(read, tuple(actions))

    def _rate(self, state: TextState, actions: tuple[str, ...]) -> list[float]:
        logits = self._rated(state, actions)
        rated: list[float] = (1 / (1 + np.exp(-logits.reshape(-1).astype(np.float64)))).tolist()
        return rated


@lru_cache(maxsize=8)
def trained_scorer(folder: Path, task: str) -> TrainedScorer:
    """The model of a folder, loaded once per run.

    Raises:
        InputError: no such model, or onnxruntime is needed and missing.
    """
    return TrainedScorer(folder, task)


#: Logits of the actions of a state.
Rated = Callable[[TextState, Sequence[str]], NDArray[np.float32]]


def _load(folder: Path, card: ModelCard) -> Rated:
    return (_numpy if card.layout == "shared" else _onnx)(folder, card)


def _numpy(folder: Path, card: ModelCard) -> Rated:
    path = folder / "model.npz"
    try:
        network = NumpyNetwork(path)
        numbers = _tokenizer(folder / "tokenizer.json")
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise _unloadable(path, error) from error
    encoder = SharedEncoder(numbers, card.special, limit=card.limit)
    return lambda state, actions: network.rate(encoder.encode(state, actions))


def _tokenizer(path: Path) -> Numbers:
    """The tokenizer of a folder; an uncased WordPiece needs no library."""
    try:
        return WordPiece(path).numbers
    except (ValueError, KeyError, TypeError):
        tokenizer = _needed("tokenizers").Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return numbers_by(tokenizer)


def _needed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            say(
                f"学習済みモデルには {name} が要りますが、入っていません",
                f"a trained model needs {name}, which is not installed",
            ),
            place="--agent imitation",
            remedy=_REMEDY,
        ) from error


def _onnx(folder: Path, card: ModelCard) -> Rated:
    onnxruntime = _needed("onnxruntime")
    path = folder / "model.onnx"
    options = onnxruntime.SessionOptions()
    # Games run in parallel, each on one core.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        numbers = _tokenizer(folder / "tokenizer.json")
    except InputError:
        raise
    except Exception as error:  # onnxruntime and tokenizers raise their own exceptions
        raise _unloadable(path, error) from error
    pairs = PairEncoder(numbers, card.special, limit=card.limit)
    return lambda state, actions: session.run(
        None, pairs.batch([(state, action) for action in actions]).named(card.inputs)
    )[0]


def _unloadable(path: Path, error: Exception) -> InputError:
    return InputError(
        say(f"モデルを読み込めません: {error}", f"the model cannot be loaded: {error}"),
        place=str(path),
        remedy=say("学習し直してください", "train it again"),
    )

"""A trained network as ONNX, its weights in int8 where asked for."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

from naisei.runs.directory import write_atomically
from naisei.textgame.trained.model_dir import CONFIG, ModelCard, Special
from naisei.textgame.trained.training.network import Loaded
from naisei.textgame.trained.training.plan import TrainingPlan

__all__ = ["export"]


def export(
    loaded: Loaded,
    special: Special,
    plan: TrainingPlan,
    folder: Path,
    *,
    limit: int,
    int8: bool,
    figures: dict[str, str | int | float | bool | None],
) -> Path:
    """Write `model.onnx`, `tokenizer.json` and `model.json`; returns the folder.

    int8: dynamic quantisation of all weights, by channel, within 7 bits, since processors
    without VNNI overflow on 8. figures: of the training, for the card.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.onnx"
    scratch = folder / "model.onnx.tmp"
    _to_onnx(loaded, scratch)
    if int8:
        _quantise(scratch, model)
        scratch.unlink()
    else:
        scratch.replace(model)
    loaded.tokenizer.save(str(folder / "tokenizer.json"))
    card = ModelCard(
        task=plan.task,
        navigator=plan.navigator and plan.task == "policy",
        limit=limit,
        special=special,
        inputs=loaded.inputs,
        trained={**plan.model_dump(mode="json"), "int8": int8, **figures},
    )
    write_atomically(folder / CONFIG, card.model_dump_json(indent=2) + "\n")
    return folder


def _to_onnx(loaded: Loaded, path: Path) -> None:
    import torch

    network = loaded.network.to("cpu").eval()
    usual = network.body.config._attn_implementation
    network.body.set_attn_implementation("eager")  # the one that tracing can follow
    ids = torch.ones((2, 16), dtype=torch.int64)
    arguments: tuple[Any, ...] = (ids, torch.ones_like(ids))
    if loaded.types:
        arguments += (torch.zeros_like(ids),)
    axes = {name: {0: "pairs", 1: "tokens"} for name in loaded.inputs}
    with warnings.catch_warnings(), torch.no_grad():
        # The exporter by tracing needs no further package.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            arguments,
            str(path),
            input_names=list(loaded.inputs),
            output_names=["rating"],
            dynamic_axes={**axes, "rating": {0: "pairs"}},
            opset_version=17,
            dynamo=False,
        )
    network.body.set_attn_implementation(usual)


def _quantise(source: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    level = logging.root.level
    logging.root.setLevel(logging.ERROR)  # it advises on the root logger
    try:
        quantize_dynamic(
            str(source),
            str(target),
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
    finally:
        logging.root.setLevel(level)

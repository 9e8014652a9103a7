"""Exports a trained model for players."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from naisei.files import write_atomically
from naisei.textgame.trained.scorer import CONFIG, ModelCard


def export(network: Any, tokenizer: Any, card: ModelCard, folder: Path) -> Path:
    """Write `model.onnx`, `tokenizer.json` and `model.json`; returns the weights file.

    Raises:
        InputError: the folder cannot be written.
    """
    (folder / CONFIG).unlink(missing_ok=True)  # written last: a folder with a card is complete
    weights = folder / "model.onnx"
    write_atomically(weights, _onnx(network, card))
    write_atomically(folder / "tokenizer.json", tokenizer.to_str(pretty=True))
    write_atomically(folder / CONFIG, card.model_dump_json(indent=2) + "\n")
    return weights


def _onnx(network: Any, card: ModelCard) -> bytes:
    import torch

    network = network.to("cpu").eval()
    network.set_attn_implementation("eager")  # tracing supports this implementation only
    ids = torch.ones((2, 16), dtype=torch.int64)
    axes = {name: {0: "pairs", 1: "tokens"} for name in card.inputs}
    with TemporaryDirectory(prefix="naisei-onnx-") as scratch:
        made = Path(scratch) / "model.onnx"
        with warnings.catch_warnings(), torch.no_grad():
            # The tracing exporter needs no further package.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                network,
                ({name: ids * (name != "token_type_ids") for name in card.inputs},),
                str(made),
                input_names=list(card.inputs),
                output_names=["rating"],
                dynamic_axes={**axes, "rating": {0: "pairs"}},
                opset_version=17,
                dynamo=False,
            )
        return made.read_bytes()

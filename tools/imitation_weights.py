"""`model.onnx` of a trained player (layout `shared`, `--width`) to the `model.npz` that core plays.

    python tools/imitation_weights.py MODEL

Needs the extra `train`. The int8 numbers and their scales are taken over as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from naisei.files import written_beside
from naisei.textgame.trained.scorer import read_card, read_task

#: Of a layer, in the order in which the graph multiplies with them.
_MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
#: Width of an attention head of a narrow encoder.
_HEAD = 16


def main(folder: Path) -> None:
    card = read_card(folder, read_task(folder))
    if card.layout != "shared" or not card.trained.get("width"):
        sys.exit(f"{folder}: only the layout `shared` with --width")
    model = onnx.load(str(folder / "model.onnx"))
    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    arrays = {name: array for name, array in stored.items() if name.startswith(("body.", "head."))}
    arrays = {
        name.removesuffix("_int8").replace("_scale", ".scale"): array
        for name, array in arrays.items()
    }
    used = [node.input[1] for node in model.graph.node if node.op_type == "MatMul"]
    used = [name for name in used if name in stored or f"{name}_int8" in stored]
    names = [
        f"body.encoder.layer.{layer}.{name}"
        for layer in range(len(used) // len(_MATRICES))
        for name in _MATRICES
    ]
    for name, matrix in zip([*names, "head"], used, strict=True):
        if f"{matrix}_int8" in stored:
            arrays[f"{name}.weight"] = stored[f"{matrix}_int8"].T
            arrays[f"{name}.weight.scale"] = stored[f"{matrix}_scale"].T
        else:
            arrays[f"{name}.weight"] = stored[matrix].T
    arrays["attention_heads"] = np.int64(int(card.trained["width"]) // _HEAD)
    arrays["matching"] = np.bool_(card.trained.get("matching", False))
    with written_beside(folder / "model.npz") as scratch:
        np.savez_compressed(scratch, **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A trained network as ONNX, its weights in int8 where asked for."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from naisei.files import write_atomically
from naisei.textgame.trained.model_dir import CONFIG, ModelCard, Special
from naisei.textgame.trained.pairs import special_of
from naisei.textgame.trained.training.network import Loaded
from naisei.textgame.trained.training.options import TrainingOptions
from naisei.textgame.trained.training.small_weights import shrink
from naisei.textgame.trained.training.vocabulary import pruned

__all__ = ["export"]


def export(
    loaded: Loaded,
    special: Special,
    plan: TrainingOptions,
    folder: Path,
    *,
    limit: int,
    int8: bool,
    figures: dict[str, str | int | float | bool | None],
    words: Sequence[str] = (),
    threshold: float = 0.5,
) -> Path:
    """Write `model.onnx`, `tokenizer.json` and `model.json`; returns the folder.

    int8: with the layout `shared`, of the weights only (`small_weights`); with `pairs`, dynamic
    quantisation by channel, within 7 bits, since processors without VNNI overflow on 8. figures:
    of the training, for the card. words: texts for whose tokens there is room; all tokens of the
    encoder if none. threshold: see `ModelCard`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.onnx"
    scratch = folder / "model.onnx.tmp"
    (folder / "model.npz").unlink(missing_ok=True)  # of an earlier training; it goes first
    tokenizer = loaded.tokenizer
    with _room_for(loaded, words) as smaller:
        if smaller is not None:
            tokenizer = smaller
            special = special_of(
                smaller, pad=smaller.token_to_id(loaded.padding), types=special.types
            )
        _to_onnx(loaded, scratch)
    if int8:
        (shrink if loaded.layout == "shared" else _quantise)(scratch, model)
        scratch.unlink()
    else:
        scratch.replace(model)
    tokenizer.save(str(folder / "tokenizer.json"))
    card = ModelCard(
        task=plan.task,
        navigator=plan.navigator and plan.task == "policy",
        layout=plan.layout,
        limit=limit,
        threshold=threshold,
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
    axes = {name: {0: "pairs", 1: "tokens"} for name in loaded.inputs}
    axes["rating"] = {0: "pairs"}
    arguments: tuple[Any, ...] = (ids, torch.ones_like(ids))
    if loaded.layout == "shared":
        more = torch.zeros_like(ids), torch.zeros_like(ids), torch.ones((2, 5), dtype=torch.int64)
        arguments += more
        axes["heads"] = axes["rating"] = {0: "pairs", 1: "actions"}
    elif loaded.types:
        arguments += (torch.zeros_like(ids),)
    with warnings.catch_warnings(), torch.no_grad():
        # The exporter by tracing needs no further package.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            arguments,
            str(path),
            input_names=list(loaded.inputs),
            output_names=["rating"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    network.body.set_attn_implementation(usual)


@contextmanager
def _room_for(loaded: Loaded, words: Sequence[str]) -> Iterator[Any]:
    """The smaller tokenizer, while the network has embeddings for its tokens only."""
    import torch

    smaller = pruned(loaded.tokenizer, words) if words else None
    if smaller is None:
        yield None
        return
    tokenizer, rows = smaller
    network = loaded.network.to("cpu")
    whole = network.body.get_input_embeddings()
    network.body.set_input_embeddings(
        torch.nn.Embedding.from_pretrained(whole.weight.detach()[torch.tensor(rows)])
    )
    try:
        yield tokenizer
    finally:
        network.body.set_input_embeddings(whole)


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

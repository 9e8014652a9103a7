"""A trained network as ONNX, its weights in int8 where asked for."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from naisei.files import write_atomically
from naisei.textgame.trained.encoding import Special, special_of
from naisei.textgame.trained.scorer import CONFIG, ModelCard
from naisei.textgame.trained.training.network import Loaded
from naisei.textgame.trained.training.options import TrainingOptions

__all__ = ["export", "game_words", "pruned", "shrink"]


# A tokenizer with only the words that games use, and the rows of the embeddings for them.
#
# Of MiniLM's 30,522 tokens the games use about two thousand, and the table of the others is half
# of the model. Characters are kept, so that an unknown word falls to pieces as before.

_WORD = re.compile(r"[A-Za-z]+")
_TEXTS = (".twg", ".twl", ".twf", ".json", ".txt")


def game_words() -> list[str]:
    """Every word of textworld's own files of texts, names and recipes; none if it is not here."""
    found = find_spec("textworld")
    if found is None or not found.submodule_search_locations:
        return []
    root = Path(next(iter(found.submodule_search_locations)))
    files = [p for p in (root / "generator" / "data").rglob("*") if p.suffix in _TEXTS]
    own = (root / "challenges" / "tw_cooking").rglob("*")
    files += [p for p in own if p.suffix in (*_TEXTS, ".py")]
    words = {w.lower() for p in files for w in _WORD.findall(p.read_text("utf-8", "ignore"))}
    return sorted(words)


def pruned(tokenizer: Any, texts: Iterable[str]) -> tuple[Any, Sequence[int]] | None:
    """A smaller tokenizer and, of each of its tokens, the number in the larger one.

    It gives the same tokens for `texts`. `None` if the tokenizer is of another kind than
    WordPiece.
    """
    from tokenizers import Tokenizer

    described = json.loads(tokenizer.to_str())
    model = described["model"]
    if model.get("type") != "WordPiece":
        return None
    used = {number for text in texts for number in tokenizer.encode(text).ids}
    special = {each["id"] for each in described["added_tokens"]}
    special.add(model["vocab"][model["unk_token"]])
    prefix = model["continuing_subword_prefix"]
    kept = [
        (name, number)
        for name, number in sorted(model["vocab"].items(), key=lambda item: item[1])
        if number in used or number in special or len(name.removeprefix(prefix)) == 1
    ]
    new = {old: number for number, (_, old) in enumerate(kept)}
    model["vocab"] = {name: new[old] for name, old in kept}
    for each in described["added_tokens"]:
        each["id"] = new[each["id"]]
    _renumber(described.get("post_processor") or {}, model["vocab"])
    return Tokenizer.from_str(json.dumps(described)), [old for _, old in kept]


def _renumber(post: dict[str, Any], vocabulary: dict[str, int]) -> None:
    """The tokens that frame a text, in either way that they are described."""
    for name, each in (post.get("special_tokens") or {}).items():
        each["ids"] = [vocabulary[token] for token in each["tokens"]]
        assert name in vocabulary, "a framing token is a token"
    for side in ("sep", "cls"):
        if side in post:
            post[side][1] = vocabulary[post[side][0]]


# An ONNX file with weights of 8 bits, computed with in float32.
#
# What a network rates is then a function of one example: quantising what flows through it as well
# takes scales from the whole batch, so that a rating moves with the other candidates. The runtime
# unfolds the weights once, on loading. A quarter of the size; about as fast as float32.

#: Numbers from which on a matrix is worth it.
_LEAST = 1024


def shrink(source: Path, target: Path) -> None:
    """Each matrix as int8 with a scale a column; a table that is looked up in, a scale a row."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load(str(source))
    graph = model.graph
    tables = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    unfolding, kept = [], []
    for weight in graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.ndim != 2 or values.dtype != np.float32 or values.size < _LEAST:
            kept.append(weight)
            continue
        axis = 1 if weight.name in tables else 0
        scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-12) / 127.0
        small, whole = f"{weight.name}_int8", f"{weight.name}_float"
        rounded = np.rint(values / scale).astype(np.int8)
        kept.append(numpy_helper.from_array(rounded, small))
        kept.append(numpy_helper.from_array(scale.astype(np.float32), f"{weight.name}_scale"))
        unfolding.append(helper.make_node("Cast", [small], [whole], to=TensorProto.FLOAT))
        unfolding.append(helper.make_node("Mul", [whole, f"{weight.name}_scale"], [weight.name]))
    nodes = list(graph.node)
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(kept)
    graph.node.extend([*unfolding, *nodes])
    onnx.checker.check_model(model)
    onnx.save(model, str(target))


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

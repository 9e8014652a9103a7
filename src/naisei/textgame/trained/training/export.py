"""A trained model as files that a player reads, with the words that games use."""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from naisei.files import write_atomically
from naisei.textgame.trained.encoding import special_of
from naisei.textgame.trained.scorer import CONFIG, ModelCard
from naisei.textgame.trained.training.network import RatingModel

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


def export(
    model: RatingModel,
    folder: Path,
    *,
    int8: bool,
    figures: dict[str, str | int | float | bool | None],
    words: Sequence[str] = (),
    threshold: float = 0.5,
) -> Path:
    """Write the weights, `tokenizer.json` and `model.json`; returns the file of the weights.

    The layout `shared` becomes `model.npz`, which numpy plays; `pairs` becomes `model.onnx`.
    int8: of `shared` the weights alone, each matrix with a scale a row (a rating is then a
    function of one example); of `pairs` dynamic quantisation by channel, within 7 bits
    (`naisei.models.embedders.onnx`). figures: of the training, for the card. words: texts
    for whose tokens there is room; all tokens of the encoder if none. threshold: see `ModelCard`.

    Raises:
        InputError: the folder cannot be written.
    """
    options, tokenizer, special = model.options, model.tokenizer, model.special
    shared = options.layout == "shared"
    weights, other = folder / "model.npz", folder / "model.onnx"
    if not shared:
        weights, other = other, weights
    with _room_for(model, words) as smaller:
        if smaller is not None:
            tokenizer = smaller
            pad = smaller.token_to_id(model.padding)
            special = special_of(smaller, pad=pad, types=special.types)
        data = _npz(model, int8=int8) if shared else _onnx(model, int8=int8)
    card = ModelCard(
        task=options.task,
        navigator=options.navigator and options.task == "policy",
        layout=options.layout,
        limit=model.limit,
        threshold=threshold,
        special=special,
        inputs=model.inputs,
        trained={**options.model_dump(mode="json"), "int8": int8, **figures},
    )
    (folder / CONFIG).unlink(missing_ok=True)  # a folder with a card is whole
    write_atomically(weights, data)
    other.unlink(missing_ok=True)  # of an earlier training
    write_atomically(folder / "tokenizer.json", tokenizer.to_str(pretty=True))
    write_atomically(folder / CONFIG, card.model_dump_json(indent=2) + "\n")
    return weights


#: Numbers from which on a matrix is worth being of 8 bits.
_LEAST = 1024


def _npz(model: RatingModel, *, int8: bool) -> bytes:
    """What `NumpyNetwork` reads."""
    config = model.network.body.config
    arrays: dict[str, Any] = {
        "attention_heads": np.int64(config.num_attention_heads),
        "matching": np.bool_(model.options.matching),
        "offset": np.int64(model.offset),
        "epsilon": np.float64(config.layer_norm_eps),
    }
    for name, tensor in model.network.state_dict().items():
        values = tensor.cpu().numpy()
        if "pooler" in name or values.dtype != np.float32:
            continue  # no rating needs them
        if int8 and values.ndim == 2 and values.size >= _LEAST:
            scale = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-12) / 127.0
            arrays[f"{name}.scale"] = scale.astype(np.float32)
            values = np.rint(values / scale).astype(np.int8)
        arrays[name] = values
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()


def _onnx(model: RatingModel, *, int8: bool) -> bytes:
    """The layout `pairs`, of whatever encoder."""
    import torch

    network = model.network.to("cpu").eval()
    usual = network.body.config._attn_implementation
    network.body.set_attn_implementation("eager")  # the one that tracing can follow
    ids = torch.ones((2, 16), dtype=torch.int64)
    axes = {name: {0: "pairs", 1: "tokens"} for name in model.inputs}
    axes["rating"] = {0: "pairs"}
    arguments: tuple[Any, ...] = (ids, torch.ones_like(ids))
    if model.special.types:
        arguments += (torch.zeros_like(ids),)
    with TemporaryDirectory(prefix="naisei-onnx-") as scratch:
        whole, small = Path(scratch) / "whole.onnx", Path(scratch) / "small.onnx"
        with warnings.catch_warnings(), torch.no_grad():
            # The exporter by tracing needs no further package.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                network,
                arguments,
                str(whole),
                input_names=list(model.inputs),
                output_names=["rating"],
                dynamic_axes=axes,
                opset_version=17,
                dynamo=False,
            )
        network.body.set_attn_implementation(usual)
        if int8:
            _quantise(whole, small)
        return (small if int8 else whole).read_bytes()


@contextmanager
def _room_for(model: RatingModel, words: Sequence[str]) -> Iterator[Any]:
    """The smaller tokenizer, while the network has embeddings for its tokens only."""
    import torch

    smaller = pruned(model.tokenizer, words) if words else None
    if smaller is None:
        yield None
        return
    tokenizer, rows = smaller
    network = model.network.to("cpu")
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

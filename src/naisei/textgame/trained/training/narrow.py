"""A small encoder of its own: the words of a large one in fewer dimensions, and fresh layers.

For a training of minutes on one core. The words keep their places among each other as far as the
principal components of the large encoder's embeddings do; everything else is learned.
"""

from __future__ import annotations

from typing import Any

from naisei.core import InputError
from naisei.lang import say

__all__ = ["narrowed"]

#: Width of an attention head.
_HEAD = 16
#: Kinds of token: `shared.PARTS`.
_PARTS = 4


def narrowed(body: Any, *, width: int, layers: int, seed: int) -> Any:
    """A BERT of this width without dropout, the same for the same seed.

    Raises:
        InputError: the width is no multiple of a head's, or not less than the encoder's.
    """
    import torch
    from transformers import BertConfig, BertModel

    words = body.get_input_embeddings().weight.detach()
    if width % _HEAD or not 0 < width < words.shape[1]:
        raise InputError(
            say(
                f"幅 {words.shape[1]} のエンコーダーを {width} に縮めることはできません",
                f"an encoder of width {words.shape[1]} cannot be narrowed to {width}",
            ),
            place=f"--width {width}",
            remedy=say(
                f"{words.shape[1]} より小さい {_HEAD} の倍数を指定してください",
                f"give a multiple of {_HEAD} below {words.shape[1]}",
            ),
        )
    torch.manual_seed(seed)
    made = BertModel(
        BertConfig(
            vocab_size=words.shape[0],
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=width // _HEAD,
            intermediate_size=2 * width,
            max_position_embeddings=int(body.config.max_position_embeddings),
            type_vocab_size=_PARTS,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        add_pooling_layer=False,
    )
    centred = words - words.mean(0)
    _, directions = torch.linalg.eigh(centred.T @ centred)  # the largest last
    kept = centred @ directions[:, -width:].flip(1)
    with torch.no_grad():
        made.get_input_embeddings().weight.copy_(kept / kept.std() * 0.1)
    return made

"""A tiny encoder on disk: a folder as `transformers` reads it."""

from __future__ import annotations

from pathlib import Path

WORDS = ["犬", "猫", "が", "は", "を", "走る", "食べる", "重要", "です", "。", "設定", "する"]
PIECES = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    *WORDS,
    "題",
    "名",
    *"abcdefghijklmnopqrstuvwxyz",
    "apt",
    "ß",
]


def folder(path: Path, *, width: int = 24, layers: int = 2) -> Path:
    """A random BertModel with a Unigram tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(PIECES),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        pad_token_id=1,
    )
    model = BertModel(config, add_pooling_layer=False)
    # Words that can be told apart without a long training.
    torch.nn.init.normal_(model.get_input_embeddings().weight)
    model.save_pretrained(path)
    made = Tokenizer(models.Unigram([(p, -float(i)) for i, p in enumerate(PIECES)], 3, False))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    PreTrainedTokenizerFast(
        tokenizer_object=made,
        cls_token="<s>",
        pad_token="<pad>",
        sep_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(path)
    return path

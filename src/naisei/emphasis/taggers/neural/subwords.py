"""Subwords: SentencePiece vocabularies cut to Japanese, and tokenizers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.models.embedders.onnx import Packed

__all__ = ["SPACE", "PythonTokenizer", "Subwords", "japanese_pieces", "unigram"]


#: Stands for a space within pieces.
SPACE = "▁"
#: Kana, kana extensions, ideographs with their extensions, and marks of Japanese typography.
_RANGES = (
    (0x3000, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF), (0x20000, 0x323AF),
)  # fmt: skip


def japanese_pieces(pieces: Sequence[str], special: Sequence[int]) -> NDArray[np.int64]:
    """Numbers of the pieces written in kana, ideographs, ASCII, digits, marks and symbols only,
    and of the special ones, in order.

    A text of such characters is cut into the same pieces as with the whole vocabulary, since no
    other piece ever fits it.
    """
    kept = {
        number
        for number, piece in enumerate(pieces)
        if piece and all(_written(character) for character in piece)
    }
    return np.array(sorted(kept | set(special)), np.int64)


def _written(character: str) -> bool:
    code = ord(character)
    if character == SPACE or code < 0x80 or any(a <= code <= b for a, b in _RANGES):
        return True
    return unicodedata.category(character)[0] in "PSNZ"


#: Stands in for a character while the others are normalised.
_SHIELD = "\ue000"


def unigram(packed: Packed, kept: NDArray[np.int64]) -> Any:
    """A `tokenizers.Tokenizer` over the kept pieces, numbered anew in their order.

    Normalisation is NFKC, with spaces folded and control characters dropped, and `～` kept as
    the packed map has it. The map knows single characters only; here `ｶﾞ` becomes `ガ`, as with
    the original tokenizer.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    number = {int(old): new for new, old in enumerate(kept)}
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in kept.tolist()]
    out = Tokenizer(models.Unigram(vocabulary, number[packed.unk], False))
    dropped = _class(c for c, to in packed.normalised.items() if not to)
    spaced = _class(
        c
        for c, to in packed.normalised.items()
        if to == " " and unicodedata.normalize("NFKC", c) != " "
    )
    steps: list[Any] = []
    for characters, to in ((spaced, " "), (dropped, "")):
        steps += [normalizers.Replace(Regex(f"[{characters}]"), to)] if characters else []
    if packed.normalised.get("～", "～") == "～":
        shielded = normalizers.Replace("～", _SHIELD), normalizers.Replace(_SHIELD, "～")
        steps += [shielded[0], normalizers.NFKC(), shielded[1]]
    else:
        steps.append(normalizers.NFKC())
    out.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    out.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    out.decoder = decoders.Metaspace(prepend_scheme="always")
    out.add_special_tokens([packed.pieces[i] for i in (packed.bos, packed.pad, packed.eos)])
    return out


def _class(characters: Any) -> str:
    """For a regular expression's brackets."""
    return "".join(f"\\x{{{ord(c):04X}}}" for c in sorted(characters))


class PythonTokenizer:
    """A tokenizer of `transformers` that is not of the library `tokenizers`."""

    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def encode(self, text: str, *, add_special_tokens: bool) -> PythonTokenizer:
        """The numbers are then in `ids`."""
        self.ids: list[int] = self._texts.encode(text, add_special_tokens=add_special_tokens)
        return self


class Subwords:
    """first, between, pad, unknown: numbers of [CLS], [SEP], [PAD] and of what has no piece."""

    def __init__(self, tokenizer: Any, *, first: int, between: int, pad: int, unknown: int) -> None:
        self.first, self.between, self.pad, self.unknown = first, between, pad, unknown
        if not isinstance(tokenizer, PythonTokenizer):
            tokenizer.no_truncation()
            tokenizer.no_padding()
        self.tokenizer = tokenizer
        self._unigram = type(getattr(tokenizer, "model", None)).__name__ == "Unigram"
        self._space = tokenizer.token_to_id(SPACE) if self._unigram else None
        self._known: dict[tuple[str, bool], tuple[int, ...]] = {}

    def cut(self, word: str, *, after_space: bool = False) -> tuple[int, ...]:
        """The pieces of one word, at least one.

        after_space: white space, or the start of the text, is before it. A Unigram model writes
        that into the piece; Japanese words mostly follow on each other without.
        """
        key = word, after_space
        if (known := self._known.get(key)) is None:
            known = self._known[key] = tuple(self._cut(word, after_space)) or (self.unknown,)
        return known

    def decides(self, pieces: tuple[int, ...]) -> int:
        """Which of a word's pieces stands for it: the first (thesis, §4.3.3), or the second
        where the first is but the space before the word."""
        return int(len(pieces) > 1 and pieces[0] == self._space)

    def text(self, text: str) -> list[int]:
        """The pieces of a whole text, without special ones."""
        found: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _cut(self, word: str, after_space: bool) -> list[int]:
        if not self._unigram:
            return self.text(word)
        normal = self.tokenizer.normalizer
        clean = (normal.normalize_str(word) if normal else word).strip(" ")
        if not clean:
            return []
        clean = (SPACE if after_space else "") + clean.replace(" ", SPACE)
        return [piece.id for piece in self.tokenizer.model.tokenize(clean)]

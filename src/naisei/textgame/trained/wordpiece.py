"""BERT's tokenizer, uncased: words of a vocabulary, and pieces of those that are not in it.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding", 2019, and the tokenization of its published code.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from pathlib import Path

__all__ = ["WordPiece"]

_LONGEST = 100
_ASCII_MARKS = r"!-/:-@\[-`{-~"


class WordPiece:
    """Read from a `tokenizer.json` of the library `tokenizers` that is of this kind."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError`, `ValueError` or `KeyError` for another kind of file."""
        described = json.loads(path.read_text("utf-8"))
        model, normal = described["model"], described["normalizer"]
        if (model["type"], normal["type"], normal["lowercase"]) != (
            "WordPiece",
            "BertNormalizer",
            True,
        ):
            raise ValueError("not an uncased WordPiece tokenizer")
        self._vocabulary: dict[str, int] = model["vocab"]
        self._prefix: str = model["continuing_subword_prefix"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._pieces = lru_cache(maxsize=8192)(self._of_word)

    def numbers(self, text: str) -> tuple[int, ...]:
        """Numbers of the pieces, without the tokens that frame a text."""
        return tuple(n for word in _words(text) for n in self._pieces(word))

    def _of_word(self, word: str) -> tuple[int, ...]:
        """The longest piece first, again and again; unknown if one is missing."""
        if len(word) > _LONGEST:
            return (self._unknown,)
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else self._prefix + word[start:end]
                if (number := self._vocabulary.get(piece)) is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found)


def _words(text: str) -> list[str]:
    """Lower case without accents; every mark and every Chinese character is a word."""
    out = []
    for char in text:
        kind = unicodedata.category(char)
        if char in "\t\n\r" or kind == "Zs":
            out.append(" ")
        elif kind[0] != "C" and char not in "\0\ufffd":
            out.append(f" {char} " if _is_chinese(ord(char)) else char)
    plain = unicodedata.normalize("NFD", "".join(out))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn").lower()
    spaced = "".join(f" {char} " if _is_mark(char) else char for char in plain)
    return spaced.split()


def _is_mark(char: str) -> bool:
    return bool(re.match(f"[{_ASCII_MARKS}]", char)) or unicodedata.category(char)[0] == "P"


def _is_chinese(code: int) -> bool:
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2CEAF
        or 0x2F800 <= code <= 0x2FA1F
    )

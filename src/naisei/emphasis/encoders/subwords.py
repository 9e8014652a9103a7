"""Words to subwords: every word is cut by itself, so that labels of words carry over."""

from __future__ import annotations

from typing import Any

from naisei.emphasis.encoders.vocabulary import SPACE

__all__ = ["PythonTokenizer", "Subwords"]


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

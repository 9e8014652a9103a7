"""Duplicate text in a corpus: near-copies of documents, and sentences that many share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from zlib import crc32

from naisei.emphasis.schemas import Article

#: Overlap above which a part is a duplicate.
_SAME = 0.5
#: Characters per compared chunk: an edit changes only the chunks that contain it.
_PIECE = 8
_NO_WORDS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


def folded(text: str) -> str:
    """Normal form for comparing copies: ignores widths, spaces, punctuation and numbers.

    >>> folded("第 12 回は、ＡＩの話です。") == folded("第3回はAIの話です")
    True
    """
    return _DIGITS.sub("0", _NO_WORDS.sub("", unicodedata.normalize("NFKC", text).lower()))


class Editions:
    """The texts seen so far."""

    def __init__(self) -> None:
        self._pieces: set[int] = set()

    def is_copy(self, texts: Iterable[str]) -> bool:
        """Whether most of a document was seen before; if not, records it as seen."""
        plain = folded("".join(texts))
        pieces = [
            crc32(plain[i : i + _PIECE].encode()) for i in range(max(1, len(plain) - _PIECE + 1))
        ]
        if sum(piece in self._pieces for piece in pieces) > _SAME * len(pieces):
            return True
        self._pieces.update(pieces)
        return False


def without_shared(articles: Sequence[Article]) -> tuple[list[Article], int]:
    """Exclude sentences that occur in more than one document (banners, templates) from training
    and scoring. Also returns the number of distinct ones."""
    found: dict[str, set[str]] = {}
    for article in articles:
        for sentence in article.sentences:
            found.setdefault(folded(sentence.text), set()).add(article.id)
    shared = {text for text, documents in found.items() if len(documents) > 1}
    out = [
        replace(
            article,
            sentences=tuple(
                replace(s, tokens=tuple(t._replace(label=None) for t in s.tokens))
                if folded(s.text) in shared
                else s
                for s in article.sentences
            ),
        )
        for article in articles
    ]
    return out, len(shared)

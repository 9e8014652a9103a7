"""One spelling for what is the same: width, marks and spaces of Japanese and English text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import jaconv

__all__ = ["is_japanese", "normalise"]

_MARKS = str.maketrans(
    {
        "，": "、",
        ",": "、",
        "．": "。",
        "?": "？",
        "!": "！",
        "･": "・",
        "﹖": "？",
        "﹗": "！",
        "〝": "「",
        "〟": "」",
        "『": "「",
        "』": "」",
        "\u200b": "",
        "\ufeff": "",
    }
)
_ENGLISH_MARKS = str.maketrans({"？": "?", "！": "!", "、": ",", "。": ".", "’": "'", "‘": "'"})
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff！？])\s+|\s+(?=[\u3000-\u30ff\u3400-\u9fff！？])"
)
_LONG = re.compile(r"(?<=[ぁ-んァ-ヶ])[〜～~]+")
_STOP = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff])\.(?![a-zA-Z0-9])")
_REPEATED = re.compile(r"([！？。、…])\1+")


def is_japanese(text: str) -> bool:
    """Whether any kana or kanji is in it."""
    return _JAPANESE.search(text) is not None


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """NFKC, half-width kana to full, one form of each mark, no spaces inside Japanese.

    Japanese text gets 。、？！ and long vowels as ー; English text gets . , ? ! and plain
    apostrophes. Case is kept. Idempotent.
    """
    folded = unicodedata.normalize("NFKC", jaconv.h2z(text, kana=True))
    if not is_japanese(folded):
        return _SPACE.sub(" ", folded.translate(_ENGLISH_MARKS)).strip()
    folded = _STOP.sub("。", _LONG.sub("ー", folded)).translate(_MARKS)
    folded = _BETWEEN.sub("", _SPACE.sub(" ", folded))
    return _REPEATED.sub(r"\1", folded).strip()

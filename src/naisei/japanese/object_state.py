"""States of household objects in words: used and lying about, stored; clearing up.

Used by the features of R-Clarify's `bayes` agent; it stands here because it parses Japanese. The
words are matched in English, too.
"""

from __future__ import annotations

import re

__all__ = ["is_stored", "is_used", "tidy_words"]

#: State words of a thing that has been used and lies about, and of one that waits for use.
_USED = re.compile(
    r"飲み終|飲み干|食べ終|食べ残|飲み残|飲みかけ|食べかけ|使いかけ|使い終|使ったあと|空の|空に|"
    r"転が|散ら|落ち|出しっぱなし|置きっぱなし|つけっぱなし|からま|絡ま|丸め|倒れ|汚れ|"
    r"開いた|開けた|乗った|広が|床|遊びかけ|脱|出たまま|置かれたまま|"
    r"\b(?:empty|used|finished|half|left|lying|scattered|crumpled|open|dirty|tangled|floor)\b"
)
_STORED = re.compile(
    r"棚の|棚に|引き出し|冷蔵庫の中|冷蔵庫に|買い置き|未開封|水切りかご|干して|洗った|乾いた|乾か|"
    r"並ん|冷えた|新しい|箱に入|かごに入|充電中|戸棚|袋に入|満タン|"
    r"\b(?:shelf|cupboard|drawer|fridge|unopened|washed|dry|new|full|chilled)\b"
)
_TIDY_WORDS = re.compile(
    r"散らか|片づ|片付|かたづ|すっきり|ごちゃ|邪魔|じゃま|しま[わいうっえ]|戻[しすせそ]|もどし|"
    r"終わ|おわ|済ん|もう(?:いい|い[いら]|使わ|飲ま|食べ|見|じゅうぶん|十分)|いらな|要らな|きれい|"
    r"出しっぱ|置きっぱ|放置|場所(?:を)?とる|狭[いくす]|足の踏み場|踏[みんむ]|つまず|整[えっ理]|"
    r"やめ|控え|太[るっり]|お腹いっぱい|ごちそうさま|帰[るっ]|乾い|"
    r"\b(?:tid(?:y|ied)|clean|clear|mess|clutter|done|finished|over|away|enough|full)\b",
    re.IGNORECASE,
)


def is_used(phrase: str) -> bool:
    """Whether words of a phrase say that a thing has been used and lies about."""
    return _USED.search(phrase) is not None


def is_stored(phrase: str) -> bool:
    """Whether words of a phrase say that a thing is put away or waits for use."""
    return _STORED.search(phrase) is not None


def tidy_words(utterance: str) -> float:
    """How much an utterance sounds like clearing up, from 0 to 1."""
    return min(1.0, len(_TIDY_WORDS.findall(utterance)) / 2)

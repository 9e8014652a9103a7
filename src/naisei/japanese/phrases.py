"""Where phrases (文節) begin: a word that stands alone, and what leans on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

__all__ = ["PlacedWord", "phrase_starts"]


class PlacedWord(Protocol):
    """A word with its part of speech (名詞, 助詞, …) and dictionary form."""

    @property
    def surface(self) -> str: ...
    @property
    def pos(self) -> str: ...
    @property
    def lemma(self) -> str: ...


_LEANING = frozenset({"助詞", "助動詞", "接尾辞"})
_OPENING = frozenset("「『（(［[｛{〈《【〔“‘")
_NOUNS = frozenset({"名詞", "接尾辞", "代名詞"})
_JOINED = frozenset({"名詞", "形状詞"})
_LIGHT = frozenset({"する", "できる", "出来る", "いたす", "致す", "なさる", "くださる", "下さる"})
_AUXILIARY = frozenset(
    re.findall(
        r"\w+",
        """いる 居る ある 有る おる おく 置く しまう くる 来る いく 行く みる 見る くださる 下さる
        もらう 貰う いただく 頂く くれる あげる やる ほしい 欲しい""",
    )
)
_MUST = frozenset(["なる", "いける", "ない", "無い"])
_LINKS = frozenset("・-‐－/／_.:：&＆+")


def phrase_starts(words: Sequence[PlacedWord]) -> list[bool]:
    """Per word of one sentence, whether a phrase begins with it.

    Compound nouns and する-verbs are one phrase; so are て-forms with what follows them
    (食べている, 使ってはいけない). Brackets go with what they enclose, 、 with what it ends.
    """
    return [_starts(words, i) for i in range(len(words))]


def _starts(words: Sequence[PlacedWord], i: int) -> bool:
    word = words[i]
    if i == 0:
        return True
    before = words[i - 1]
    if word.pos in _LEANING or before.pos == "接頭辞" or before.surface in _OPENING:
        return False
    if word.pos in ("補助記号", "記号"):
        return word.surface in _OPENING
    if before.surface in _LINKS:
        return False
    # 使いやすい is an adjective.
    adjective = before.pos == "接尾辞" and before.lemma.endswith("い")
    if word.pos in _JOINED and before.pos in _NOUNS and not adjective:
        return False
    if word.lemma in _LIGHT and before.pos in _NOUNS:
        return False
    if word.pos in ("動詞", "形容詞"):
        te = before.surface in ("て", "で", "ちゃ", "じゃ")
        if word.lemma in _AUXILIARY and te:
            return False
        linked = (i > 1 and words[i - 2].surface in ("て", "で", "なけれ")) or before.lemma in _MUST
        if word.lemma in _MUST and before.pos in ("助詞", "助動詞") and linked:
            return False
        if word.lemma in ("ない", "無い") and before.surface in ("は", "も") and linked:
            return False
    return True

"""Articles made by rule, so that what a tagger must find is known."""

from __future__ import annotations

import random

from naisei.emphasis.schemas import Article, Sentence, Token

_TOPICS = ("鍵盤", "時計", "手帳", "鉛筆", "机", "窓", "鞄", "電灯", "本棚", "椅子", "植木", "花瓶")
_FILLERS = ("今日", "部屋", "天気", "友人", "町", "朝", "色", "音", "値段", "店")


def article(seed: int) -> Article:
    """The first mention of the title's topic in 「」 is emphasised, and nothing else.

    Later mentions are not, nor are other bracketed words: only the whole article tells.
    """
    rng = random.Random(seed)
    topic = rng.choice(_TOPICS)
    first = rng.randrange(2, 5)
    sentences: list[Sentence] = []
    for index in range(10):
        named = topic if index >= first and index % 2 == first % 2 else rng.choice(_FILLERS)
        words = [
            (rng.choice(_FILLERS), "名詞"), ("で", "助詞"), ("「", "補助記号"), (named, "名詞"),
            ("」", "補助記号"), ("を", "助詞"), ("見る", "動詞"), ("。", "補助記号"),
        ]  # fmt: skip
        tokens: list[Token] = []
        for surface, pos in words:
            start = tokens[-1].end if tokens else 0
            bold = index == first and surface == topic
            tokens.append(Token(surface, start, start + len(surface), pos, surface, bold))
        text = "".join(t.surface for t in tokens)
        sentences.append(Sentence(text, tuple(tokens), index // 3, index))
    return Article(f"a{seed}", f"{topic}の話", tuple(sentences))

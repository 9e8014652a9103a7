"""The manner of a sentence by its form alone: register, ending, telling words.

Without a dictionary, since every line of a script is asked; what a word is matters for learning
only (`words_of`). For the director's voices.
"""

from __future__ import annotations

import re

from naisei.japanese.morph import tokens
from naisei.lengths import cached_text

_SENTENCE = re.compile(r"[^。！？…\n〓♪]*[^。！？…\n〓♪\s「」（）、・〜ー][^。！？…\n]*")
_TRAIL = re.compile(r"[\s、。！？…〜ー♪」）ぁぃぅぇぉっ]+\Z")
_POLITE = re.compile(
    r"(?:(?:\A|、)(?:はい|ええ|いえ|いいえ|いえいえ)|です|ます|ません|でした|ました|でしょう|ましょう|ください|下さい|くださいませ|なさい(?!よ|って)|ございます|ませ|ごめんなさい|すみません|まし)(?:か|ね|よ|よね|が|けど|けれど|けれども|から|ので|し|の|って|とも|かね)*\Z"
)
_INSIDE = re.compile(
    r"(?:です|ます|ません|でした|ました|でしょう|ましょう)(?:から|が|けど|けれど|ので|し|、)"
)
_PLAIN = re.compile(
    r"(?:だ|だった|だよ|だね|だな|だろ|だろう|じゃん|じゃない|ない|なかった|たい|って|かな|かも|もん|の|よ|ね|さ|ぞ|ぜ|わ|な|っけ|か|て|で|ちゃ|じゃ|けど|から|し|のに|[うくぐすつぬぶむるたんいろえけせてねべめれ])\Z"
)
_BARE = re.compile(r"[ぁ-んー]")
_KANA = "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7)))) + "ー"
#: No ending is longer than so many characters.
_LAST = 24


def sentences_of(masked: str) -> list[str]:
    """The sentences of a masked line without marks at their ends; fillers and aside left out."""
    found = []
    for match in _SENTENCE.finditer(masked):
        text = _TRAIL.sub("", match[0].replace("〓", "")).strip()
        if text and text not in "「」（）":
            found.append(text)
    return found


def register(sentence: str) -> str:
    """`polite`, `plain`, or `bare` without a predicate (「五十個」)."""
    last = max(0, len(sentence) - _LAST)
    if _POLITE.search(sentence, last) or _INSIDE.search(sentence):
        return "polite"
    if _PLAIN.search(sentence, last) and _BARE.search(sentence[-1:]):
        return "plain"
    return "bare"


def ending(sentence: str) -> str:
    """Up to five characters of kana at the end."""
    end = sentence[-5:]
    return end[len(end.rstrip(_KANA)) :]


_TELLING = frozenset({"感動詞", "代名詞", "接続詞", "副詞"})


@cached_text(8192)
def words_of(line: str) -> tuple[str, ...]:
    """Words that tell a manner: interjections, pronouns, conjunctions, adverbs, names with their
    titles, contractions; two characters at least."""
    found = []
    read = tokens(line)
    for at, word in enumerate(read):
        if word.detail == "名詞的" and at and len(word.surface + read[at - 1].surface) < 6:
            found.append(read[at - 1].surface + word.surface)
        elif (
            (word.pos in _TELLING and len(word.surface) > 1)
            or (word.pos in ("助詞", "助動詞") and at and len(word.surface) > 1)
            or word.kind in ("人名", "固有名詞")
            or word.detail == "固有名詞"
        ):
            found.append(word.surface)
    return tuple(w for w in found if len(w) > 1)

"""Speech level: です・ます or plain, and the honorifics of respect, humility and courtesy.

Terms after the Agency for Cultural Affairs' guidelines on honorifics (敬語の指針, 2007):
尊敬語 raises the other's acts, 謙譲語 lowers one's own, 丁重語 and 丁寧語 are courteous to the
listener.
"""

from __future__ import annotations

import re
from enum import StrEnum

from naisei.japanese.morph import Token
from naisei.japanese.speech import Found, Sentence

__all__ = ["Level", "honorifics", "level"]


class Level(StrEnum):
    """How a sentence ends: polite (です・ます), plain, or with no predicate at all."""

    POLITE = "polite"
    PLAIN = "plain"
    NONE = "none"


_POLITE = frozenset({"です", "ます", "っす", "どす", "まする", "やす"})
#: Words after the predicate: they say nothing about the level.
_AFTER = frozenset({"終助詞", "副助詞", "係助詞", "準体助詞"})
_JOINING = frozenset(
    {
        "が",
        "けど",
        "けれど",
        "けども",
        "けれども",
        "から",
        "ので",
        "のに",
        "し",
        "ば",
        "と",
        "もので",
        "もんで",
    }
)
_PREDICATES = frozenset({"動詞", "形容詞", "助動詞"})
_LITTLE = re.compile(r"(?:はい|ええ|いえ|いいえ)(?:、|。|！|？|…|$)")
_CASUAL = re.compile(
    r"(?:うん|ううん|ああ|おう|んー?|いや|へえ|ふーん|そっか|ほら|ねえ|なあ|おーい|おい|えー+|あー+|わー+|やあ)+(?:、|。|！|？|…|$)"
)


def level(sentence: Sentence) -> Level:
    """The level of a sentence's last predicate.

    「行きますけど」 is polite, 「行くけど」 plain, 「明日の三時。」 neither; 「取って」 and
    「無理かな」 are plain, 「取ってください」 and a bare 「はい」 polite.
    """
    words = list(sentence.core)
    particle = False
    while words:
        last = words[-1]
        if last.pos == "助詞" and (last.detail in _AFTER or last.surface in _JOINING):
            particle = particle or (last.detail == "終助詞")
            words.pop()
        elif last.pos == "感動詞" and len(words) > 1:
            words.pop()
        else:
            break
    if not words:
        return Level.NONE
    for at, word in reversed(list(enumerate(words))):
        # Sudachi may read a plain verb (だます) as だ and ます, which no stem comes before.
        stem = word.lemma != "ます" or (at and words[at - 1].inflection.startswith("連用形"))
        if (word.lemma in _POLITE and stem) or (
            word.lemma == "くださる" and "命令" in word.inflection
        ):
            return Level.POLITE
        if word.pos not in _PREDICATES and word.detail not in ("準体助詞", "終助詞", "接続助詞"):
            break
    last = words[-1]
    if last.pos in _PREDICATES or last.detail == "接続助詞":
        return Level.PLAIN
    if particle:
        return Level.PLAIN
    if _LITTLE.match(sentence.text):
        return Level.POLITE
    return Level.PLAIN if _CASUAL.match(sentence.text) else Level.NONE


_RESPECT = frozenset({"いらっしゃる", "おっしゃる", "仰る", "召し上がる", "召す", "賜る"})
_HUMBLE = frozenset(
    {"致す", "いたす", "いただく", "頂く", "いただける", "頂ける", "申す", "申し上げる", "参る"}
    | {"伺う", "うかがう", "存じる", "存ずる", "拝見", "拝聴", "拝借", "拝読", "承る"}
    | {"差し上げる", "頂戴", "仕る", "かしこまる"}
)
_COURTEOUS = re.compile(
    r"ござい(?:ます|ません|ました)|恐れ入り|恐縮|申し訳(?:ござ|あり)|かしこまりました|承知(?:いた)?しました"
    r"|失礼いたし|よろしいでしょうか|でしょうか|少々お待ち|お待たせ|いらっしゃいませ|お世話になっ"
)
_RESPECTFUL = re.compile(
    r"(?<![てで])[おご御][\u3041-\u3096\u3400-\u9fff]{1,4}に(?:な(?:ります|る|った|り|られ|さ))|ご覧(?:に|くだ|いた)"
    r"|(?<![てで])[おご御](?!めん)[\u3041-\u3096\u3400-\u9fff]{1,4}(?:ください|下さい|くださ(?:い|る|り|れ)|いただけ)"
    r"|ご存[知じ]|なさ(?:います|いました|いますか|ってくだ|れ(?:ます|る))|お越し|お召し|お客様"
    r"|[てで](?:いらっしゃ|おいで(?:です|にな)|くださ(?:り|って|った|いまし|いません))"
)
_HUMBLED = re.compile(
    r"(?<![てで])[おご御](?!は|ん|か[しげ]|前)[\u3041-\u3096\u3400-\u9fff]{1,4}(?:し(?:ます|まし|て(?:お|よ|も)|たい)|いた(?:し|す)|申し|でき(?:ます|ません))"
    r"|[てで]おり(?:ます|まし|ません)|させて(?:いただ|頂)|お目にかか|[わ弊]社|小生|わたくし"
)
#: Set phrases among equals of any standing.
_SET = re.compile(
    r"(?:おはよう|ありがとう|おめでとう)(?:ござい|御座い)(?:ます|ました)"
    r"|(?<![てで])いただきます(?:[。！]|$)|お(?:願い|ねがい)(?:します|しますね)|お(?:かえり|やすみ)なさい|お待ちどお"
)


def honorifics(sentence: Sentence) -> list[Found]:
    """Honorific forms, `respect` (尊敬語), `humble` (謙譲語), `courtesy` (丁重), once each a place.

    お願いします, いただきます before a meal and ください after a plain verb are none.
    """
    text = _SET.sub(lambda m: "〓" * len(m[0]), sentence.text)
    taken: list[tuple[int, int]] = []
    found: list[Found] = []
    for cue, search in (("courtesy", _COURTEOUS), ("respect", _RESPECTFUL), ("humble", _HUMBLED)):
        for match in search.finditer(text):
            if not any(a < match.end() and match.start() < b for a, b in taken):
                taken.append(match.span())
                found.append(Found(cue, match[0]))
    for word in sentence.words:
        cue = _kind(word)
        unread = text[word.start : word.end] == word.surface
        if cue and unread and not any(a < word.end and word.start < b for a, b in taken):
            taken.append((word.start, word.end))
            found.append(Found(cue, word.surface))
    return found


def _kind(word: Token) -> str:
    if word.pos not in ("動詞", "名詞"):
        return ""
    if word.lemma in _RESPECT:
        return "respect"
    return "humble" if word.lemma in _HUMBLE else ""

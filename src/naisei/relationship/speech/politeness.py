"""Politeness levels, honorifics and address terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.relationship.speech.level import CueMatch, Sentence

# Terms after the Agency for Cultural Affairs' guidelines on honorifics (敬語の指針, 2007):
# 尊敬語 elevates the other's acts, 謙譲語 lowers one's own, 丁重語 and 丁寧語 are courteous to the
# listener.


class Level(StrEnum):
    """How a sentence ends: polite (です・ます), plain, or without a predicate."""

    POLITE = "polite"
    PLAIN = "plain"
    NONE = "none"


_POLITE = frozenset({"です", "ます", "っす", "どす", "まする", "やす"})
#: Particles after the predicate, which do not affect the level.
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

    「行きますけど」 is polite, 「行くけど」 plain, and 「明日の三時。」 is neither; 「取って」 and
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
        # Sudachi may split a plain verb (だます) into だ and ます, without a stem before ます.
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
#: Set phrases that do not depend on status.
_SET = re.compile(
    r"(?:おはよう|ありがとう|おめでとう)(?:ござい|御座い)(?:ます|ました)"
    r"|(?<![てで])いただきます(?:[。！]|$)|お(?:願い|ねがい)(?:します|しますね)|お(?:かえり|やすみ)なさい|お待ちどお"
)


def honorifics(sentence: Sentence) -> list[CueMatch]:
    """Honorific forms without overlaps: `respect` (尊敬語), `humble` (謙譲語), `courtesy` (丁重).

    Excludes お願いします, いただきます before a meal, and ください after a plain verb.
    """
    text = _SET.sub(lambda m: "〓" * len(m[0]), sentence.text)
    taken: list[tuple[int, int]] = []
    found: list[CueMatch] = []
    for cue, search in (("courtesy", _COURTEOUS), ("respect", _RESPECTFUL), ("humble", _HUMBLED)):
        for match in search.finditer(text):
            if not any(a < match.end() and match.start() < b for a, b in taken):
                taken.append(match.span())
                found.append(CueMatch(cue, match[0]))
    for word in sentence.words:
        cue = _verb_politeness(word)
        unread = text[word.start : word.end] == word.surface
        if cue and unread and not any(a < word.end and word.start < b for a, b in taken):
            taken.append((word.start, word.end))
            found.append(CueMatch(cue, word.surface))
    return found


def _verb_politeness(word: Token) -> str:
    if word.pos not in ("動詞", "名詞"):
        return ""
    if word.lemma in _RESPECT:
        return "respect"
    return "humble" if word.lemma in _HUMBLE else ""


@dataclass(frozen=True, slots=True)
class Form:
    """A class of address terms. deference: −1.5…2; closeness: −1…1 (our scales)."""

    deference: float
    closeness: float
    ja: str


FORMS = {
    "sama": Form(2.0, -1.0, "様"),
    "title": Form(1.5, -0.3, "役職・先輩・先生"),
    "elder": Form(1.2, 1.0, "目上の家族の呼び方"),
    "san": Form(0.4, -0.3, "さん"),
    "kun": Form(-0.5, 0.2, "くん"),
    "chan": Form(-0.3, 0.8, "ちゃん・あだ名"),
    "bare": Form(-0.7, 0.7, "呼び捨て"),
    "formal_you": Form(0.6, -0.8, "そちら・おたく"),
    "you": Form(-0.6, 0.0, "あなた・君"),
    "rough_you": Form(-1.0, 0.4, "お前・あんた"),
}
_TITLE = (
    r"(?:先輩|先生|部長|課長|係長|次長|主任|社長|副社長|専務|常務|局長|所長|院長|校長|教頭|教授|准教授|博士"
    r"|監督|コーチ|師匠|会長|店長|支店長|工場長|編集長|室長|班長|隊長|船長|機長|議長|委員長|町長|村長|市長"
    r"|チーフ|マネージャー|リーダー|キャプテン|オーナー|マスター|シェフ|女将|親方|大将|棟梁|住職|ボス)(?:さん|殿)?"
)
_ELDER = (
    r"(?:お?(?:母|父|かあ|とう)(?:さん|ちゃん|さま|様)|(?:おとん|おかん|ママ|パパ|母上|父上)"
    r"|お?(?:兄|姉|にい|ねえ)(?:さん|ちゃん|さま|様|貴)|お?(?:じい|ばあ|祖父|祖母|爺|婆)(?:さん|ちゃん|さま|様)"
    r"|(?:お(?:じ|ば)|叔父|叔母|伯父|伯母)(?:さん|ちゃん)|あに[きじ]|兄貴|姉貴|アニキ|アネキ|じいじ|ばあば)"
)
_SUFFIXES = (
    ("sama", r"(?:様|さま|サマ)"),
    ("title", _TITLE),
    ("elder", r"(?:兄|姉|にい|ねえ|兄さん|姉さん|おじさん|おばさん|おじ|おば)(?:さん|ちゃん)?"),
    ("san", r"(?:さん|サン|氏)"),
    ("kun", r"(?:くん|クン|君)"),
    ("chan", r"(?:ちゃん|チャン|ちん|たん|っち|ぴょん|りん|やん|の字|坊)"),
)
_START = (
    r"(?:^|(?<=[、。！？…「」]))"
    r"(?:(?:ねえ|なあ|おい|あの|すみません|はい|ほら|ちょっと|もしもし)、?)?"
)
_STOP = r"(?=[、。！？…ー〜]|$)"
_LOOSE = rf"(?:{_START})"
_VOCATIVE = [
    ("sama", re.compile(r"お客(?:様|さま)|(?:ご主人|奥|旦那)様")),
    ("title", re.compile(rf"{_LOOSE}(?P<t>(?:{_TITLE}){{1,2}}){_STOP}")),
    ("elder", re.compile(rf"{_LOOSE}(?P<t>{_ELDER}){_STOP}")),
    (
        "formal_you",
        re.compile(
            r"(?:そちら(?:様|さん|さま)|お宅(?:様|さん)?|おたく(?:様|さま)?(?=[、はもの])|お二人|みなさま|皆様)"
        ),
    ),
    (
        "you",
        re.compile(
            r"(?<![\u3400-\u9fffァ-ヶ])(?:あなた|貴方|君(?=[、はがもにのをとた])|きみ(?=[、はがもにのをとた]))"
        ),
    ),
    (
        "rough_you",
        re.compile(r"(?:お前|おまえ|オマエ|てめ[えぇー]|貴様|あんた|アンタ|おぬし|お主)"),
    ),
]
#: Roles used as names in scripts: 店員, 客, 母.
_ROLES = re.compile(
    rf"{_TITLE}|{_ELDER}|[父母兄姉弟妹夫妻娘客]|店員|息子|祖父|祖母|医師|医者|患者|生徒|学生|上司|部下|後輩|同僚|友人"
)
_SUFFIX = re.compile(r"(?:さん|ちゃん|くん|君|様|さま|先輩|先生)$")


#: Maximum number of characters read from a name.
_LONGEST_NAME = 200


@lru_cache(maxsize=1024)
def name_parts(name: str) -> tuple[str, ...]:
    """Parts of a display name used to address somebody: 「田中 ケンタ」 → 田中, ケンタ, whole.

    Empty for Latin ids (A, B, agent_1) and roles.
    """
    name = name[:_LONGEST_NAME]
    plain = normalise(re.sub(r"[（(][^（()）]*[）)]", " ", name).replace("　", " "))
    pieces = re.split(r"[ ・=＝]+", re.sub(r"[ 　]+", "・", name.strip())) if plain else []
    parts: list[str] = []
    for piece in pieces:
        bare = _SUFFIX.sub("", re.sub(r"[（(].*", "", piece))
        if not is_japanese(bare) or _ROLES.fullmatch(bare):
            continue
        parts.append(bare)
        words = [t.surface for t in tokens(bare) if t.kind == "人名"]
        if len(pieces) == 1 and len(words) == 2 and "".join(words) == bare:
            parts += words
    return tuple(
        sorted({p for p in parts if len(p) >= 2 or not _KANA.fullmatch(p)}, key=len, reverse=True)
    )


_KANA = re.compile(r"[ぁ-んァ-ヶー]+")


def addresses(text: str, *, to: str = "", by: str = "") -> list[tuple[str, str]]:
    """Address terms in a normalised sentence without quotations: (form of `FORMS`, text).

    to, by: display names of addressee and speaker. The addressee's names count anywhere; titles and
    kinship terms count only as calls, since 「部長が」 is about a third person. The speaker's own
    name does not count.
    """
    found: list[tuple[str, str]] = []
    left = text
    for part in name_parts(to):
        if by and part in name_parts(by):
            continue
        pieces, at = [], 0
        for match in _called(part).finditer(left):
            if match.start() < at:
                continue
            suffix = _SUFFIXED.match(left, match.end())
            end = suffix.end() if suffix else match.end()
            form = suffix.lastgroup if suffix and suffix.lastgroup else "bare"
            found.append((form, left[match.start() : end]))
            pieces.append(left[at : match.start()])
            at = end
        left = "〓".join([*pieces, left[at:]])
    for form, search in _VOCATIVE:
        for match in search.finditer(left):
            term = match.groupdict().get("t") or match[0]
            found.append((form, term))
    if not found:
        found += _strange(left, name_parts(by))
    return found


_SUFFIXED = re.compile("|".join(f"(?P<{form}>{words})" for form, words in _SUFFIXES))


@lru_cache(maxsize=1024)
def _called(part: str) -> re.Pattern[str]:
    """Matches a name at a word start, and its short form: ケンタ → ケンちゃん."""
    if len(part) == 1:
        # 森 is also a common noun, so it is a name only as a call or with a suffix.
        called = rf"(?:^|(?<=[、。！？…])){part}(?=[、。！？…]|$)"
        return re.compile(rf"{called}|{part}(?={_SUFFIXED.pattern})")
    edge = ""
    if re.fullmatch(r"[ァ-ヶー]+", part):
        edge = r"(?<![ァ-ヶー])"
    elif re.fullmatch(r"[ぁ-ん]+", part):
        edge = r"(?:^|(?<=[^ぁ-ん])|(?<=[ねえあやはとにもが]))"
    short = rf"|{re.escape(part[:2])}(?=ちゃん|くん|っち|ちん)" if len(part) > 2 else ""
    return re.compile(rf"{edge}(?:{re.escape(part)}{short})")


_NAMED = re.compile(
    r"(?:^|(?<=[、。！？…]))([^、。！？…]{1,8}?)(様|さま|さん|くん|君|ちゃん)" + _STOP
)
_SUFFIX_FORM = {
    "様": "sama",
    "さま": "sama",
    "さん": "san",
    "くん": "kun",
    "君": "kun",
    "ちゃん": "chan",
}
_NO_NAME = re.compile(
    r"(?:みな|皆|お(?:客|疲れ|世話|互い|陰|かげ)|ご苦労|赤|たく|お?[母父兄姉]|お?(?:かあ|とう|にい|ねえ|じい|ばあ|ば|じ))"
)


def _strange(text: str, own: tuple[str, ...]) -> list[tuple[str, str]]:
    """Address by an unknown name: 「佐藤さん、…」."""
    return [
        (_SUFFIX_FORM[m[2]], m[0])
        for m in _NAMED.finditer(text)
        if not _NO_NAME.match(m[1]) and m[1] not in own
    ]

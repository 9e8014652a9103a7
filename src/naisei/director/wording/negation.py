"""Negations that meet in one predicate, read from its words: how many, and what follows them.

Litotes (「眠らないわけではない」) are good Japanese; a language model loses count in them, and then
argues from the opposite of what it said. For the director's check of logic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from naisei.director.wording.screen import Screen
from naisei.japanese.morph import Token, tokens

#: Finds nothing in a line without two negations: most lines.
_TWO = re.compile(
    r"(?:な[いくかきけ]|ません|ませ[ずぬ]|ず(?:に)?|ぬ|んわけ|ねえ|ねぇ|ねー)[^。！？\n]*?(?:な[いくかきけ]|ません|ねえ|ねぇ|違(?:う|い(?:ます|ない|あり)))"
)


@lru_cache(maxsize=1)
def _screen() -> Screen:
    return Screen([p.pattern for p in (_TURNED, _POLAR, _TWO, _CROSSED)])


_NOT = frozenset({"ない", "ぬ", "ん", "ず", "無い"})
_DENYING = frozenset({"助動詞", "形容詞"})
#: Words that may stand between two negations of one predicate.
_BETWEEN = frozenset(
    [
        "は",
        "も",
        "が",
        "て",
        "で",
        "に",
        "と",
        "を",
        "の",
        "か",
        "という",
        "って",
        "とは",
        "とまで",
        "こと",
        "事",
        "わけ",
        "訳",
        "もの",
        "はず",
        "つもり",
        "ある",
        "いる",
        "する",
        "なる",
        "限る",
        "言う",
        "言える",
        "いえる",
        "いう",
        "思う",
        "思える",
        "られる",
        "れる",
        "ほう",
        "方",
        "だ",
        "です",
        "ます",
        "た",
        "よう",
        "ため",
        "くらい",
        "くれる",
        "いい",
        "よい",
        "良い",
        "うち",
        "入る",
        "必要",
        "可能",
        "可能性",
        "違う",
        "違い",
        "言い切る",
        "気",
        "理由",
        "ところ",
        "よく",
        "なんて",
        "など",
        "なんか",
        "だって",
        "お",
        "勧め",
        "すすめる",
        "決して",
        "禁物",
        "おすすめ",
    ]
)
#: One negation, in words that hold two: must, perhaps, no doubt, cannot help.
SET_PHRASES = re.compile(
    r"(?:なければ|なきゃ|なくては|なくちゃ|なけりゃ|ないと|ねば|ずには?|ないでは)(?:、)?(?:なら|いけ|だめ|駄目|ダメ|いられ|おか|済ま|すま|いい|よい|構わ|かまわ|大丈夫|平気|なん)(?:ない|ません|なかった|なく(?!な[いか]|は)|ぬ)?"
    r"|かもしれ(?:ない|ません|なく|ないと)|かも知れ(?:ない|ません)|に過ぎ(?:ない|ません)|にすぎ(?:ない|ません)|しかた(?:が)?(?:ない|ありません|なく)|仕方(?:が)?(?:ない|ありません|なく)|しょうがな[いく]"
    r"|たまらな[いく]|とんでもな[いく]|もったいな[いく]|つまらな[いく]|くだらな[いく]|申し訳(?:ない|ありません|なく)|間違い(?:ない|ありません|なく)|違い(?:ない|ありません)|思わず|必ず|まず(?:は|、)?|少なくとも|なるべく"
    r"|危な[いく]|少な[いく]|汚な[いく]|幼な[いく]|切な[いく]|儚な[いく]|なんでもな[いく]|さりげなく|なんとなく|何となく|まもなく|間もなく|問題(?:ない|ありません)|足らず|知らず|とりあえず|相変わらず|わず"
)
_TAG = re.compile(
    r"(?:んだ|の|ん)?(?:です|だろう|でしょう|でしょ|だろ)?(?:か(?:な|ね|しら|い)?|よね|っけ)?[ぁあー]*？|(?:の|ん)?(?:です|でしょう|だろう)?か(?:な|ね|しら)|(?:です)?よね|でしょ"
)
_SO = re.compile(
    r"[ぁ-ん]{0,3}?(?:から|ので|ため|んで|し)?[、。！]?\s*(?:だから|ですから|なので|したがって|よって|それで|そのため|ゆえに|つまり|必ず|もちろん|安心|絶対|から[、]|ので[、])"
)
#: A negation under another one that belongs to a different clause, or a set phrase turned round.
_CROSSED = re.compile(
    r"(?:ない|ません)(?:に違い(?:ない|ありません)|(?:こと|の)(?:は|が|を|も)[^。！？、\n]{0,6}(?:勧め|すすめ|オススメ|禁物|だめ|ダメ|やめ|避け|防|決して|絶対)[^。！？\n]{0,5}(?:ない|ません|です|ましょ)?"
    r"|(?:こと)(?:が|の)ない(?:よう|ため)[^。！？\n]{0,12}(?:ないで|なく|ません|ない)|ように[^。！？\n]{1,10}(?:ないから|ない(?:よ|ね|。)|ません(?:から|ので|。)))"
    r"|ない(?:と|では|で(?:は)?)いられ(?:ない|ません)|(?:[かがさたなばまらわいえけせてねべめれ])ないといけ(?:ない|ません)(?:ので|から)、?[^。！？\n]{1,14}(?:ないで|ません|ない|やめ)"
    # Not doing it is what is forbidden, avoided, or hard to believe; none is without it.
    r"|ない(?:の|こと)(?:は|を|も)?、?(?:お)?(?:やめ|控え|避け|よし(?:て|ま)|遠慮|禁)|ない(?:と|こと|の)(?:は|も)(?:考え|思い|言い|信じ|想像し)(?:にく|がた|難|づら)"
    r"|ない(?:ところ|とこ|場所|もの|人|日)(?:が|は|しか|も)(?:な[いく]|ありません|いません|いない)|なくな(?:いと|ければ|きゃ)"
    r"|なくはなくな|な(?:い|く)な(?:い|く)な|わけではなくなり|わけ(?:が|は)?(?:ない|ありません)(?:こと|わけ)|な(?:い|く)ないで|ないでない"
)


#: After a negated clause: it describes a noun, and denies nothing itself.
_NOUN = re.compile(r"(?:こと|もの|の(?!で)|人|とき|時|日|ところ|場所|ほう|方)(?!は|も|では|じゃ)")


@dataclass(frozen=True, slots=True)
class Negation:
    """start, end: span in the text. count: of negations that meet, 2 and more. turned: that the
    line argues from the opposite of what it says, or that nobody can tell what it says."""

    start: int
    end: int
    count: int
    turned: bool


def negations(text: str) -> list[Negation]:
    """Double and further negations of a folded line, tag questions and set phrases left out.

    >>> [(n.count, n.turned) for n in negations("起きれなくなかったから遅刻した。")]
    [(2, True)]
    >>> negations("行かなきゃいけないかもしれない。")
    []
    """
    met = set(_screen().of(text))
    found = [Negation(*m.span(), 2, True) for m in _TURNED.finditer(text)] if 0 in met else []
    if 1 in met:
        found += [Negation(m.start(), m.end(), 1, True) for m in _unlicensed(text)]
    if 3 in met:
        found += [Negation(*match.span(), 2, True) for match in _CROSSED.finditer(text)]
    if 2 not in met or _TWO.search(text) is None:
        return found
    plain = SET_PHRASES.sub(lambda m: "〓" * len(m[0]), text)
    if _TWO.search(plain) is None:
        return found
    found += _crowded(plain)
    for first, last, count in _chains(_located(plain)):
        after = plain[last:]
        if count < 3 and (_TAG.match(after) or _NOUN.match(after)):
            continue
        said = plain[first:last]
        rest = after.split("\n")[0]
        turned = (
            count > 2
            or re.search(
                r"なくな(?:い|かっ|く)|なく(?:は|も)?な(?:くて|かっ)|くな(?:い|かった)(?:の|ん)?(?:で|から)",
                said + after[:3],
            )
            is not None
            or _SO.match(rest) is not None
        )
        found.append(Negation(first, last, count, turned))
    return found


#: A condition that is denied, and a harm that then stays away or a good that then comes; a word
#: that denies by its prefix, denied; a must that is denied.
_TURNED = re.compile(
    r"(?:ない(?:と|なら|で(?:い|お)(?:ると|けば))|なければ|なきゃ|なかったら|ずに(?:い(?:ると|れば)|いたら))、?[^。！？\n]{0,12}?"
    r"(?:(?:濡れ|困[らり]|遅れ|遅刻し|怒ら(?:れ)?|風邪を?ひ[かき]|太ら|太り|焦げ|腐ら|腐り|失敗し|忘れ|壊れ|枯れ|溶け|冷め|迷[わい]|倒れ|転[ばび]|乗り遅れ|寝坊し|後悔し|危な[くか]|損し|損を?し|だめにな[らり])(?:ない|ません|ずに)"
    r"|(?:間に合(?:[いう]|っ(?:ちゃう?|て))|起きられ|治[りる]|助か[りる]|勝て|上手にな[りる]|うまくい[きく]|よくな[りる]|元気にな[りる]|覚えられ|安心でき|長持ちし|おいしくな[りる]|成功し)(?:ます|る|、|よ)?(?:よ|ね|から|ので|。|！|$))"
    r"|(?:不(?!思議|安|満|足|便|用|良|動|意|審|利|在|幸|明)|未(?!来|満|練|亡|曾)|非(?!常|難)|無(?!理|駄|料|事|茶|線|視|念|口))[\u3400-\u9fff]{1,3}(?:では|じゃ|でも)(?:ない|ありません|なく)(?!か|です?か|？|でしょ|よね|の？)"
    r"|すぎない(?:と|ので|から)[^。！？\n]{0,10}(?:腐|太[るり]|壊|疲れ|痛|焦げ|こわ|風邪|溢れ|しみ)|(?:熱く|危なく|重く|滑ら|硬く|鋭く|濡れて(?:い)?|汚れて(?:い)?|辛く|苦手じゃ|嫌いじゃ)ない(?:ので|から)[^。！？\n]{0,12}(?:やけど|火傷|怪我|けが|危な|危険|落と|転[びば]|たくな|避け|無理)"
    r"|(?:だめ|ダメ|駄目|禁止|厳禁|無理|嫌|いや|反対|間違い)(?:じゃ|では)(?:なく|ない)(?:は|も)?(?:ない|ありません)"
    r"|ない(?:わけには(?:いきません|いかない)|に違い(?:ありません|ない)|はず(?:が|は)(?:ない|ありません))"
    r"|ないように(?:し(?:ない|ません)|気をつけ(?:ない(?!と)|ません)|急がない|注意しない)|忘れ(?:ない)?ないで|なくてはいけな(?:くない|いわけ)"
    r"|(?:なくても|ないでも)(?:いけな|だめ|なら)|(?:しない|やらない|行かない|食べない|飲まない|寝ない|忘れない)(?:こと|の)(?:は|が)(?:ない|ありません)(?:ように|から)"
)
#: Words that need a negation after them, up to the end of their clause.
_POLAR = re.compile(
    r"(?:(?<=[0-9一二三四五六七八九十つ個人回度枚円分年日こりだけにでれ])しか(?![しもたくりるっらけ])|二度と|金輪際|一切(?=[^れ])|誰も(?!が|かれ|彼)|だれも(?!が)|何も(?!か)|どこにも|決して|けっして|めったに|滅多に|一度も|必ずしも|ろくに|ちっとも|少しも|一つも|一人も|一言も|誰ひとり|何ひとつ|なんら|到底|さほど|大して)"
    r"([^。！？\n]*)"
)
_ANY_NOT = re.compile(
    r"な[いかくきけし]|ません|ませ|ず|ぬ|ねえ|ねー|んで|ん。|無[いかくし]|じゃん|だめ|無理|嫌|違|やめ|不|未|避け|禁"
)


def _unlicensed(text: str) -> Iterator[re.Match[str]]:
    """「一つしかあります」: words that need a negation and have none after them."""
    for match in _POLAR.finditer(text):
        rest = match[1]
        if (
            len(rest) > 3
            and _ANY_NOT.search(rest) is None
            and not rest.endswith(("とか", "って", "…"))
        ):
            yield match


#: What parts two clauses whose negations do not meet: conditions, contrasts, invitations.
_APART = re.compile(
    r"ない(?:と(?![はも限言思])|なら|うち|ので、|から、)|なければ|なきゃ|なくても|なくちゃ|なかったら|なくても?構|が、|けど|けれど|のに|し、|ませんか|ないでください|ないでね|っていうか|、(?=[^、]*って)"
)
_CLAUSE = re.compile(r"[^。！？\n]+")


def _crowded(text: str) -> Iterator[Negation]:
    """Clauses that hold two negations, wherever these stand."""
    for sentence in _CLAUSE.finditer(text):
        at = sentence.start()
        for clause in _APART.split(sentence[0]):
            start = text.find(clause, at)
            at = start + len(clause)
            if _TWO.search(clause) is None or _TAG.match(text, at):
                continue
            placed = [w for w in _located(clause) if w.lemma in _NOT and w.pos in _DENYING]
            stems = {clause[max(0, w.start - 2) : w.end] for w in placed}
            if len(placed) > 1 and len(stems) > 1:
                yield Negation(start, at, 2, False)


def _located(text: str) -> list[Token]:
    """The words with their places in the text itself; those that cannot be placed are left out."""
    placed, at = [], 0
    for word in tokens(text):
        where = text.find(word.surface, at)
        if where < 0 or where - at > 4:
            continue
        at = where + len(word.surface)
        placed.append(
            Token(word.surface, word.lemma, word.form, word.pos, word.detail, where, at, word.kind)
        )
    return placed


def _chains(words: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
    """(start, end, negations) of each predicate with two negations or more."""
    first = last = count = 0
    stem = 0
    open_ = False
    for at, word in enumerate(words):
        negative = word.lemma in _NOT and word.pos in _DENYING
        if negative:
            if not open_:
                stem = words[at - 1].start if at else word.start
                first, count = stem, 0
            open_, count, last = True, count + 1, word.end
        elif open_ and (word.lemma in _BETWEEN or word.surface in _BETWEEN):
            continue
        elif open_:
            if count > 1:
                yield first, last, count
            open_ = False
    if open_ and count > 1:
        yield first, last, count
